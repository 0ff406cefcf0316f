"""A rule set of the kinds that people publish, of any size.

Run as `python -m bench.rules.published_kind 500`.

The rules are generated and copied from nowhere. The same number of rules always gives the same set,
and a larger set contains the smaller one's kinds in the same proportions. Programs, files and keys
have plausible names; nothing checks whether they exist.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterator

_TOOLS = (
    "whoami", "id", "hostname", "uname", "curl", "wget", "nc", "ncat", "socat", "ssh", "scp",
    "rsync", "nmap", "tcpdump", "base64", "xxd", "dig", "host", "ip", "ss", "gdb", "strace",
    "perl", "python3", "gcc", "make", "at", "crontab", "systemctl", "journalctl",
)  # fmt: skip
_KEYS = (
    "recon", "susp_activity", "remote_shell", "data_out", "sbin_susp", "T1078_accounts",
    "T1059_shells", "T1105_transfer", "T1046_scan", "T1053_timers",
)  # fmt: skip
_FILES = (
    "passwd", "shadow", "group", "gshadow", "sudoers", "hosts", "fstab", "sysctl.conf",
    "ld.so.conf", "issue", "login.defs", "securetty", "nsswitch.conf", "crontab", "resolv.conf",
)  # fmt: skip
_DIRECTORIES = ("ssh", "pam.d", "cron.d", "sudoers.d", "audit", "selinux", "modprobe.d", "security")
_SETUID = ("su", "sudo", "passwd", "chsh", "chfn", "newgrp", "gpasswd", "mount", "umount", "chage")
_TREES = ("/etc", "/boot", "/opt", "/srv", "/root", "/usr/lib", "/usr/local", "/var/lib", "/home")
_LOGIN = "-F auid>=1000 -F auid!=unset"

_BY_CALL = (
    ("chmod", "perm_mod"), ("fchmod", "perm_mod"), ("fchmodat", "perm_mod"), ("chown", "perm_mod"),
    ("fchown", "perm_mod"), ("fchownat", "perm_mod"), ("lchown", "perm_mod"),
    ("setxattr", "perm_mod"), ("lsetxattr", "perm_mod"), ("fsetxattr", "perm_mod"),
    ("removexattr", "perm_mod"), ("lremovexattr", "perm_mod"), ("fremovexattr", "perm_mod"),
    ("unlink", "delete"), ("unlinkat", "delete"), ("rename", "delete"), ("renameat", "delete"),
    ("rmdir", "delete"), ("mount", "export"), ("ptrace", "tracing"),
    ("open_by_handle_at", "access"),
)  # fmt: skip
"""Calls with a rule of their own for users who logged in, and the rule's key."""

_BY_GROUP = (
    ("adjtimex,settimeofday", "time-change"), ("clock_settime -F a0=0", "time-change"),
    ("init_module,finit_module", "modules"), ("delete_module", "modules"),
    ("sethostname,setdomainname", "system-locale"), ("acct", "accounting"),
    ("mknod,mknodat", "special_files"), ("swapon,swapoff", "swap"),
    ("setuid -F a0=0 -F exe=/usr/bin/su", "elevated"), ("ptrace -F a0=4", "code_injection"),
    ("ptrace -F a0=5", "data_injection"), ("ptrace -F a0=6", "register_injection"),
)  # fmt: skip
"""Calls that are recorded for every user."""

_OPENING = ("open", "openat", "creat", "truncate", "ftruncate", "open_by_handle_at")
_SHARES = {
    "programs": 10, "files": 6, "setuid": 6, "calls": 6, "groups": 3, "opening": 4, "trees": 3,
    "failed": 1, "quiet": 1,
}  # fmt: skip
"""The number of rules of each kind, relative to the sum of these."""


