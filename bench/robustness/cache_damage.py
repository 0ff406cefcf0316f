"""Rounds of damage to a cache for `damage.py`, and the rules that judge what hardcost does.

A round damages one file of a random entry, or replaces one, an entry or a lock by a link, pipe or
device, and runs a study again. Each run must print the same numbers, whether it healed the cache or
did not use the damaged file, or refuse with status 3 and a remedy; and nothing outside the cache
may change.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess  # noqa: TID251  (only its exception)
import time
from collections.abc import Callable
from pathlib import Path

from bench.robustness.small_study import RUN, Tool, numbers
from hardcost.supply.cache import folders

LIMIT_SECONDS = 600
KINDS = ("packages", "kernels", "guests", "snapshots", "boots")
REFUSED = 3
PRECIOUS = "precious"


class Ran:
    """A run of the study: its status, its numbers, its messages."""

    def __init__(self, status: int, out: str, err: str, seconds: float) -> None:
        """Keep the part of the output that is numbers."""
        self.status, self.err, self.seconds = status, err, seconds
        self.numbers = numbers(out)


class CacheRounds:
    """A warm cache, used for nothing else, and the numbers of a study with it."""

    def __init__(self, folder: Path, cache: Path) -> None:
        """Fill the cache by running the study; `folder` is for its store and the like."""
        self._cache, self._outside = cache, folder / "outside"
        self._outside.mkdir(parents=True)
        self._tool = Tool(folder, cache, LIMIT_SECONDS)
        self._whole = self._study()
        print(f"undamaged: {self._whole.seconds:.1f} s, status {self._whole.status}")

    def round(self, way: str, chance: random.Random) -> tuple[str, str]:
        """Damage the cache in one way; return the outcome, and what is wrong with it."""
        aim = self._outside / "aim"
        aim.write_text(PRECIOUS)
        path = self._chosen(chance)
        strange = WAYS[way](path, chance, aim, self._cache)
        try:
            after = self._study()
        except subprocess.TimeoutExpired:
            return "WRONG", f"{path}: it hangs"
        came = outcome(self._whole, after)
        there = [one.name for one in self._outside.iterdir()]
        if there != ["aim"] or aim.read_text() != PRECIOUS:
            came = "WRONG"
        if strange is not None:
            # As the remedy says; also where this round did not meet it, but a later one would.
            folders.delete(strange)
        return came, f"{path}: {after.err}" if came == "WRONG" else ""

    def _chosen(self, chance: random.Random) -> Path:
        """Return a file of a random entry."""
        kinds = [one for kind in KINDS if (one := _filled(self._cache / kind))]
        place, files = chance.choice(chance.choice(kinds))
        # A package has thousands of files, of which few are used; half of the damage targets those.
        used = [one for one in files if one.parent == place or one.parent.name == "boot"]
        return chance.choice(used if used and chance.random() < 1 / 2 else files)

    def _study(self) -> Ran:
        """Run the study, measuring everything again."""
        started = time.monotonic()
        status, out, err = self._tool.whole(*RUN)
        return Ran(status, out, err, time.monotonic() - started)


def _filled(folder: Path) -> list[tuple[Path, list[Path]]]:
    """Return entries with their files; an earlier round may have taken an entry's only one."""
    found = []
    for place in sorted(folder.glob("[!.]*")):
        files = sorted(one for one in place.rglob("*") if one.is_file() and not one.is_symlink())
        found += [(place, files)] * bool(files)
    return found


def outcome(whole: Ran, after: Ran) -> str:
    """Return the outcome of a damage."""
    if "Traceback" in after.err or after.status not in {0, REFUSED}:
        return "WRONG"
    if after.status == REFUSED:
        return "refused" if "hint:" in after.err else "WRONG"
    if after.numbers != whole.numbers:
        return "WRONG"
    return "healed" if "cache: " in after.err else "no part"


def _flip(path: Path, chance: random.Random) -> None:
    """Change a byte where the file has data."""
    size = path.stat().st_size
    with path.open("r+b") as file:
        place = chance.randrange(max(size, 1))
        try:
            place = min(max(os.lseek(file.fileno(), place, os.SEEK_DATA), place), size - 1)
        except OSError:
            place = 0
        file.seek(max(place, 0))
        byte = file.read(1) or b"\0"
        file.seek(max(place, 0))
        file.write(bytes([byte[0] ^ 1 << chance.randrange(8)]))


def _cut(path: Path, chance: random.Random) -> None:
    os.truncate(path, chance.randrange(max(path.stat().st_size, 1)))


def _grow(path: Path, _chance: random.Random) -> None:
    os.truncate(path, path.stat().st_size + 4096)


def _remove(path: Path, _chance: random.Random) -> None:
    path.unlink()


def _add(path: Path, chance: random.Random) -> None:
    shutil.copy(path, path.with_name(f"{chance.choice('0az')}{path.name}"))


def _swap(path: Path, chance: random.Random) -> None:
    others = [one for one in path.parent.iterdir() if one.is_file() and one != path]
    if not others:
        _flip(path, chance)
        return
    other, between = chance.choice(sorted(others)), path.with_name("between")
    path.rename(between)
    other.rename(path)
    between.rename(other)


def _strange(path: Path, chance: random.Random, aim: Path) -> None:
    """Replace a file or folder by a link, a pipe or a device."""
    folders.delete(path)
    kind = chance.choice(["link", "pipe", "device"])
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(aim if kind == "link" else "/dev/zero")


def _file(path: Path, chance: random.Random, aim: Path, _cache: Path) -> None:
    _strange(path, chance, aim)


def _entry(path: Path, chance: random.Random, aim: Path, cache: Path) -> None:
    """Replace a whole entry, or its manifest or title."""
    place = cache / "/".join(path.relative_to(cache).parts[:2])
    _strange(chance.choice([place, place / "manifest", place / "title"]), chance, aim)


def _lock(path: Path, chance: random.Random, aim: Path, cache: Path) -> Path:
    kind, name = path.relative_to(cache).parts[:2]
    lock = cache / "locks" / f"{kind}-{name}{chance.choice(['', '.used'])}"
    _strange(lock, chance, aim)
    return lock


def _top(_path: Path, chance: random.Random, aim: Path, cache: Path) -> Path:
    """Replace what lies in the cache's own folder and costs little to make again."""
    place = cache / chance.choice(["took.jsonl", "scratch", "logs", "listings"])
    _strange(place, chance, aim)
    return place


def _on(damage: Callable[[Path, random.Random], None]) -> _Way:
    """Return a way of a damage to a file alone."""

    def way(path: Path, chance: random.Random, _aim: Path, _cache: Path) -> None:
        damage(path, chance)

    return way


_Way = Callable[[Path, random.Random, Path, Path], Path | None]
"""Returns what has to be removed by its user, if that is refused."""

WAYS: dict[str, _Way] = {
    "byte flipped": _on(_flip),
    "file cut": _on(_cut),
    "file grown": _on(_grow),
    "file removed": _on(_remove),
    "file added": _on(_add),
    "files swapped": _on(_swap),
    "link, pipe or device for a file": _file,
    "link, pipe or device for an entry": _entry,
    "link, pipe or device for a lock": _lock,
    "link, pipe or device beside the entries": _top,
}
