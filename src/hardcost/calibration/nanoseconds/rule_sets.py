"""The rule sets that constants in nanoseconds are fitted from: the experiments, as time needs them.

One condition takes some 10 ns, and a call's time moves by as much from process to process. So a
rule that fails is loaded many times over, each copy with a last condition of its own that is never
reached, and is compared with as many rules that do not name the call: the difference is the copies'
own, since a list of that length costs what it costs. What a list of each length costs is measured
apart (`LENGTHS`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from auditrules.cost import events
from hardcost.calibration.experiments import DIRECTORY, FILES, NEVER_NAMED, Experiment, experiments

COPIES = 16
"""Rules of a kind that are loaded together: few enough for the first cache of any processor."""

LENGTHS = (8, 32, 48, 64, 80, 96, 128, 160, 200)
"""Lengths of the list for which the walk is measured, beside 1 and `COPIES`."""

NONE, ONE, STEADY = "none", "unnamed", "steady"
"""Sets that others are compared with: no rules, one that names no call, `COPIES` of these."""

NOT_MEASURED = frozenset({
    "before", "unnamed 2", "ppid 2", "path", "marked", "execve", "perm execve",
})  # fmt: skip
"""Experiments whose outcome follows from others', or is too small to be seen in time."""

_COPIED = re.compile(
    r"(field|pair|number|user|(own )?group|each|perm [rwao]|uid holds|gid holds|.* !=)"
)
_PROCESSES = 2  # in which an operation is measured in each trial
_OF_NULL = 4  # the same of getppid, on which most is measured, and which takes the least time
_THOROUGH = 2  # times as many where all constants depend on the set
_WATCHING = re.compile(rf"path={FILES[0][:-2]}(\d\d)")


@dataclass(frozen=True)
class TimedSet:
    """Rules, and in how many processes each operation is measured under them.

    `copied`: they are so many copies of one rule.
    """

    name: str
    rules: tuple[str, ...]
    processes: Mapping[str, int]
    copied: bool = False

    @property
    def watched(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the directories and files that have to exist because its rules name them."""
        text = " ".join(self.rules)
        return tuple(filter(text.__contains__, (DIRECTORY,))), tuple(
            filter(text.__contains__, FILES[:1])
        )


def timed_sets() -> Iterator[TimedSet]:
    """Return all sets, each with a name of its own."""
    everything = tuple(events.operations())
    compared = dict.fromkeys(("null", "rename", "open", "chmod"), _THOROUGH)
    steady = tuple(copies(f"{NEVER_NAMED} -F uid=7", COPIES))
    yield TimedSet(STEADY, steady, compared | {"null": _THOROUGH * _OF_NULL})
    for length in LENGTHS:
        rules = tuple(copies(f"{NEVER_NAMED} -F uid=7", length))
        yield TimedSet(length_name(length), rules, {"null": _OF_NULL})
    for one in experiments():
        if one.name in {NONE, ONE}:
            processes = dict.fromkeys(everything, _THOROUGH) | {"null": _THOROUGH * _OF_NULL}
            yield TimedSet(one.name, one.rules, processes)
        elif one.name not in NOT_MEASURED:
            yield _timed_set(one)


def length_name(length: int) -> str:
    """Return the name of the set with a list of that length."""
    return f"length {length}"


def copies(rule: str, number: int) -> Iterator[str]:
    """Yield a rule that fails so many times: the kernel takes none twice."""
    return (f"{rule} -F a3={700_001 + at}" for at in range(number))


def _timed_set(one: Experiment) -> TimedSet:
    processes = {name: _OF_NULL if name == "null" else _PROCESSES for name in one.operations}
    if len(one.rules) == 1 and _COPIED.match(one.name):
        return TimedSet(one.name, tuple(copies(one.rules[0], COPIES)), processes, copied=True)
    # Whose files lie in which bucket is not known here; numbers of inodes are in all of them.
    rules = tuple(_WATCHING.sub(_by_inode, rule) for rule in one.rules)
    return TimedSet(one.name, rules, processes)


def _by_inode(found: re.Match[str]) -> str:
    return f"inode={32000 + int(found[1])}"
