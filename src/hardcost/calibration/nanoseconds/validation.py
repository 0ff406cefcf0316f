"""Rule sets that no constant is fitted from: the error of a prediction in nanoseconds.

They are of the kinds that people publish, in six sizes: rules on calls by users who logged in, on
calls that failed, on programs, files and directories, each for both architectures where it can be.
Whatever they name lies in a folder that hardcost makes.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from auditrules.auditctl.translate import translate
from auditrules.cost.constants import Constants
from auditrules.cost.measurement import Interval, PriceCheck
from auditrules.kernel import semantics
from auditrules.load.watched_paths import paths
from auditrules.model.kernel_rule import KernelRule
from auditrules.read import parse
from hardcost.calibration import check
from hardcost.calibration.nanoseconds.fit import interval_of_mean
from hardcost.calibration.nanoseconds.rounds import Needed, TimedLevel, TimedSetRequest
from hardcost.calibration.nanoseconds.rule_sets import NONE, TimedSet

OPERATIONS = ("null", "read", "stat", "fstat", "open", "access", "rename", "chmod")
"""The operations predicted and measured under each set."""

SIZES = (12, 25, 40, 70, 110, 170)
_PROCESSES = 2
_PLACE = "/srv/hardcost-heldout"
_LOGIN = "-F auid>=1000 -F auid!=unset"
_CALLS = (
    "fchmod", "fchown", "setxattr", "unlink", "mount", "init_module", "adjtimex", "sethostname",
    "ptrace", "mknod", "setuid", "delete_module", "settimeofday", "acct", "swapon", "truncate",
)  # fmt: skip
_FAILING = ("open", "openat", "creat", "truncate", "ftruncate")
_RECORDING = "-a always,exit -F arch=b64 -S chmod -F auid>=1000 -k modes"


@dataclass(frozen=True)
class HeldOut:
    """A set of rules as the kernel holds them."""

    name: str
    rules: tuple[KernelRule, ...]

    @property
    def asked(self) -> TimedSetRequest:
        """The request to measure it."""
        sources = [one.source for one in self.rules if one.source is not None]
        lines = tuple(map(check.line_of, self.rules))
        processes = dict.fromkeys(OPERATIONS, _PROCESSES)
        return TimedSetRequest(TimedSet(self.set_name, lines, processes), Needed(*paths(sources)))

    @property
    def set_name(self) -> str:
        """Its name among all that is measured."""
        return f"held out: {self.name}"


def held_out() -> tuple[HeldOut, ...]:
    """Return the six sets that come with hardcost."""
    return tuple(HeldOut(f"{size} rules", rules_of_lines(lines(size))) for size in SIZES)


def rules_of_lines(lines: Iterable[str]) -> tuple[KernelRule, ...]:
    """Return the rules of lines that are as they should be."""
    readings = parse.read_bytes("".join(f"{line}\n" for line in lines).encode(), "held out")
    return tuple(translate(one.rule) for one in readings if one.rule is not None)


def check_predictions(
    constants: Constants, sets: Iterable[HeldOut], rounds: Sequence[TimedLevel]
) -> tuple[PriceCheck, ...]:
    """Return predictions beside the rounds' measurements of the same sets."""
    return tuple(
        _check_prediction(constants, one, semantics.load(one.rules), operation, rounds)
        for one in sets
        for operation in OPERATIONS
    )


def lines(size: int) -> list[str]:
    """Return so many rules; the same number always gives the same ones."""
    kinds = (_by_call(), _files(), _programs(), _failing(), _trees())
    shares = itertools.cycle((0, 1, 2, 0, 1, 3, 0, 1, 2, 4))
    found = [_RECORDING]
    while len(found) < size:
        kind = next(shares)
        found.append(next(kinds[kind]))
    return found


def _by_call() -> Iterator[str]:
    for turn in itertools.count():
        for call, arch in itertools.product(_CALLS, ("b64", "b32")):
            who = _LOGIN if turn == 0 else f"-F auid={turn}"
            yield f"-a always,exit -F arch={arch} -S {call} {who} -k calls"


def _files() -> Iterator[str]:
    return (
        f"-a always,exit -F path={_PLACE}/files/{at} -F perm=wa -k files"
        for at in itertools.count()
    )


def _programs() -> Iterator[str]:
    return (
        f"-a always,exit -F path={_PLACE}/programs/{at} -F perm=x {_LOGIN} -k programs"
        for at in itertools.count()
    )


def _failing() -> Iterator[str]:
    for turn in itertools.count():
        for call, error, arch in itertools.product(_FAILING, (13, 1), ("b64", "b32")):
            who = _LOGIN if turn == 0 else f"-F auid={turn}"
            yield f"-a always,exit -F arch={arch} -S {call} -F exit=-{error} {who} -k failed"


def _trees() -> Iterator[str]:
    return (
        f"-a always,exit -F dir={_PLACE}/trees/{at} -F perm=wa -k trees" for at in itertools.count()
    )


def _check_prediction(
    constants: Constants,
    one: HeldOut,
    loaded: semantics.Loaded,
    operation: str,
    rounds: Sequence[TimedLevel],
) -> PriceCheck:
    costs = [level[one.set_name][operation] - level[NONE][operation] for level in rounds]
    low, high = interval_of_costs(costs)
    return PriceCheck(
        set=one.name,
        rules=len(one.rules),
        operation=operation,
        predicted=check.predict_typical(constants, loaded, operation),
        measured=statistics.fmean(costs),
        low=low,
        high=high,
    )


def interval_of_costs(costs: Sequence[float]) -> Interval:
    """Return the interval of a mean; of a single round it is not known."""
    return interval_of_mean(costs) if len(costs) > 1 else (float("-inf"), float("inf"))
