"""Parts that the results about audit rules share when shown: parts of JSON, and notes.

A field with a default is left out where there is nothing to say.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import BaseModel, ConfigDict

from auditrules.load.loaded_set import LoadedSet, shorten_list
from auditrules.model.kernel_rule import KernelRule
from auditrules.model.location import Location

ARCHITECTURE = "for x86-64; other architectures not checked"
"""Which architecture every answer about rules is for."""

Amount = int | float
"""A number as it was computed: a whole one stays whole."""


class RulesDocument(BaseModel):
    """A JSON document, or a part of it."""

    model_config = ConfigDict(frozen=True, populate_by_name=True, serialize_by_alias=True)


# Parts --------------------------------------------------------------------------------------------


class CheckedArchitectures(RulesDocument):
    """For which architectures an answer holds."""

    checked: tuple[str, ...]
    others: Literal["not checked"]


ARCHITECTURES = CheckedArchitectures(checked=("x86-64",), others="not checked")
"""Those for which every answer about rules holds."""


class LineAt(RulesDocument):
    """A line of a file."""

    file: str
    line: int

    @classmethod
    def of(cls, place: Location) -> LineAt:
        """Return where a location is."""
        return cls(file=place.file, line=place.line)


class LeftOutLine(RulesDocument):
    """A line that is left out because it can't be loaded, and why."""

    file: str
    line: int
    message: str


class RuleAt(RulesDocument):
    """A rule as it was written, and where; null where that is not known."""

    file: str | None
    line: int | None
    rule: str | None

    @classmethod
    def of(cls, rule: KernelRule | None) -> RuleAt:
        """Return how a rule was written, and where."""
        source = None if rule is None else rule.source
        place = source.place if source else None
        return cls(
            file=place.file if place else None,
            line=place.line if place else None,
            rule=source.text if source else None,
        )


def left_out_lines(rules: LoadedSet) -> tuple[LeftOutLine, ...]:
    """Return the lines that are left out because they can't be loaded."""
    faults = [one.fault for one in rules.left_out if one.fault is not None]
    return tuple(
        LeftOutLine(file=one.place.file, line=one.place.line, message=one.message) for one in faults
    )


def guesses(rules: LoadedSet) -> Iterator[str]:
    """Yield the assumed kind of each unknown watched path."""
    trees = [path for path in rules.unknown if rules.likely(path)]
    others = [path for path in rules.unknown if not rules.likely(path)]
    for paths, what in ((trees, "directories"), (others, "files")):
        if paths:
            yield f"assumed to be {what}, judging by name: {shorten_list(paths)}"
    if rules.unknown:
        yield "auditctl asks the file system what -w watches; use --root or --paths to provide it"
