"""Two kernels beside each other: the same calls under the same rules, record by record.

Nothing is asked of the semantics here: what one kernel did, the other has to have done.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from auditrules.kernel.event import Event
from conformance.battery import Battery, SetResult, WantedRules
from conformance.calls import Call


@dataclass(frozen=True)
class KernelDifference:
    """What the two did otherwise: a call's record and its key, or what they made of the rules."""

    what: str
    first: object
    second: object
    rules: str = ""

    def __str__(self) -> str:
        """Return all of it, for a reader."""
        shown = "".join(f"\n  {at:4} {line}" for at, line in enumerate(self.rules.splitlines(), 1))
        under = f"\n  under the rules{shown}" if shown else ""
        return f"{self.what}: {self.first!r} here, {self.second!r} there{under}"


@dataclass(frozen=True)
class Beside:
    """The result: how many `cases`, of which `recorded`, or `unsteady` and left out."""

    counts: Counter[str]
    differences: tuple[KernelDifference, ...]

    def __add__(self, other: Beside) -> Beside:
        """Return both together."""
        return Beside(self.counts + other.counts, self.differences + other.differences)


def beside(
    first: Battery, second: Battery, sets: Sequence[WantedRules], calls: Sequence[Call]
) -> Beside:
    """Compare what two kernels recorded of the same calls, and what they made of the rules."""
    counts: Counter[str] = Counter()
    found = [*_of_files(first, second), *_of_events(first, second, calls)]
    counts["events"] += len(calls)
    for wanted, one, other in zip(sets, first.sets, second.sets, strict=True):
        counts["sets"] += 1
        found += _of_rules(one, other, wanted.rules)
        unsteady = one.unsteady | other.unsteady
        counts["unsteady"] += len(unsteady.intersection(one.made))
        for index in one.made:
            if index in unsteady:
                continue
            keys = one.recorded.get(index), other.recorded.get(index)
            counts["cases"] += 1
            counts["recorded"] += keys[0] is not None
            if keys[0] != keys[1]:
                found.append(KernelDifference(str(calls[index]), *keys, wanted.rules))
    return Beside(counts, tuple(found))


def _of_files(first: Battery, second: Battery) -> Iterator[KernelDifference]:
    """Yield watched files that are not the same ones: their inode's number decides."""
    for path in sorted({*first.files, *second.files}):
        files = first.files.get(path), second.files.get(path)
        if files[0] != files[1]:
            yield KernelDifference(path, *files)


def _of_events(
    first: Battery, second: Battery, calls: Sequence[Call]
) -> Iterator[KernelDifference]:
    """Yield calls of which the two recorded other facts where everything is recorded."""
    for call, one, other in zip(calls, first.events, second.events, strict=True):
        first_told, second_told = _told(one, call), _told(other, call)
        if first_told != second_told:
            yield KernelDifference(str(call), first_told, second_told)


def _told(event: Event, call: Call) -> Event:
    """Return an event without what differs from boot to boot: the number of a child."""
    return replace(event, pid=0) if call.child else event


def _of_rules(one: SetResult, other: SetResult, rules: str) -> Iterator[KernelDifference]:
    """Yield what differs of the rules themselves: refused, loaded, listed."""
    for what in ("made", "refused", "loaded", "listing"):
        pair = getattr(one, what), getattr(other, what)
        if pair[0] != pair[1]:
            yield KernelDifference(what, *pair, rules)
