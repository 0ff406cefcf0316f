"""Two runs side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hardcost.model.document import Document, Number
from hardcost.model.finding.cell import Cell
from hardcost.model.finding.head import Head


@dataclass(frozen=True, kw_only=True)
class Before:
    """A cell's value in the earlier run, with its interval."""

    value: Number
    low: Number
    high: Number
    trials: int


@dataclass(frozen=True, kw_only=True)
class ComparedCell(Cell):
    """A cell of the later run: its `baseline` is the earlier run, where it was `before`.

    `difference` and `ratio` compare the two values; `ratio_low` and `ratio_high` are the widest
    that both intervals allow.
    """

    before: Before

    @property
    def equal(self) -> bool:
        """Whether values and intervals are identical."""
        before = self.before
        return (self.value, self.low, self.high) == (before.value, before.low, before.high)

    @property
    def may_be_equal(self) -> bool:
        """Whether the two differ by no more than chance."""
        return not self.equal and abs(self.difference) <= self.least


@dataclass(frozen=True, kw_only=True)
class Comparison(Head, Document):
    """A run with an earlier one, which it is `compared_to`, as its baseline.

    `cells` are in the order of the earlier run. `only_before` and `only_after` are cells that one
    run lacks. `warnings` say why the numbers may not be comparable; there are none if they are.
    """

    kind: Literal["comparison"] = "comparison"
    cells: tuple[ComparedCell, ...]
    notes: tuple[str, ...]
    compared_to: Head
    only_before: tuple[Cell, ...]
    only_after: tuple[Cell, ...]
    warnings: tuple[str, ...]

    @property
    def kernels(self) -> tuple[str, str] | None:
        """The kernels of both runs, if both are known and differ: then they are compared."""
        one, other = (of.environment.get("kernel") for of in (self.compared_to, self))
        return None if one is None or other is None or one == other else (one, other)
