"""The numeric axis of a run, such as the number of rules, and the lines that its points form."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    lines: Mapping[str, tuple[tuple[str, float], ...]]

    def line_of(self, configuration: str) -> str:
        """Return the name of the line of a configuration, "" if it is on none."""
        for line, points in self.lines.items():
            if any(name == configuration for name, _ in points):
                return line
        return ""


def numeric_axis(levels: Mapping[str, tuple[tuple[str, str], ...]]) -> Axis | None:
    """Return the first axis with at least three numeric levels among `levels`, if there is one.

    `levels` maps a configuration's name to its axes. Configurations that differ only in this axis
    form a line; those without it form none.
    """
    names = dict.fromkeys(name for own in levels.values() for name, _ in own)
    for name in names:
        values = {_number(dict(own).get(name, "")) for own in levels.values()} - {None}
        if len(values) >= _FEWEST:
            return Axis(name, _lines(levels, name))
    return None


def _lines(
    levels: Mapping[str, tuple[tuple[str, str], ...]], axis: str
) -> dict[str, tuple[tuple[str, float], ...]]:
    points: dict[tuple[tuple[str, str], ...], list[tuple[str, float]]] = {}
    for configuration, own in levels.items():
        value = _number(dict(own).get(axis, ""))
        if value is not None:
            others = tuple(level for level in own if level[0] != axis)
            points.setdefault(others, []).append((configuration, value))
    lines: dict[str, tuple[tuple[str, float], ...]] = {}
    for others, found in points.items():
        name = _pattern(axis, [configuration for configuration, _ in found])
        if name in lines:
            name = " ".join(f"{key}={level}" for key, level in others)
        lines[name] = tuple(sorted(found, key=lambda point: point[1]))
    return lines


def _pattern(axis: str, configurations: list[str]) -> str:
    """Return the common part of the names, with N for the axis's level."""
    start = f"{axis}="
    for configuration in configurations:
        words = configuration.split(" ")
        if any(word.startswith(start) for word in words):
            return " ".join(f"{start}N" if word.startswith(start) else word for word in words)
    return f"{start}N"


def _number(level: str) -> float | None:
    """Return a level as a number; versions such as 6.12, which look like fractions, are none."""
    return float(level) if _WHOLE.fullmatch(level) else None
