"""Roles: the purpose of a configuration, such as a bill's baseline.

Plans make roles, analysis joins trials by them. As text they are in the store, in JSON and in
reports: `str` makes that text, and `role_of` reads it. Numbers of controls count from 0, in the
order of the profile or of what a search may switch.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

from hardcost.model.document import AsText

PLACEBO = "placebo:"
"""The prefix of a placebo's role as text; no configuration of a study may have it."""


@dataclass(frozen=True)
class Baseline:
    """The state that the others are compared with."""

    def __str__(self) -> str:
        return "baseline"


@dataclass(frozen=True)
class Whole:
    """The whole profile; of a change, the later one."""

    def __str__(self) -> str:
        return "profile"


@dataclass(frozen=True)
class Base:
    """The earlier profile of a change."""

    def __str__(self) -> str:
        return "base"


@dataclass(frozen=True)
class AuditOff:
    """Without audit, for scale."""

    def __str__(self) -> str:
        return "audit-off"


@dataclass(frozen=True)
class Fired:
    """The profile with a key of its own for each rule, to count which rules fire."""

    def __str__(self) -> str:
        return "fired"


@dataclass(frozen=True)
class Original:
    """The profile in whose place an equivalent one is measured."""

    def __str__(self) -> str:
        return "original"


@dataclass(frozen=True)
class Idle:
    """The profile without the rules that make the kernel collect calls, with idle ones instead."""

    rules: int

    def __str__(self) -> str:
        return f"idle-rules:{self.rules}"


@dataclass(frozen=True)
class Without:
    """A profile without some of its controls; `of` is the earlier one of a change or the whole."""

    controls: tuple[int, ...]
    of: Whole | Base = Whole()

    def __str__(self) -> str:
        of = "" if self.of == Whole() else f"{self.of}-"
        return f"{of}without:{_runs(self.controls)}"


@dataclass(frozen=True)
class Alone:
    """One control with its dependencies, over the baseline."""

    control: int

    def __str__(self) -> str:
        return f"alone:{self.control}"


@dataclass(frozen=True)
class With:
    """Some of the controls, over the baseline."""

    controls: tuple[int, ...]

    def __str__(self) -> str:
        return f"with:{_runs(self.controls)}"


class AxisLevel(NamedTuple):
    """A level of an axis; `shown` is its part of a configuration's name, "" where left out.

    What older versions saved does not say what is shown.
    """

    axis: str
    level: str
    shown: str | None = None

    @property
    def text(self) -> str:
        """Return the level's part of a configuration's name."""
        return f"{self.axis}={self.level}" if self.shown is None else self.shown


@dataclass(frozen=True)
class Named:
    """A configuration of a study, called so there.

    `levels` are the axes that span it, in the study's order; a single configuration has none.
    """

    name: str
    levels: tuple[AxisLevel, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class PlaceboRole:
    """A change without effect, added to the configuration with the role `of`."""

    of: Role
    number: int

    def __str__(self) -> str:
        return f"{PLACEBO}{self.of}:{self.number}"


@dataclass(frozen=True)
class OfProfile:
    """A role in the bill of one of several profiles."""

    profile: str
    role: Role

    def __str__(self) -> str:
        return f"{self.profile}: {self.role}"


_NUMBERED = re.compile(r"(?P<kind>[a-z-]+):(?P<numbers>\d{1,9}(?:[+-]\d{1,9})*)", re.ASCII)
_OF_PLACEBO = re.compile(
    rf"{PLACEBO}(?P<of>(?!{PLACEBO}).+):(?P<number>\d{{1,9}})", re.DOTALL | re.ASCII
)
_MOST = 100_000  # numbers that one role has


def role_of(text: str) -> Role:
    """Return the role that `text` stands for.

    A name in a study is free: the one that looks like another role is read as that one, and what
    looks like none is a name. The role's text is `text` in any case.
    """
    found = _SINGLE.get(text)
    if placebo := _OF_PLACEBO.fullmatch(text):
        found = PlaceboRole(role_of(placebo["of"]), int(placebo["number"]))
    elif numbered := _NUMBERED.fullmatch(text):
        found = _role_with_numbers(numbered["kind"], _numbers(numbered["numbers"]))
    return found if found is not None and str(found) == text else Named(text)


Role = Annotated[
    Baseline
    | Whole
    | Base
    | AuditOff
    | Fired
    | Original
    | Idle
    | Without
    | Alone
    | With
    | Named
    | PlaceboRole
    | OfProfile,
    AsText(role_of),
]

_SINGLE: dict[str, Role] = {
    str(one): one for one in (Baseline(), Whole(), Base(), AuditOff(), Fired(), Original())
}


def placebo_pairs(roles: Collection[Role]) -> Iterator[tuple[PlaceboRole, Role]]:
    """Yield each placebo among `roles` with the role that it is compared with, if present."""
    for one in roles:
        if isinstance(one, PlaceboRole) and one.of in roles:
            yield one, one.of


def _role_with_numbers(kind: str, numbers: tuple[int, ...]) -> Role | None:
    found: dict[str, Role] = {
        "idle-rules": Idle(numbers[0]),
        "alone": Alone(numbers[0]),
        "without": Without(numbers),
        "base-without": Without(numbers, Base()),
        "with": With(numbers),
    }
    return found.get(kind)


def _runs(numbers: Sequence[int]) -> str:
    """Return ascending numbers with runs joined: 0, 1, 2, 5 become `0-2+5`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return "+".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def _numbers(text: str) -> tuple[int, ...]:
    """Return the numbers that `_runs` wrote; of other text, and of too many, the first one."""
    runs = [tuple(map(int, run.split("-"))) for run in text.split("+")]
    if sum(run[-1] - run[0] + 1 for run in runs) > _MOST:
        return runs[0][:1]
    return tuple(n for run in runs for n in range(run[0], run[-1] + 1)) or runs[0][:1]
