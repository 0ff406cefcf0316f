"""Whether guests of two users who measure at once withstand forgers.

Run as `python -m bench.robustness.two_users --rounds 3`, as root.

Root and an ordinary user run the same bill at the same time, each with a cache and a store of its
own. Meanwhile `nobody`, a user without a name, and the ordinary user himself (on root's guests)
try whatever the kernel may let a process do to each guest and its files. Both bills have to be that
of an undisturbed run, to the digit, and nothing that was tried may have worked. Status 1 if
anything is otherwise.

The ordinary user has subordinate ids for his guests if the package uidmap is there and this root
may mount; else they run as he does. `--cache` is where kernels and guests are copied from.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import subprocess  # noqa: TID251  (what is run here is hardcost itself)
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.robustness.small_study import COMMAND
from hardcost.supply.cache.location import default_root
from tests.vm import forger

WORKLOAD = ("--workload", "syscalls calls=null+open")
PARTS = ("totals", "items", "rest", "interaction", "least")
ORDINARY, STRANGER = 2_090_000_001, 2_090_000_002  # users whom no system has
SUBORDINATES = range(2_091_000_000, 2_091_065_536)
LIMIT_SECONDS = 3000
_USED = ".used"  # ends the name of the lock of an entry that a run has used
_READS = "dac_read_search"  # lets the ordinary user find a Python in root's own folder
# setpriv itself still finds it with root's rights; what it starts has to find it, too.
_AGAIN = "import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', '']))"
# As it would be if an administrator had given the user subordinate ids.
_WITH_IDS = """
for name in passwd subuid subgid; do mount --bind "$0/$name" "/etc/$name" || exit 1; done
exec "$@"
"""


@dataclass(frozen=True)
class Person:
    """A user who measures: the folder with its cache and store, and what runs a program as it."""

    uid: int
    folder: Path
    under: tuple[str, ...] = ()

    @property
    def cache(self) -> Path:
        """Its cache."""
        return self.folder / "cache"

    @property
    def environment(self) -> Mapping[str, str]:
        """What its commands find."""
        return {
            **os.environ,
            "HARDCOST_CACHE": str(self.cache),
            "HARDCOST_STORE": str(self.folder / "runs.sqlite"),
            "HOME": str(self.folder),
            "TMPDIR": str(self.folder),
            "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
        }

    def start(self, *words: str, command: Sequence[str] = COMMAND) -> subprocess.Popen[str]:
        """Start hardcost, or another command, as this user."""
        return subprocess.Popen(  # noqa: S603  (the words are ours)
            [*self.under, *command, *words],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@dataclass(frozen=True)
class Told:
    """What a command printed as JSON; `error` says why it failed, "" where it did not."""

    data: Any
    error: str


def ended(process: subprocess.Popen[str]) -> Told:
    """Wait for a command."""
    try:
        out, err = process.communicate(timeout=LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
    return Told(json.loads(out), "") if process.returncode == 0 else Told(None, err or "it hangs")


def root(folder: Path, cache: Path) -> Person:
    """Return root, with the packages, kernels and guests of a cache, as far as it has them."""
    person = Person(0, _made(folder / "root", 0))
    unused = shutil.ignore_patterns("modules", "linux-source-*", ".*")
    for kind in ("packages", "kernels", "guests"):
        if (cache / kind).is_dir():
            to = person.cache / kind
            shutil.copytree(cache / kind, to, ignore=unused, copy_function=_link, symlinks=True)
    return person


def ordinary(folder: Path, like: Person) -> Person:
    """Return a user without rights, whose cache has all that another has used.

    He has subordinate ids where that can be.
    """
    own = _made(folder / "ordinary", ORDINARY)
    become = ["setpriv", f"--reuid={ORDINARY}", f"--regid={ORDINARY}", "--clear-groups"]
    if not _works([*become, "--", sys.executable, "-c", _AGAIN]):
        become += [f"--inh-caps=+{_READS}", f"--ambient-caps=+{_READS}"]
    person = Person(ORDINARY, own, (*become, "--"))
    if can_have_ids(folder):
        person = Person(ORDINARY, own, (*_with_ids(folder), *become, "--"))
    for lock in (like.cache / "locks").glob(f"*{_USED}"):
        kind, _, name = lock.name.removesuffix(_USED).partition("-")
        (person.cache / kind).mkdir(parents=True, exist_ok=True)
        words = ("cp", "-a", "--sparse=always", "--", str(like.cache / kind / name))
        subprocess.run([*words, str(person.cache / kind)], check=True)  # noqa: S603  (ours)
    for place in (person.cache, *person.cache.rglob("*")):
        os.chown(place, person.uid, person.uid, follow_symlinks=False)
    return person


def can_have_ids(folder: Path) -> bool:
    """Say whether an ordinary user can have subordinate ids here, for as long as a command runs."""
    has_programs = all(shutil.which(name) for name in ("newuidmap", "newgidmap"))
    return has_programs and _works([*_with_ids(folder), "true"])


def _with_ids(folder: Path) -> tuple[str, ...]:
    """Return the words that run a program where the ordinary user has subordinate ids."""
    known = Path("/etc/passwd").read_text(encoding="utf-8")
    (folder / "passwd").write_text(f"{known}ordinary:x:{ORDINARY}:{ORDINARY}::/:/bin/sh\n")
    for name in ("subuid", "subgid"):
        (folder / name).write_text(f"ordinary:{SUBORDINATES.start}:{len(SUBORDINATES)}\n")
    return ("unshare", "--mount", "--", "sh", "-c", _WITH_IDS, str(folder))


def _works(words: Sequence[str]) -> bool:
    done = subprocess.run(words, capture_output=True, check=False)  # noqa: S603  (ours)
    return done.returncode == 0


def _made(folder: Path, uid: int) -> Path:
    """Make a folder whose way in is open, as that of a home is."""
    folder.mkdir()
    folder.chmod(0o755)
    os.chown(folder, uid, uid)
    return folder


def _link(source: str, target: str) -> None:
    """Link a file where that is possible, and copy it where it is not."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


