"""A function's source with counts beside each line, as lines of text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hardcost.model.finding.calls import Calls, Hotspots, SourceLine, SourceListing
from hardcost.model.finding.study import StudyFinding
from hardcost.show.sentences.hotspots import digits_of, function_name
from hardcost.show.text import number, signed_number
from hardcost.units import visible

_HEADS = ("own", "before", "after", "total", "line")
_NO_LINE = "(of no line)"


@dataclass(frozen=True)
class Listing:
    """A function's source with counts, and what it is of."""

    title: str
    lines: tuple[str, ...]


def listings(finding: StudyFinding | Calls) -> Iterator[Listing]:
    """Yield the listing of each metric for which lines were counted."""
    for one in finding.hotspots:
        if one.source is not None:
            yield listing_of(one, one.source)


def listing_of(one: Hotspots, source: SourceListing) -> Listing:
    """Return a function's source with what its lines execute for one operation of a metric."""
    metric = f"{visible(one.metric)}, {visible(one.unit)}"
    title = f"{function_name(source.function)}, {metric}, line by line"
    return Listing(title, tuple(_listing(one, source)))


def _listing(one: Hotspots, source: SourceListing) -> Iterator[str]:
    """Yield a function's lines: differences and both sides, then number and text.

    What the lines execute themselves adds up to what the function does.
    """
    digits = digits_of(one)
    rows = [_row(line, digits) for line in source.lines]
    before = math.fsum(line.own_before for line in source.lines)
    after = math.fsum(line.own_after for line in source.lines)
    sums = (
        signed_number(after - before, digits),
        number(before, digits),
        number(after, digits),
        "",
        "",
    )
    widths = [
        max(map(len, column))
        for column in zip(_HEADS, sums, *(row[:-1] for row in rows), strict=True)
    ]
    yield f"{_join_cells(_HEADS, widths)}  source"
    file, last = "", 0
    for line, row in zip(source.lines, rows, strict=True):
        if line.file != file:
            yield f"{visible(line.file)}:"
        elif line.number > last + 1:
            yield f"{_join_cells(('', '', '', '', '…'), widths)}"
        file, last = line.file, line.number
        yield f"{_join_cells(row[:-1], widths)}  {row[-1]}".rstrip()
    yield f"{_join_cells(sums, widths)}  in all"


def _row(line: SourceLine, digits: int) -> tuple[str, ...]:
    own = line.own_after - line.own_before
    total = line.total_after - line.total_before
    counted = line.own_before or line.own_after or line.total_before or line.total_after
    sides = (
        (number(line.own_before, digits), number(line.own_after, digits)) if counted else ("", "")
    )
    return (
        signed_number(own, digits) if own else "",
        *sides,
        signed_number(total, digits) if total else "",
        str(line.number) if line.number else "",
        visible(line.text) if line.number else _NO_LINE,
    )


def _join_cells(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
