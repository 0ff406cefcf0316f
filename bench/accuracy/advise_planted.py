"""How good `advise` is on drawn problems with planted costs and interactions: `--draws N`.

Run by hand: `python -m bench.accuracy.advise_planted`. A planted sum of costs is in place of the
machine (tests/analysis/planted.py); one to three metrics have a budget. The search is compared with
the greedy proposals of `hardcost bill --budget`, with leaving out the dearest one after another,
each measured, and with the best of all choices where these can be counted out.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass

from tests.analysis.planted import brute_force, draw, greedy, in_order

_COUNTED = 12
"""Most controls of which all choices are tried."""

_HEAD = ("controls", "draws", "= best", "> greedy", "> in order", "worse", "measured", "most", "s")
_FORM = "{:>9}{:>7}{:>8}{:>10}{:>12}{:>7}{:>10}{:>6}{:>7}"
_SAME = 1e-9


@dataclass(frozen=True)
class Drawn:
    """One problem's outcome: the values kept; `best` is None if it is not known."""

    value: float
    greedy: float
    in_order: float
    best: float | None
    proposals: int
    seconds: float


def main() -> None:
    """Print a line for each number of controls; the exit status is 1 if any search did worse."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=50, help="problems of each size")
    parser.add_argument("--controls", type=int, nargs="*", default=[6, 9, 12, 25])
    chosen = parser.parse_args()
    print(_FORM.format(*_HEAD))
    worse = 0
    for controls in chosen.controls:
        found = [one(seed, controls) for seed in range(chosen.draws)]
        worse += sum(map(did_worse, found))
        print(_FORM.format(controls, chosen.draws, *summary(found)), flush=True)
    sys.exit(1 if worse else 0)


def one(seed: int, controls: int) -> Drawn:
    """Search one problem."""
    planted = draw(seed, controls)
    begin = time.process_time()
    outcome = planted.searched()
    spent = time.process_time() - begin
    if outcome.best is None or not planted.problem.within(planted.point(outcome.best.kept).costs):
        raise AssertionError(f"seed {seed}: what was proposed is over the budget")
    return Drawn(
        value=planted.problem.value(outcome.best.kept),
        greedy=greedy(planted),
        in_order=in_order(planted),
        best=brute_force(planted) if controls <= _COUNTED else None,
        proposals=outcome.proposals,
        seconds=spent,
    )


def did_worse(one: Drawn) -> bool:
    """Say whether another way keeps more."""
    return one.value < max(one.greedy, one.in_order) - _SAME


def summary(found: list[Drawn]) -> tuple[str, ...]:
    """Return a line's cells: shares of the draws, and what was measured besides the bill."""
    known = [one for one in found if one.best is not None]
    equal = sum(one.value >= (one.best or 0.0) - _SAME for one in known)
    return (
        str(equal) if known else "-",
        str(sum(one.value > one.greedy + _SAME for one in found)),
        str(sum(one.value > one.in_order + _SAME for one in found)),
        str(sum(map(did_worse, found))),
        f"{sum(one.proposals for one in found) / len(found):.1f}",
        str(max(one.proposals for one in found)),
        f"{sum(one.seconds for one in found) / len(found):.2f}",
    )


if __name__ == "__main__":
    main()
