"""Figures that others published, as data: reference points, never expected values."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from auditrules.model.location import Location
from hardcost.errors import InputError, Problem
from hardcost.model.workload import Workload, workload_of

_STRICT = ConfigDict(extra="forbid", frozen=True)
_Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_Better = Literal["less", "more"]


class _Beside(BaseModel):
    """The conditions for our results to be shown beside a table of a source.

    `workloads` are hardcost's names, none for any: `unixbench copies=1` matches that workload with
    any other parameters, `unixbench copies=` one whose name has no number of copies, and `unixbench
    copies!=1` one whose name has another number. `measured` maps a metric of the source to the
    metrics of hardcost that add up to it, unless it has the same name.
    """

    model_config = _STRICT

    name: str
    baseline: str
    ours: str = ""
    workloads: tuple[str, ...] = ()
    measured: dict[str, tuple[str, ...]] = {}

    def configuration(self, row: str) -> str:
        """Return the name of our configuration that corresponds to `row`."""
        return f"{self.ours} {row}".strip()

    def parts(self, metric: str) -> tuple[str, ...]:
        """Return our metrics whose sum corresponds to `metric`."""
        return self.measured.get(metric, (metric,))

    def applies_to(self, workload: Workload) -> bool:
        """Return whether the source ran our `workload`, with its parameters."""
        return not self.workloads or any(_stands_for(one, workload) for one in self.workloads)


class PublishedSeries(_Beside):
    """One table of a source: its measurements, row by row, in the source's own `unit`.

    A row is named like our configuration that repeats it, without the words in `ours` that precede
    it there, such as `kernel=flat`. `rows` maps row to metric to value; `units` has the units of
    metrics that are not in `unit`. `better` says which direction is better: for a rate, more.
    """

    unit: str
    units: dict[str, str] = {}
    better: _Better = "less"
    rows: dict[str, dict[str, _Positive]]

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.baseline not in self.rows:
            raise ValueError(f"the baseline {self.baseline!r} is not among the rows")
        for row, values in self.rows.items():
            if set(values) != set(self.metrics):
                raise ValueError(f"row {row!r} has other metrics than the baseline")
        return self

    @property
    def metrics(self) -> tuple[str, ...]:
        """Return the names of the metrics in the source's order."""
        return tuple(self.rows[self.baseline])

    def level(self, row: str, axis: str) -> float | None:
        """Return the number that a row's name has for an axis, such as `rules=160`; None: none."""
        start = f"{axis}="
        found = (word.removeprefix(start) for word in row.split() if word.startswith(start))
        return next(map(float, found), None)

    def unit_of(self, metric: str) -> str:
        """Return the unit of a metric."""
        return self.units.get(metric, self.unit)

    def ratio(self, row: str, metric: str) -> float:
        """Return the cost as a multiple of the source's own baseline: for a rate, the inverse."""
        value, base = self.rows[row][metric], self.rows[self.baseline][metric]
        return value / base if self.better == "less" else base / value


class PublishedRange(BaseModel):
    """A range of multiples of the baseline; without `low` the source gave only the highest."""

    model_config = _STRICT

    low: _Positive | None = None
    high: _Positive

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.low is not None and self.low > self.high:
            raise ValueError("low is above high")
        return self


class PublishedRanges(_Beside):
    """A source's ranges over several of our workloads, as multiples of the baseline."""

    rows: dict[str, dict[str, PublishedRange]]

    @property
    def metrics(self) -> tuple[str, ...]:
        """Return the names of the metrics in the source's order."""
        return tuple(dict.fromkeys(metric for row in self.rows.values() for metric in row))


class PublishedMean(BaseModel):
    """One figure of a source for all results of `what`: how much worse than the baseline.

    It is either `percent` as the source says, or the source's total `before` and `after`, for which
    higher is better, such as UnixBench's index.
    """

    model_config = _STRICT

    what: str
    configuration: str
    baseline: str
    percent: float | None = None
    before: _Positive | None = None
    after: _Positive | None = None

    @model_validator(mode="after")
    def _either(self) -> Self:
        given = tuple(x is not None for x in (self.percent, self.before, self.after))
        if given not in {(True, False, False), (False, True, True)}:
            raise ValueError("either percent, or before and after")
        return self

    @property
    def ratio(self) -> float:
        """Return the cost as a multiple of the baseline's."""
        if self.before is not None and self.after is not None:
            return self.before / self.after
        return 1 + (self.percent or 0) / 100


class Published(BaseModel):
    """The figures of one source: `source` cites it, `workload` names its workload.

    `kernel_config` has the columns of a table of kernel options (key `columns`), and for each
    option its value in each column: `y`, `m`, or `unset`.
    """

    model_config = _STRICT

    title: str
    source: str
    workload: str
    notes: tuple[str, ...] = ()
    series: tuple[PublishedSeries, ...] = ()
    ranges: tuple[PublishedRanges, ...] = ()
    mean: tuple[PublishedMean, ...] = ()
    kernel_config: dict[str, tuple[str, ...]] = {}


@cache
def published_figures(name: str) -> Published:
    """Return the published figures called `name`, such as `audit-rule-scaling-2021`.

    Raises:
        InputError: there are none of that name, or their file is at fault.
    """
    known = {path.name.removesuffix(".toml"): path for path in _files()}
    if name not in known:
        hint = f"there are: {', '.join(sorted(known))}"
        raise InputError(f"no published figures are called {name!r}", hint=hint)
    return read(known[name].read_text(encoding="utf-8"), f"figures/{name}.toml")


def read(text: str, file: str) -> Published:
    """Return the contents of the TOML `text` of `file`.

    Raises:
        InputError: with every fault of the file.
    """
    try:
        return Published.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"not TOML: {error}", place=Location(file)) from error
    except ValidationError as error:
        raise InputError.of(
            tuple(
                Problem(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}", Location(file))
                for fault in error.errors()
            )
        ) from error


def _stands_for(pattern: str, workload: Workload) -> bool:
    wanted, given = workload_of(pattern), dict(workload.parameters)
    return wanted.name == workload.name and all(_agrees(given, *one) for one in wanted.parameters)


def _agrees(given: Mapping[str, str], key: str, value: str) -> bool:
    """Say whether a parameter has a value, or is another where the key ends in `!`."""
    if key.endswith("!"):
        return given.get(key.removesuffix("!"), value) != value
    return given.get(key, "") == value


def _files() -> list[Traversable]:
    folder = resources.files("hardcost.analysis.study") / "figures"
    return [path for path in folder.iterdir() if path.name.endswith(".toml")]
