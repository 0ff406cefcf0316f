"""A run or bill read back from the JSON that `jsonout` writes: a user's file, checked."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from hardcost.analysis.finding import Bill, Cell, Finding, Item, Sum, Total
from hardcost.errors import InputError, Place, Problem
from hardcost.files import content, json_value

if TYPE_CHECKING:
    from pathlib import Path

_LARGEST = 256 << 20  # bytes; a run of 500 controls has some 20 MiB
_MOST_PROBLEMS = 5


class _Read(BaseModel):
    model_config = ConfigDict(frozen=True)


class _Cell(_Read):
    configuration: str
    workload: str
    metric: str
    unit: str
    value: float | None
    low: float | None
    high: float | None
    trials: int
    baseline: str
    least: float = 0.0


class _Total(_Read):
    metric: str
    unit: str
    baseline: float
    with_profile: float
    cost: float
    distinguishable: bool = True
    low: float | None = None
    high: float | None = None


class _Item(_Read):
    control: str
    metric: str
    cost: float
    low: float
    high: float
    place: str = ""


class _Sum(_Read):
    metric: str
    cost: float


class _Least(_Read):
    metric: str
    cost: float


class _Document(_Read):
    run: str
    study: str
    machine: str
    instrument: str
    environment: dict[str, str]
    cells: tuple[_Cell, ...]
    totals: tuple[_Total, ...] = ()
    items: tuple[_Item, ...] = ()
    least: tuple[_Least, ...] = ()
    fixed: tuple[_Sum, ...] = ()


def finding_of(path: Path) -> Finding:
    """Return the run or bill in a file of JSON, as far as it can be compared with another.

    Raises:
        InputError: It can't be read, or is no result of `run`, `bill` or `report`.
    """
    data = content(path, "the result", _LARGEST)
    try:
        value = json_value(data)
    except ValueError as error:
        raise InputError(f"this is not JSON: {error}", place=Place(str(path))) from None
    if isinstance(value, dict) and "compared_to" in value:
        raise InputError(
            "this is a comparison of two runs already",
            place=Place(str(path)),
            hint="name the results of `run` or `bill --format json`",
        )
    try:
        read = _Document.model_validate(value)
    except ValidationError as error:
        raise InputError.of(_problems(path, error)) from None
    return Finding(
        run=read.run,
        study=read.study,
        title=read.study,
        instrument=read.instrument,
        cells=tuple(map(_cell, read.cells)),
        machine=read.machine,
        environment=dict(read.environment),
        bill=_bill(read) if read.totals else None,
    )


def _problems(path: Path, error: ValidationError) -> tuple[Problem, ...]:
    place = Place(str(path))
    hint = "a result is what `run`, `bill` and `report --format json` print"
    return tuple(
        Problem(f"{_where(one['loc'])}: {one['msg'].lower()}", place, hint)
        for one in error.errors(include_url=False)[:_MOST_PROBLEMS]
    )


def _where(location: tuple[Any, ...]) -> str:
    return ".".join(str(part) for part in location) or "it"


def _cell(cell: _Cell) -> Cell:
    value, low, high = (
        math.nan if one is None else one for one in (cell.value, cell.low, cell.high)
    )
    unknown = math.nan
    return Cell(
        configuration=cell.configuration,
        workload=cell.workload,
        metric=cell.metric,
        unit=cell.unit,
        value=value,
        low=low,
        high=high,
        minimum=unknown,
        trials=cell.trials,
        baseline=cell.baseline,
        difference=unknown,
        ratio=unknown,
        ratio_low=unknown,
        ratio_high=unknown,
        least=cell.least,
    )


def _bill(read: _Document) -> Bill:
    least = {one.metric: one.cost for one in read.least}
    units = {total.metric: total.unit for total in read.totals}
    return Bill(
        profile=read.study,
        title=read.study,
        totals=tuple(
            Total(
                one.metric,
                one.unit,
                one.baseline,
                one.with_profile,
                one.cost,
                least.get(one.metric, 0.0),
                one.low,
                one.high,
            )
            for one in read.totals
        ),
        items=tuple(
            Item(
                control=one.control,
                metric=one.metric,
                unit=units.get(one.metric, ""),
                cost=one.cost,
                low=one.low,
                high=one.high,
                share=0.0,
                alone=math.nan,
                fired=None,
                place=one.place,
            )
            for one in read.items
        ),
        rest=(),
        interaction=(),
        fixed=tuple(Sum(one.metric, one.cost) for one in read.fixed),
    )
