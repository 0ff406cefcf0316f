"""How hardcost handles a damaged cache: `python bench/cache_damage.py --rounds 100 --seed 1`.

Creates its own cache by running a study. Each round then damages one file of a random entry (a byte
flipped, the file cut, grown, removed, another added, two swapped) and runs the study again. Each
run must print the same numbers, whether it healed the cache or did not use the damaged file, or
refuse with status 3 and a remedy. Status 1 if a run does anything else. apt's package index must be
available, since damaged packages are fetched again. `--cache` keeps the cache.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

# A script finds its own folder alone, and not the one that this is in.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.small_study import RUN, Tool, numbers, own_cache

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LIMIT_SECONDS = 600
KINDS = ("packages", "kernels", "guests", "snapshots")
REFUSED = 3


def main() -> int:
    """Damage, run, compare; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cache", type=own_cache, help="a cache for nothing else; kept afterwards")
    parser.add_argument("--only", choices=sorted(WAYS), help="damage only in this way")
    given = parser.parse_args()
    chance = random.Random(given.seed)  # noqa: S311  (no secret)
    with tempfile.TemporaryDirectory(prefix="hardcost-damage-") as name:
        folder = Path(name)
        cache = given.cache or folder / "cache"
        tool = Tool(folder, cache, LIMIT_SECONDS)
        whole = study(tool)
        print(f"undamaged: {whole.seconds:.1f} s, status {whole.status}")
        seen: Counter[str] = Counter()
        for number in range(given.rounds):
            kind, what = damage(cache, chance, [given.only] if given.only else sorted(WAYS))
            after = study(tool)
            came = outcome(whole, after)
            seen[f"{kind}: {came}"] += 1
            print(f"{number + 1:3} {what}: {came}, {after.seconds:.1f} s", flush=True)
            if came == "WRONG":
                print(after.err)
        print("\n".join(f"{count:4} {what}" for what, count in sorted(seen.items())))
        return int(any(what.endswith("WRONG") for what in seen))


class Ran:
    """A run of the study: its status, its numbers, its messages."""

    def __init__(self, status: int, out: str, err: str, seconds: float) -> None:
        """Keep the part of the output that is numbers."""
        self.status, self.err, self.seconds = status, err, seconds
        self.numbers = numbers(out)


def study(tool: Tool) -> Ran:
    """Run the study, measuring everything again."""
    started = time.monotonic()
    status, out, err = tool.whole(*RUN)
    return Ran(status, out, err, time.monotonic() - started)


def outcome(whole: Ran, after: Ran) -> str:
    """Return the outcome of a damage."""
    if "Traceback" in after.err or after.status not in {0, REFUSED}:
        return "WRONG"
    if after.status == REFUSED:
        return "refused" if "hint:" in after.err else "WRONG"
    if after.numbers != whole.numbers:
        return "WRONG"
    return "healed" if "cache: " in after.err else "no part in the run"


def damage(cache: Path, chance: random.Random, ways: Sequence[str]) -> tuple[str, str]:
    """Damage a file of a random entry in one of `ways`; return the entry's kind and the damage."""
    kind = chance.choice([one for one in KINDS if any((cache / one).glob("[!.]*"))])
    place = chance.choice(sorted((cache / kind).glob("[!.]*")))
    files = sorted(path for path in place.rglob("*") if path.is_file() and not path.is_symlink())
    # A package has thousands of files, of which few are used; half of the damage targets those.
    used = [path for path in files if path.parent == place or path.parent.name == "boot"]
    path = chance.choice(used if used and chance.random() < 1 / 2 else files)
    way = chance.choice(ways)
    WAYS[way](path, chance)
    return kind, f"{way}: {path.relative_to(cache)}"


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


WAYS: dict[str, Callable[[Path, random.Random], None]] = {
    "byte flipped": _flip,
    "file cut": _cut,
    "file grown": _grow,
    "file removed": _remove,
    "file added": _add,
    "files swapped": _swap,
}


if __name__ == "__main__":
    sys.exit(main())
