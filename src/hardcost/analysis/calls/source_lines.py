"""The lines of a function, each with its instructions, if lines were counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hardcost.model.call_tree import CallTree, FramePath
from hardcost.model.finding.calls import SourceLine, SourceListing
from hardcost.store.record import Record

Sides = tuple[Mapping[FramePath, float], Mapping[FramePath, float]]


def own_lines(tree: CallTree) -> list[FramePath]:
    """Return which line each frame is, by its number; an empty path: none."""
    return [(), *((str(frame.at),) if frame.at else () for frame in tree.frames)]


def calling_lines(tree: CallTree) -> list[FramePath]:
    """Return which line each frame is, or is called from by way of others; empty: none."""
    found: list[FramePath] = [()]
    for frame in tree.frames:
        found.append((str(frame.at),) if frame.at else found[frame.above])
    return found


def source_listing(records: Sequence[Record], counted: Sides, calling: Sides) -> SourceListing:
    """Return the lines of the function that was looked into.

    `counted` are their own instructions before and after, `calling` those with what they call.
    """
    looked_into = [
        frame
        for record in records
        if record.calls is not None
        for frame in record.calls.frames
        if frame.at
    ]
    texts = {place: text for record in records for place, text in record.source.items()}
    sides = (*counted, *calling)
    lines = [
        SourceLine(
            place.file,
            place.line or 0,
            texts.get(place, ""),
            *(side.get((str(place),), 0.0) for side in sides),
        )
        for place in {*texts, *(frame.at for frame in looked_into if frame.at)}
        if place in texts or any((str(place),) in side for side in sides)
    ]
    name = min((frame.name for frame in looked_into), key=len)
    return SourceListing(name, tuple(sorted(lines, key=lambda one: (one.file, one.number))))
