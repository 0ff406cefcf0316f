"""Mixed rules: watches, calls with fields of many kinds, repetitions, and masks that overlap.

Run as `python -m bench.speed.mixed_rules 3000 [--seed 1]`.

Where `published_kind` resembles what people publish, these rules meet, cover and repeat each other
more often. The same number and seed always give the same lines.
"""

from __future__ import annotations

import argparse
import sys
from random import Random

_CALLS = (
    "open", "openat", "creat", "truncate", "ftruncate", "unlink", "unlinkat", "rename", "renameat",
    "rmdir", "mkdir", "chmod", "fchmod", "fchmodat", "chown", "fchown", "fchownat", "lchown",
    "setxattr", "lsetxattr", "fsetxattr", "removexattr", "mount", "umount2", "ptrace", "kill",
    "init_module", "delete_module", "settimeofday", "adjtimex", "sethostname", "execve", "connect",
    "bind", "socket", "mknod", "link", "symlink",
)  # fmt: skip
_ARCHES = ("b64", "b32")
_USERS = ("-F auid>=1000 -F auid!=unset", "-F auid>=1000", "-F auid=0", "-F uid=0", "-F uid!=0")
_SHARES = {
    "watch": 10, "tree": 3, "program": 8, "calls": 6, "fields": 5, "failed": 3, "never": 1,
    "repeated": 2, "overlapping": 4,
}  # fmt: skip
"""How often each kind is drawn, relative to the sum of these."""


def main() -> int:
    """Print a set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, help="number of rules")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    print("\n".join(mixed_rules(arguments.count, arguments.seed)))
    return 0


def mixed_rules(count: int, seed: int) -> list[str]:
    """Return that many different rules, one on each line."""
    draw = Random(seed)  # noqa: S311  (the same rules each time)
    found: dict[str, None] = {}
    while len(found) < count:
        (kind,) = draw.choices(tuple(_SHARES), tuple(_SHARES.values()))
        key = f"-k key{draw.randrange(1 + count // 20)}"
        lines = _lines_on_files(kind, draw, count, key) or _lines_on_calls(kind, draw, count, key)
        if kind == "repeated" and found:
            lines = [f"{draw.choice(list(found)).partition(' -k ')[0]} -k again"]
        found.update(dict.fromkeys(lines))
    return list(found)[:count]


def _lines_on_files(kind: str, draw: Random, count: int, key: str) -> list[str]:
    """Return the lines of a kind that is about files, else none."""
    number = draw.randrange(count)
    match kind:
        case "watch":
            folder = draw.choice(("", "", "/"))
            return [f"-w /etc/file{number}{folder} -p {draw.choice(('wa', 'x', 'rwa'))} {key}"]
        case "tree":
            place = f"-F dir=/srv/tree{number} -F perm=wa"
            return [f"-a always,exit -F arch={arch} {place} {key}" for arch in _ARCHES]
        case "program":
            user = draw.choice(_USERS)
            return [f"-a always,exit -F path=/usr/bin/tool{number} -F perm=x {user} {key}"]
        case _:
            return []


def _lines_on_calls(kind: str, draw: Random, count: int, key: str) -> list[str]:
    """Return the lines of a kind that is about calls, else none."""
    arch, user = draw.choice(_ARCHES), draw.choice(_USERS)
    named = draw.sample(_CALLS, draw.randrange(1, 5))
    calls = f"-S {','.join(named)}"
    match kind:
        case "calls":
            return [f"-a always,exit -F arch={one} {calls} {user} {key}" for one in _ARCHES]
        case "fields":
            return [f"-a always,exit -F arch={arch} {calls} -F {_field(draw, count)} {user} {key}"]
        case "failed":
            head = f"-a always,exit -F arch={arch} {calls}"
            return [f"{head} -F exit=-{error} {user} {key}" for error in ("EACCES", "EPERM")]
        case "never":
            quiet = f"-F exe=/usr/bin/quiet{draw.randrange(count)}"
            return [f"-a never,exit -F arch=b64 {calls} {quiet}"]
        case "overlapping":
            narrow = f"-a always,exit -F arch={arch} -S {named[0]} -F auid>=1000 -F uid!=0 {key}"
            least = draw.choice((500, 1000))
            return [f"-a always,exit -F arch={arch} {calls} -F auid>={least} {key}", narrow]
        case _:
            return []


def _field(draw: Random, count: int) -> str:
    """Return a condition on a field that is not about the login."""
    return draw.choice((
        f"a0={draw.randrange(8)}",
        f"a1&{1 << draw.randrange(6)}",
        f"uid={draw.randrange(2000)}",
        f"gid!={draw.randrange(50)}",
        f"exe=/opt/bin/tool{draw.randrange(count)}",
        f"pers={draw.randrange(9)}",
        f"subj_type=type{draw.randrange(40)}_t",
    ))  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
