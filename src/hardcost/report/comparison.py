"""Two runs joined cell by cell, and the reasons why they may not be comparable."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hardcost.report.text import visible

if TYPE_CHECKING:
    from hardcost.analysis.finding import Cell, Finding

_IDENTITY = {"qemu": "QEMU", "cpu_model": "CPU model"}
"""The parts of an environment that determine counts, with their names in sentences."""

_UNKNOWN = "not recorded"


@dataclass(frozen=True)
class Pair:
    """The same configuration, workload and metric in run `a`, the earlier, and run `b`."""

    a: Cell
    b: Cell

    @property
    def difference(self) -> float:
        """Return b's value minus a's, in their unit."""
        return self.b.value - self.a.value

    @property
    def ratio(self) -> float:
        """Return b's value as a multiple of a's."""
        return _over(self.b.value, self.a.value)

    @property
    def ratio_low(self) -> float:
        """Return the smallest ratio that both intervals and chance allow."""
        return min(_over(self.b.low, self.a.high), self.ratio - _over(self.least, self.a.value))

    @property
    def ratio_high(self) -> float:
        """Return the largest ratio that both intervals and chance allow."""
        return max(_over(self.b.high, self.a.low), self.ratio + _over(self.least, self.a.value))

    @property
    def least(self) -> float:
        """Return the size up to which the difference can't be distinguished from chance."""
        return 0.0 if self.equal else max(self.a.least, self.b.least)

    @property
    def may_be_equal(self) -> bool:
        """Say whether the two differ by no more than chance."""
        return not self.equal and abs(self.difference) <= self.least

    @property
    def equal(self) -> bool:
        """Return whether values and intervals are identical."""
        return (self.a.value, self.a.low, self.a.high) == (self.b.value, self.b.low, self.b.high)


@dataclass(frozen=True)
class Comparison:
    """All pairs, the cells of one run only, and why the numbers may not be comparable.

    `kernels` are those of both runs where they differ: then they are what is compared.
    """

    pairs: tuple[Pair, ...]
    only_a: tuple[Cell, ...]
    only_b: tuple[Cell, ...]
    warnings: tuple[str, ...]
    kernels: tuple[str, str] | None = None

    @property
    def on_one_kernel(self) -> tuple[str, ...]:
        """The warnings where both runs were to have the same kernel."""
        if self.kernels is None:
            return self.warnings
        return (*self.warnings, _differs("kernel", *self.kernels))


def compared(a: Finding, b: Finding) -> Comparison:
    """Join two runs by configuration, workload, metric and unit, in the order of run `a`."""
    of_a, of_b = {_key(cell): cell for cell in a.cells}, {_key(cell): cell for cell in b.cells}
    return Comparison(
        pairs=tuple(Pair(cell, of_b[key]) for key, cell in of_a.items() if key in of_b),
        only_a=tuple(cell for key, cell in of_a.items() if key not in of_b),
        only_b=tuple(cell for key, cell in of_b.items() if key not in of_a),
        warnings=tuple(_warnings(a, b)),
        kernels=_kernels(a, b),
    )


def _key(cell: Cell) -> tuple[str, str, str, str]:
    return cell.configuration, cell.workload, cell.metric, str(cell.unit)


def _warnings(a: Finding, b: Finding) -> list[str]:
    facts = [("instrument", a.instrument, b.instrument), ("machine", a.machine, b.machine)]
    facts += [
        (name, a.environment.get(key, _UNKNOWN), b.environment.get(key, _UNKNOWN))
        for key, name in _IDENTITY.items()
    ]
    if _kernels(a, b) is None:
        one, other = (each.environment.get("kernel", _UNKNOWN) for each in (a, b))
        facts.append(("kernel", one, other))
    warnings = [_differs(name, one, other) for name, one, other in facts if one != other]
    images = [finding.environment.get("image") for finding in (a, b)]
    if None not in images and images[0] != images[1]:
        one, other = (visible(str(image)) for image in images)
        warnings.append(f"the guests' images differ: {one}, then {other}")
    return warnings


def _kernels(a: Finding, b: Finding) -> tuple[str, str] | None:
    """Return the kernels of two runs if both are known and differ."""
    one, other = (finding.environment.get("kernel") for finding in (a, b))
    return None if one is None or other is None or one == other else (one, other)


def _differs(name: str, one: str, other: str) -> str:
    return (
        f"not comparable as they stand: the {name} differs: {visible(one)}, then {visible(other)}"
    )


def _over(value: float, by: float) -> float:
    return value / by if by else math.nan
