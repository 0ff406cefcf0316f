"""Two runs joined cell by cell, and the reasons why they may not be comparable."""

from __future__ import annotations

import math

from hardcost.model.finding.cell import Cell
from hardcost.model.finding.comparison import Before, ComparedCell, Comparison
from hardcost.model.finding.head import Found, Head
from hardcost.model.role import Named, Role
from hardcost.model.workload import Workload

_IDENTITY = {"qemu": "QEMU", "cpu_model": "CPU model"}
"""The parts of an environment that determine counts, with their names in sentences."""

_UNKNOWN = "not recorded"


def compare_runs(a: Found, b: Found) -> Comparison:
    """Join two runs by configuration, workload, metric and unit, in the order of run `a`."""
    of_a, of_b = {_key(cell): cell for cell in a.cells}, {_key(cell): cell for cell in b.cells}
    return Comparison(
        run=b.run,
        study=b.study,
        machine=b.machine,
        instrument=b.instrument,
        environment=b.environment,
        cells=tuple(
            compare_cells(cell, of_b[key], Named(a.run))
            for key, cell in of_a.items()
            if key in of_b
        ),
        notes=b.notes,
        compared_to=Head(
            run=a.run,
            study=a.study,
            machine=a.machine,
            instrument=a.instrument,
            environment=a.environment,
        ),
        only_before=tuple(cell for key, cell in of_a.items() if key not in of_b),
        only_after=tuple(cell for key, cell in of_b.items() if key not in of_a),
        warnings=tuple(_warnings(a, b)),
    )


def compare_cells(a: Cell, b: Cell, baseline: Role) -> ComparedCell:
    """Return cell `b` over cell `a`, which is one of `baseline`; both have one unit.

    The ratio is b's value as a multiple of a's. Its interval is the widest that both intervals and
    chance allow.
    """
    equal = (a.value, a.low, a.high) == (b.value, b.low, b.high)
    least = 0.0 if equal else max(a.least, b.least)
    ratio, chance = _ratio(b.value, a.value), _ratio(least, a.value)
    own = vars(b) | {
        "baseline": baseline,
        "ratio": ratio,
        "ratio_low": min(_ratio(b.low, a.high), ratio - chance),
        "ratio_high": max(_ratio(b.high, a.low), ratio + chance),
        "difference": b.value - a.value,
        "least": least,
    }
    return ComparedCell(
        **own, before=Before(value=a.value, low=a.low, high=a.high, trials=a.trials)
    )


def warnings_on_one_kernel(found: Comparison) -> tuple[str, ...]:
    """Return the warnings where both runs were to have the same kernel."""
    if found.kernels is None:
        return found.warnings
    return (*found.warnings, _differs("kernel", *found.kernels))


def _key(cell: Cell) -> tuple[Role, Workload, str, str]:
    return cell.configuration, cell.workload, cell.metric, str(cell.unit)


def _warnings(a: Found, b: Found) -> list[str]:
    facts = [("instrument", a.instrument, b.instrument), ("machine", a.machine, b.machine)]
    facts += [
        (name, a.environment.get(key, _UNKNOWN), b.environment.get(key, _UNKNOWN))
        for key, name in _IDENTITY.items()
    ]
    one, other = (each.environment.get("kernel", _UNKNOWN) for each in (a, b))
    if _UNKNOWN in {one, other}:  # two that are known are compared
        facts.append(("kernel", one, other))
    warnings = [_differs(name, one, other) for name, one, other in facts if one != other]
    images = [finding.environment.get("image") for finding in (a, b)]
    if None not in images and images[0] != images[1]:
        warnings.append(f"the guests' images differ: {images[0]}, then {images[1]}")
    return warnings


def _differs(name: str, one: str, other: str) -> str:
    return f"not comparable as they stand: the {name} differs: {one}, then {other}"


def _ratio(value: float, by: float) -> float:
    return value / by if by else math.nan
