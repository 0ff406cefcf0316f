"""The numeric axis of a run, such as the number of rules, and the lines that its points form."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hardcost.model.role import AxisLevel, Role

_WHOLE = re.compile(r"-?[0-9]{1,15}", re.ASCII)
_FEWEST = 3
"""Points that a line needs to show more than a difference."""


@dataclass(frozen=True)
class Axis:
    """An axis whose levels are numbers.

    `lines` maps a line's name, such as `rules=N catch-all`, to its points: (configuration, level),
    sorted by level.
    """

    name: str
    lines: Mapping[str, tuple[tuple[Role, float], ...]]

    def line_of(self, configuration: Role) -> str:
        """Return the name of the line of a configuration, "" if it is on none."""
        for line, points in self.lines.items():
            if any(name == configuration for name, _ in points):
                return line
        return ""


def numeric_axis(levels: Mapping[Role, tuple[AxisLevel, ...]]) -> Axis | None:
    """Return the first axis with at least three numeric levels among `levels`, if there is one.

    `levels` maps a configuration to its axes. Configurations that differ only in this axis
    form a line; those without it form none.
    """
    for name in dict.fromkeys(one.axis for own in levels.values() for one in own):
        values = {_number(level_of(own, name)) for own in levels.values()} - {None}
        if len(values) >= _FEWEST:
            return Axis(name, _lines(levels, name))
    return None


def _lines(
    levels: Mapping[Role, tuple[AxisLevel, ...]], axis: str
) -> dict[str, tuple[tuple[Role, float], ...]]:
    points: dict[tuple[AxisLevel, ...], list[tuple[Role, float]]] = {}
    for configuration, own in levels.items():
        value = _number(level_of(own, axis))
        if value is not None:
            pattern = tuple(AxisLevel(axis, "N") if one.axis == axis else one for one in own)
            points.setdefault(pattern, []).append((configuration, value))
    return {
        name_of_levels(pattern): tuple(sorted(found, key=lambda point: point[1]))
        for pattern, found in points.items()
    }


def level_of(levels: Sequence[AxisLevel], axis: str) -> str | None:
    """Return the level of an axis; None where it is none of those that span the configuration."""
    return next((one.level for one in levels if one.axis == axis), None)


def name_of_levels(levels: Sequence[AxisLevel]) -> str:
    """Return the part of a configuration's name that levels make; "" of those at their defaults."""
    return " ".join(one.text for one in levels if one.text)


def _number(level: str | None) -> float | None:
    """Return a level as a number; versions such as 6.12, which look like fractions, are none."""
    return float(level) if level is not None and _WHOLE.fullmatch(level) else None
