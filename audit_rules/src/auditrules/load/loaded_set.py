"""A set of audit rules as it was read and as one machine loads it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from auditrules.load.load import AddedLine, Fate, LoadedLines, load_lines
from auditrules.load.target import RuleTarget
from auditrules.model.kernel_lists import accepted_rules
from auditrules.model.kernel_rule import KernelRule
from auditrules.model.rule import Reading
from auditrules.tables.lookup import Auditctl


@dataclass(frozen=True)
class LoadedSet:
    """Rules as they were written, and the fate of each line."""

    parts: tuple[tuple[Reading, ...], ...]
    found: LoadedLines
    target: RuleTarget

    def load_by(self, auditctl: Auditctl) -> LoadedSet:
        """Return the same lines as another auditctl loads them."""
        target = replace(self.target, auditctl=auditctl)
        return LoadedSet(self.parts, load_lines(self.parts, target.target), target)

    @cached_property
    def readings(self) -> tuple[Reading, ...]:
        """All lines, in the order in which they load."""
        return tuple(reading for part in self.parts for reading in part)

    @property
    def loaded(self) -> tuple[KernelRule, ...]:
        """The rules that stay loaded; a watch may be of unknown kind."""
        return self.found.rules

    @cached_property
    def likely(self) -> Callable[[str], bool]:
        """Says whether a watched path is a directory, guessing by name if need be."""
        return self.target.likely([one.rule for one in self.readings if one.rule is not None])

    @cached_property
    def guessed(self) -> tuple[KernelRule, ...]:
        """The rules that stay loaded, with the kind of each unknown watch guessed from its name.

        A rule that is then the same as an earlier one is left out.
        """
        likely = [
            rule.with_kind(directory=rule.watch is not None and self.likely(rule.watch))
            for rule in self.loaded
        ]
        return tuple(likely[index] for index in accepted_rules(likely))

    @cached_property
    def unknown(self) -> tuple[str, ...]:
        """The watched paths that may or may not be directories, sorted."""
        return tuple(sorted({rule.watch for rule in self.loaded if rule.watch is not None}))

    @property
    def left_out(self) -> tuple[AddedLine, ...]:
        """The lines that are left out because they can't be loaded, except repeated rules."""
        return tuple(one for one in self.found.failing if one.fault is not None)

    def left_out_assumptions(self, of: str = "") -> list[str]:
        """Return the assumptions that left-out lines add to an answer; `of` names the set."""
        said: list[str] = []
        refused = [one for one in self.left_out if one.fate is not Fate.ELSEWHERE]
        for lines, why in (
            (refused, "since auditctl refuses them"),
            (self.found.of(Fate.TWICE), "since auditctl refuses them as repeated"),
            (self.found.of(Fate.ELSEWHERE), "since they are for another architecture"),
        ):
            if lines:
                places = [str(one.reading.place) for one in lines]
                said.append(f"{of}{shorten_list(places)}: left out, {why}")
        stops = self.found.stops_at
        if stops is not None:
            said.append(f"{of}auditctl continues after {stops.reading.place}, where it stops today")
        return said


def shorten_list(names: Sequence[str], most: int = 20) -> str:
    """Return names, shortened if there are many."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
