"""Constants in nanoseconds, with intervals, out of rounds of timed sets.

The differences are those of instructions (`fit.py`): what was measured in copies is turned into
what one rule of its kind would have shown. Every round gives constants of its own, and intervals
come from these.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

from auditrules.cost.constants import NANOSECONDS, Constants
from auditrules.cost.measurement import Interval
from hardcost.analysis.estimates.bootstrap import FEWEST_BLOCKS, interval
from hardcost.analysis.estimates.estimates import CONFIDENCE, mean
from hardcost.calibration.fit import fit
from hardcost.calibration.nanoseconds.rounds import TimedLevel
from hardcost.calibration.nanoseconds.rule_sets import (
    COPIES,
    LENGTHS,
    NONE,
    ONE,
    STEADY,
    length_name,
    timed_sets,
)

TABLES = ("walk", "field", "each", "operator", "permission", "base", "idle", "record")
_REPLACEABLE = ("base", "idle", "record")
"""Tables that a call may be missing from: a prediction then takes an estimate, and says so."""

_WIDEST = 0.5
"""Half of an interval, as a part of the value, from which on an estimate says more."""


@dataclasses.dataclass(frozen=True)
class Fitted:
    """Constants, and the interval of each by table and name; of the crowding, by length."""

    constants: Constants
    intervals: Mapping[str, Mapping[str, Interval]]


def fit_rounds(rounds: Sequence[TimedLevel], about: Mapping[str, str]) -> Fitted:
    """Return the constants that rounds of all `timed_sets` give, in nanoseconds."""
    each = [_of_round(level, about) for level in rounds]
    intervals = {name: _intervals([getattr(one, name) for one in each]) for name in TABLES}
    lengths = [{str(key): value for key, value in one.crowding.items()} for one in each]
    intervals["crowding"] = _intervals(lengths)
    whole = _of_round(_mean(rounds), about)
    base, idle, record = (
        _above_noise(getattr(whole, name), intervals[name]) for name in _REPLACEABLE
    )
    return Fitted(dataclasses.replace(whole, base=base, idle=idle, record=record), intervals)


def interval_of_mean(values: Sequence[float]) -> Interval:
    """Return the interval of a mean over rounds, or of a few by Student's t."""
    if len(values) < FEWEST_BLOCKS:
        found = mean(values, CONFIDENCE)
        return found.low, found.high
    _, low, high = interval(values, CONFIDENCE)
    return low, high


def _of_round(level: TimedLevel, about: Mapping[str, str]) -> Constants:
    single = _as_single(level)
    made = fit(single, {**about, "unit": NANOSECONDS}, level[NONE])
    # What distinguishes these calls is one comparison more, and can't be seen in time.
    permission = dict(made.permission)
    permission |= dict.fromkeys(("execve", "execveat", "socketcall"), permission["openat"])
    step = made.walk["unnamed"]
    crowding = {COPIES: 0.0} | {
        length: level[length_name(length)]["null"] - level[ONE]["null"] - (length - 1) * step
        for length in LENGTHS
        if length > COPIES
    }
    return dataclasses.replace(made, permission=permission, crowding=crowding)


def _as_single(level: TimedLevel) -> dict[str, dict[str, float]]:
    """Return the result of each experiment if its rule were loaded once."""
    one, steady = level[ONE], level[STEADY]
    step = (steady["null"] - one["null"]) / (COPIES - 1)
    found = {name: dict(row) for name, row in level.items()}
    for copied in (each for each in timed_sets() if each.copied):
        found[copied.name] = {
            name: one[name] + (value - steady[name]) / COPIES
            for name, value in level[copied.name].items()
        }
    parent = found["field ppid=77777"]["null"]
    found["unnamed 2"] = {"null": one["null"] + step}
    found["ppid 2"] = {"null": 2 * parent - one["null"] + step}
    found["path"] = found["inode"]
    found["marked"] = found["execve"] = found["perm execve"] = dict(one)
    return found


def _mean(rounds: Sequence[TimedLevel]) -> TimedLevel:
    first = rounds[0]
    return {
        name: {
            operation: math.fsum(one[name][operation] for one in rounds) / len(rounds)
            for operation in row
        }
        for name, row in first.items()
    }


def _intervals(each: Sequence[Mapping[str, float]]) -> dict[str, Interval]:
    return {name: interval_of_mean([one[name] for one in each]) for name in each[0]}


def _above_noise(table: Mapping[str, float], spans: Mapping[str, Interval]) -> dict[str, float]:
    """Return the constants that are more than their noise."""
    return {
        name: value
        for name, value in table.items()
        if value > 0 and spans[name][1] - spans[name][0] <= 2 * _WIDEST * value
    }
