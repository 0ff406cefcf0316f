"""The lines of a function, each with what it executed: where they were counted one by one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hardcost.analysis.finding import Line, Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.instruments.windows import Profile
    from hardcost.store.record import Record

Path = tuple[str, ...]
Sides = tuple[Mapping[Path, float], Mapping[Path, float]]


def own(profile: Profile) -> list[Path]:
    """Return which line each frame is, by its number; an empty path: none."""
    return [(), *((frame.at,) if frame.at else () for frame in profile.frames)]


def callers(profile: Profile) -> list[Path]:
    """Return which line each frame is, or is called from by way of others; empty: none."""
    found: list[Path] = [()]
    for frame in profile.frames:
        found.append((frame.at,) if frame.at else found[frame.above])
    return found


def source(records: Sequence[Record], counted: Sides, calling: Sides) -> Source:
    """Return the lines of the function that was looked into.

    `counted` are their own instructions before and after, `calling` those with what they call.
    """
    texts = {place: text for record in records for place, text in record.source.items()}
    names = {
        frame.name
        for record in records
        if record.profile is not None
        for frame in record.profile.frames
        if frame.at
    }
    sides = (*counted, *calling)
    places = {path[0] for side in sides for path in side if _is_line(path)} | texts.keys()
    lines = [
        Line(
            *_place(place),
            texts.get(place, ""),
            *(side.get((place,), 0.0) for side in sides),
        )
        for place in places
    ]
    return Source(min(names, key=len), tuple(sorted(lines, key=lambda one: (one.file, one.number))))


def _is_line(path: Path) -> bool:
    return len(path) == 1 and _place(path[0])[1] >= 0


def _place(place: str) -> tuple[str, int]:
    """Return file and number of a line; -1 if it is none, such as the clock's share."""
    file, _, number = place.rpartition(":")
    return file, int(number) if number.isdecimal() else -1