def main() -> int:
    """Print a set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, help="number of rules")
    print(text(parser.parse_args().count), end="")
    return 0


def text(count: int) -> str:
    """Return a file with that many rules."""
    return "\n".join(["-D", "-b 8192", "-f 1", *lines(count), ""])


def lines(count: int) -> list[str]:
    """Return that many rules, one on each line, in the order of a file that has grown."""
    makers = {
        "programs": _programs(), "files": _files(), "setuid": _setuid(), "calls": _calls(),
        "groups": _groups(), "opening": _opening(), "trees": _trees(), "failed": _failed(),
        "quiet": _quiet(),
    }  # fmt: skip
    turns = itertools.cycle([kind for kind, share in _SHARES.items() for _ in range(share)])
    found: dict[str, list[str]] = {kind: [] for kind in makers}
    left = count
    while left:
        kind = next(turns)
        line = next(makers[kind], None) or next(makers["programs"])
        found[kind].append(line)
        left -= 1
    order = (
        "quiet",
        "groups",
        "files",
        "calls",
        "opening",
        "setuid",
        "programs",
        "trees",
        "failed",
    )
    return [line for kind in order for line in found[kind]]


def _numbered(names: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Yield the names, then the same with suffix 2, and so on, each with the round's number."""
    for turn in itertools.count(1):
        for name in names:
            yield turn, name if turn == 1 else f"{name}{turn}"


def _programs() -> Iterator[str]:
    folders = itertools.cycle(("/usr/bin", "/usr/bin", "/usr/sbin"))
    for at, (_, name) in enumerate(_numbered(_TOOLS)):
        yield f"-w {next(folders)}/{name} -p x -k {_KEYS[at // 3 % len(_KEYS)]}"


def _files() -> Iterator[str]:
    directories = _numbered(_DIRECTORIES)
    for at, (turn, name) in enumerate(_numbered(_FILES)):
        key = ("identity", "etc_changes", "T1548_sudo")[at % 3]
        yield f"-w /etc/{name} -p wa -k {key}"
        if at % 2:
            _, directory = next(directories)
            yield f"-w /etc/{directory}{'/' if turn % 2 else ''} -p wa -k config_{at % 5}"


def _setuid() -> Iterator[str]:
    for at, (_, name) in enumerate(_numbered(_SETUID)):
        folder = ("/usr/bin", "/usr/sbin", "/usr/libexec")[at % 3]
        key = "privileged" if at % 4 else f"privileged-{name}"
        yield f"-a always,exit -F path={folder}/{name} -F perm=x {_LOGIN} -k {key}"


def _calls() -> Iterator[str]:
    for (call, key), arch in itertools.product(_BY_CALL, ("b64", "b32")):
        yield f"-a always,exit -F arch={arch} -S {call} {_LOGIN} -k {key}"
    for (call, key), arch in itertools.product(_BY_CALL, ("b64", "b32")):
        yield f"-a always,exit -F arch={arch} -S {call} -F auid=0 -k {key}_root"


def _groups() -> Iterator[str]:
    for (calls, key), arch in itertools.product(_BY_GROUP, ("b64", "b32")):
        yield f"-a always,exit -F arch={arch} -S {calls} -k {key}"


def _opening() -> Iterator[str]:
    for call, error, arch in itertools.product(_OPENING, ("EACCES", "EPERM"), ("b64", "b32")):
        yield f"-a always,exit -F arch={arch} -S {call} -F exit=-{error} {_LOGIN} -k access"


def _trees() -> Iterator[str]:
    for turn in itertools.count():
        for tree, arch in itertools.product(_TREES, ("b64", "b32")):
            place = f"{tree}/part{turn}" if turn else tree
            yield f"-a always,exit -F arch={arch} -F dir={place} -F perm=wa -k tree{turn % 4}"


def _failed() -> Iterator[str]:
    for turn in itertools.count():
        for tree, arch in itertools.product(_TREES, ("b64", "b32")):
            place = f"{tree}/secret{turn}"
            named = f"-F arch={arch} -S open -F dir={place}"
            yield f"-a always,exit {named} -F success=0 -k unauthedfile"


def _quiet() -> Iterator[str]:
    for kind in ("CWD", "CRYPTO_KEY_USER", "EOE"):
        yield f"-a always,exclude -F msgtype={kind}"
    for at, name in enumerate(("crond_t", "chronyd_t", "ntpd_t", "httpd_t")):
        call = ("adjtimex", "clock_settime", "settimeofday", "unlink")[at]
        yield f"-a never,exit -F arch=b64 -S {call} -F subj_type={name}"
    for _, name in _numbered(("vmtoolsd", "filebeat", "backup-agent", "monitor")):
        yield f"-a never,exit -F arch=b64 -S connect,openat -F exe=/usr/bin/{name}"


if __name__ == "__main__":
    sys.exit(main())
