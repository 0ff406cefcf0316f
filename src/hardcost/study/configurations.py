"""The configurations of a study: those written out, and those that its axes span."""

from __future__ import annotations

import dataclasses
import difflib
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from hardcost.controls.configuration import Configuration
from hardcost.controls.control import Controls, combine_controls
from hardcost.mechanisms.audit import controls_of, rules_of
from hardcost.model.role import AxisLevel, Named
from hardcost.profiles.control_tables import Resolver
from hardcost.study.model import AxisTable, StudyFile
from hardcost.toml.read import meant

LARGEST_GRID = 10_000
"""Most configurations of a grid; more are taken for a mistake."""

LARGEST_REPEAT = 10_000
"""Most rules that one axis may generate; more are taken for a mistake."""

LARGEST_SUM = 1_000_000
"""Most rules and levels of axes over all configurations; more are taken for a mistake."""

_ON, _OFF = "on", "off"
_NAMELESS = "base"


@dataclass(frozen=True)
class _Level:
    """One level of an axis, with its controls."""

    level: AxisLevel
    controls: Controls


def configurations(
    written: StudyFile, resolver: Resolver
) -> tuple[tuple[Configuration, ...], tuple[str, ...]]:
    """Return a study's configurations in order, and notes; mistakes join `resolver`."""
    found: list[Configuration] = []
    notes: list[str] = []
    for index, table in enumerate(written.configuration):
        controls = resolver.controls(table, "configuration", index)
        notes.extend(controls.notes)
        found.append(Configuration(Named(table.name), controls.with_companions()))
    base = resolver.controls(written.base, "base")
    axes: list[list[_Level]] = []
    if message := _too_large(written.axis):
        resolver.problems.append(resolver.file.problem(message, "axis"))
    else:
        axes = [_levels(axis, resolver, index) for index, axis in enumerate(written.axis)]
    for index in [nth for nth, axis in enumerate(written.axis) if axis.successive][1:]:
        message = "only one axis can be successive"
        resolver.problems.append(resolver.file.problem(message, "axis", index, "successive"))
    names: set[str] = set()
    for index, axis in enumerate(written.axis):
        if axis.name in names:
            message = f"two axes are called '{axis.name}'"
            resolver.problems.append(resolver.file.problem(message, "axis", index, "name"))
        names.add(axis.name)
    # product varies its last factor fastest, but the first axis should vary fastest.
    points = itertools.product(*reversed(axes)) if axes else ()
    found.extend(_point(base, point[::-1]) for point in points)
    for part in (base, *(level.controls for axis in axes for level in axis)):
        notes.extend(part.notes)
    return tuple(found), tuple(dict.fromkeys(notes))


def _too_large(axes: Sequence[AxisTable]) -> str | None:
    """Return why the axes span too much to measure; None if they don't."""
    sizes = [2 if axis.switch else len(axis.levels or axis.values) for axis in axes]
    points = math.prod(max(size, 1) for size in sizes)
    if points > LARGEST_GRID:
        return f"the axes span more than {LARGEST_GRID} configurations"
    amounts = 0
    for axis, size in zip(axes, sizes, strict=True):
        own = size * size // 2 if axis.cumulative else 0
        if axis.audit is not None and axis.audit.repeat is not None:
            own += sum(value for value in axis.values if isinstance(value, int) and value > 0)
        amounts += own * points // max(size, 1)
    if amounts > LARGEST_SUM:
        return f"the axes generate more than {LARGEST_SUM} rules over all configurations"
    return None


def _point(base: Controls, levels: Sequence[_Level]) -> Configuration:
    """Return the configuration at one point of the grid."""
    names = tuple(one.level for one in levels)
    name = " ".join(one.text for one in names if one.text) or _NAMELESS
    controls = combine_controls([base, *(one.controls for one in levels)])
    return Configuration(Named(name, names), controls.with_companions())


def _levels(axis: AxisTable, resolver: Resolver, index: int) -> list[_Level]:
    """Return the levels of an axis in order."""
    at = ("axis", index)
    _check(axis, resolver, *at)
    if axis.switch:
        on = _Level(AxisLevel(axis.name, _ON, axis.name), _controls(axis, None, resolver, *at))
        return [_Level(AxisLevel(axis.name, _OFF, ""), Controls()), on]
    if axis.levels:
        found = [_named_level(axis, level, resolver, *at) for level in axis.levels]
    else:
        found = [_plain_level(axis, value, resolver, *at) for value in axis.values]
    return _accumulate_levels(found) if axis.cumulative else found


def _named_level(axis: AxisTable, level: str, resolver: Resolver, *at: str | int) -> _Level:
    """Return a level with a table of its own, added to what the axis has at every level."""
    own = resolver.controls(axis.levels[level], *at, "levels", level)
    controls = combine_controls([_controls(axis, level, resolver, *at), own])
    return _Level(_level(axis, level), controls)


