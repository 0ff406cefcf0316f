"""The beginning of a report as a value: sentences, the most expensive items, the free ones."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Ranked:
    """One of the most expensive: its name, its cost in words, and its `part` (0 to 1) of the first.

    `number` is that of a bill's control, 0 for anything else; `place` is its location.
    """

    name: str
    cost: str
    part: float
    number: int = 0
    place: str = ""


@dataclass(frozen=True)
class Statement:
    """The sentences that a report begins with, and the names that belong on its first screen.

    `others` says what is not among the most expensive. `free` holds (number, name) of everything
    whose cost is not distinguishable from 0.
    """

    sentences: tuple[str, ...]
    dearest_title: str = ""
    dearest: tuple[Ranked, ...] = ()
    free_title: str = ""
    free: tuple[tuple[int, str], ...] = ()
    others: str = ""
