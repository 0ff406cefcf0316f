"""How hardcost handles a damaged cache and store.

Run as `python -m bench.robustness.damage --rounds 200 --seed 1`.

Rounds alternate between a cache of its own, which a study boots guests from, and a store of its
own, which every verb that reads one is asked about (`cache_damage.py`, `store_damage.py` say how
and what is right). Each damage must be healed, refused with a documented status, said, or without
effect on any number. Status 1 if one is not. apt's package index must be available, since damaged
packages are fetched again. `--cache` keeps the cache, and begins with what is in it.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from bench.robustness import cache_damage, store_damage
from bench.robustness.small_study import own_cache

PARTS = ("cache", "store")


def main() -> int:
    """Damage, run, compare; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cache", type=own_cache, help="a cache for nothing else; kept afterwards")
    parser.add_argument("--only", choices=PARTS, help="damage only this")
    given = parser.parse_args()
    chance = random.Random(given.seed)  # noqa: S311  (no secret)
    seen: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="hardcost-damage-", dir="/var/tmp") as name:
        folder = Path(name)
        parts = PARTS if given.only is None else (given.only,)
        rounds = {part: _rounds(part, folder / part, given.cache) for part in parts}
        ways = {"cache": sorted(cache_damage.WAYS), "store": sorted(store_damage.WAYS)}
        for number in range(given.rounds):
            part = parts[number % len(parts)]
            way = chance.choice(ways[part])
            started = time.monotonic()
            came, wrong = rounds[part].round(way, chance)
            seen[f"{part}: {came}"] += 1
            seconds = time.monotonic() - started
            print(f"{number + 1:3} {part}: {way}: {came}, {seconds:.1f} s {wrong}", flush=True)
    print("\n".join(f"{count:4} {what}" for what, count in sorted(seen.items())))
    return int(any(what.endswith("WRONG") for what in seen))


def _rounds(
    part: str, folder: Path, cache: Path | None
) -> cache_damage.CacheRounds | store_damage.StoreRounds:
    if part == "store":
        return store_damage.StoreRounds(folder)
    return cache_damage.CacheRounds(folder, cache or folder / "cache")


if __name__ == "__main__":
    sys.exit(main())