@dataclass(frozen=True)
class Disturbed:
    """What both printed, and what those who forged found, by whom they forged on."""

    told: tuple[Told, ...]
    forgers: Mapping[str, forger.Forger]

    @property
    def attacked(self) -> bool:
        """Whether each found guests."""
        return all(one.guests for one in self.forgers.values())

    @property
    def worked(self) -> dict[str, list[str] | None]:
        """What worked that should not have."""
        return {name: one.worked for name, one in self.forgers.items() if one.worked != []}


def at_once(people: Sequence[Person], words: Sequence[str]) -> Disturbed:
    """Have all run a command at the same time, while others forge."""
    forgers = {}
    with contextlib.ExitStack() as until:
        for person in people:
            others = [one.uid for one in people if one.uid not in {0, person.uid}]
            for user in (forger.NOBODY, STRANGER, *others):
                name = f"{user} on guests of {person.uid}"
                scratch = person.cache / "scratch"
                forgers[name] = until.enter_context(forger.forging(scratch, user))
        processes = [person.start(*words, "--format", "json") for person in people]
        told = tuple(ended(process) for process in processes)
    return Disturbed(told, forgers)


def main() -> int:
    """Measure undisturbed, then disturbed; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--profile", default="audit-samples", help="what is billed")
    parser.add_argument("--cache", type=Path, default=default_root())
    given = parser.parse_args()
    bill = ("bill", given.profile, *WORKLOAD)
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="hardcost-two-users-", dir="/var/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        first = root(folder, given.cache)
        whole = ended(first.start(*bill, "--format", "json"))
        if whole.error:
            print(whole.error)
            return 1
        people = (first, ordinary(folder, first))
        print(f"the ordinary user has ids of his own for guests: {can_have_ids(folder)}")
        for number in range(given.rounds):
            found = at_once(people, (*bill, "--fresh"))
            for person, told in zip(people, found.told, strict=True):
                same = not told.error and all(told.data[part] == whole.data[part] for part in PARTS)
                wrong += not same
                print(f"{number + 1}: {person.uid}: {'the same' if same else f'WRONG {told}'}")
            for who, one in found.forgers.items():
                print(f"{number + 1}: {who}: {one.guests} guests, worked: {one.worked}")
            wrong += bool(found.worked) + (not found.attacked)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