def _plain_level(axis: AxisTable, value: int | str, resolver: Resolver, *at: str | int) -> _Level:
    """Return a level that is only a value."""
    controls = _controls(axis, value, resolver, *at)
    return _Level(_level(axis, value), controls)


def _accumulate_levels(levels: Sequence[_Level]) -> list[_Level]:
    """Return the levels, each with the controls of those before it."""
    sums = itertools.accumulate(
        (level.controls for level in levels), lambda before, own: combine_controls([before, own])
    )
    return [
        dataclasses.replace(level, controls=controls)
        for level, controls in zip(levels, sums, strict=True)
    ]


def _level(axis: AxisTable, level: int | str) -> AxisLevel:
    """Return a level, of which a configuration's name shows nothing where it is the default."""
    at_default = axis.default is not None and str(axis.default) == str(level)
    return AxisLevel(axis.name, str(level), "" if at_default else f"{axis.name}={level}")


def _controls(
    axis: AxisTable, value: int | str | None, resolver: Resolver, *at: str | int
) -> Controls:
    """Return the controls of an axis at one of its levels."""

    def fill_value(text: int | str) -> str:
        return str(text) if value is None else str(text).replace("{value}", str(value))

    filling: dict[str, object] = {
        "boot": tuple(map(fill_value, axis.boot)),
        "sysctl": {key: fill_value(text) for key, text in axis.sysctl.items()},
        "kconfig": tuple(map(fill_value, axis.kconfig)),
        "kernel": None if axis.kernel is None else fill_value(axis.kernel),
    }
    if axis.audit is not None:
        rules = tuple(map(fill_value, axis.audit.rules))
        filling["audit"] = axis.audit.model_copy(update={"rules": rules})
    table = axis.model_copy(update=filling)
    controls = resolver.controls(table, *at)
    if axis.audit is None or axis.audit.repeat is None:
        return controls
    if not isinstance(value, int) or value > LARGEST_REPEAT:
        return controls  # `_check` has reported it
    line = (*at, "audit", "repeat")
    numbers = range(axis.audit.start, axis.audit.start + value)
    lines = ((axis.audit.repeat.replace("{n}", str(n)), line) for n in numbers)
    made = rules_of(lines, resolver)
    return combine_controls([controls, Controls(controls_of(made))])


def _check(axis: AxisTable, resolver: Resolver, *at: str | int) -> None:
    """Check the keys of an axis against each other."""
    kinds = [axis.switch, bool(axis.values), bool(axis.levels)]
    levels = [*map(str, axis.values), *axis.levels]
    repeat = axis.audit.repeat if axis.audit else None
    numbers = [value for value in axis.values if isinstance(value, int)]
    wrong: list[tuple[bool, str, tuple[str | int, ...]]] = [
        (
            sum(kinds) != 1,
            f"the axis {axis.name} needs one of values, levels, and switch = true",
            (),
        ),
        (len(set(levels)) < len(levels), f"{axis.name} lists a value twice", ("values",)),
        (
            any(not level or " " in level for level in levels),
            f"a level of {axis.name} is not one word",
            ("values" if axis.values else "levels",),
        ),
        (
            axis.default is not None and str(axis.default) not in levels,
            f"the default of {axis.name} is not one of its levels",
            ("default",),
        ),
        (
            repeat is not None and "{n}" not in repeat,
            "the rule to repeat has no {n}, so all copies would be the same",
            ("audit", "repeat"),
        ),
        (
            repeat is not None and len(numbers) < len(levels) + axis.switch,
            f"a rule can be repeated only if the levels of {axis.name} are numbers",
            ("audit", "repeat"),
        ),
        (
            repeat is not None and any(not 0 <= n <= LARGEST_REPEAT for n in numbers),
            f"a rule can be repeated from 0 to {LARGEST_REPEAT} times",
            ("values",),
        ),
    ]
    resolver.problems.extend(
        resolver.file.problem(message, *at, *path) for is_so, message, path in wrong if is_so
    )


def configuration_meant(word: str, known: Sequence[str]) -> str:
    """Return a hint for a name that no configuration has.

    In a grid a name has a level of each axis, and letters alone would suggest another level: the
    name that was meant is the one with most of these levels.
    """
    levels = frozenset(word.split())
    shared = [len(levels & frozenset(name.split(" "))) for name in known]
    most = max(shared, default=0)
    if not most:
        return meant(word, known, "configurations")
    closest = [name for name, same in zip(known, shared, strict=True) if same == most]
    if most == len(levels) and len(closest) > 1:
        return f"a name has a level of each axis, such as '{closest[0]}'"
    (best,) = difflib.get_close_matches(word, closest, 1, cutoff=0)
    return f"did you mean '{best}'?"
