"""Figures that others published, as data: reference points, never expected values."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from hardcost.errors import InputError, Place, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.resources.abc import Traversable

_STRICT = ConfigDict(extra="forbid", frozen=True)
_Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_Better = Literal["less", "more"]


class _Beside(BaseModel):
    """What tells which results of ours stand beside a table of a source.

    `workloads` are names of ours, none for any: `unixbench copies=1` stands for that workload with
    whatever else it was told, `unixbench copies=` for one whose name doesn't say how many copies,
    `unixbench copies!=1` for one whose name says another number.
    `measured` maps a metric of the source to those of ours that it is the sum of, where it is not
    the one of the same name.
    """

    model_config = _STRICT

    name: str
    baseline: str
    ours: str = ""
    workloads: tuple[str, ...] = ()
    measured: dict[str, tuple[str, ...]] = {}

    def configuration(self, row: str) -> str:
        """Return the name of our configuration that `row` stands beside."""
        return f"{self.ours} {row}".strip()

    def parts(self, metric: str) -> tuple[str, ...]:
        """Return our metrics whose sum stands beside `metric`."""
        return self.measured.get(metric, (metric,))

    def beside(self, workload: str) -> bool:
        """Return whether our `workload`, with its parameters, is what the source ran."""
        return not self.workloads or any(_stands_for(one, workload) for one in self.workloads)


class Series(_Beside):
    """One table of a source: what was measured, row by row, in the source's own `unit`.

    A row has the name of the configuration of ours that repeats it, without `ours`: the words that
    ours has before it, such as `kernel=flat`. `rows` maps row to metric to value; `units` has the
    units of metrics that are not in `unit`. `better` says which way the figures count: of a rate,
    more is better.
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

    def unit_of(self, metric: str) -> str:
        """Return the unit of a metric."""
        return self.units.get(metric, self.unit)

    def ratio(self, row: str, metric: str) -> float:
        """Return how many times what the source's own baseline costs: of a rate, the inverse."""
        value, base = self.rows[row][metric], self.rows[self.baseline][metric]
        return value / base if self.better == "less" else base / value


class Span(BaseModel):
    """From how many times the baseline to how many; without `low` only the highest was told."""

    model_config = _STRICT

    low: _Positive | None = None
    high: _Positive

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low is not None and self.low > self.high:
            raise ValueError("low is above high")
        return self


class Ranges(_Beside):
    """A source's ranges over several workloads of ours: how many times the baseline."""

    rows: dict[str, dict[str, Span]]

    @property
    def metrics(self) -> tuple[str, ...]:
        """Return the names of the metrics in the source's order."""
        return tuple(dict.fromkeys(metric for row in self.rows.values() for metric in row))


class Mean(BaseModel):
    """One figure of a source for all results of `what`: how much worse than the baseline.

    Either `percent` as the source says, or the source's total `before` and `after`, of which more
    is better, as of UnixBench's index.
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
        """Return how many times the baseline's cost."""
        if self.before is not None and self.after is not None:
            return self.before / self.after
        return 1 + (self.percent or 0) / 100


class Published(BaseModel):
    """What one source measured: `source` cites it, `workload` says with what.

    `kernel_config` has the columns of a table of kernel options (key `columns`), and for each
    option its value in each: `y`, `m`, or `unset`.
    """

    model_config = _STRICT

    title: str
    source: str
    workload: str
    notes: tuple[str, ...] = ()
    series: tuple[Series, ...] = ()
    ranges: tuple[Ranges, ...] = ()
    mean: tuple[Mean, ...] = ()
    kernel_config: dict[str, tuple[str, ...]] = {}


@cache
def published(name: str) -> Published:
    """Return the published figures called `name`, such as `audit-rule-scaling-2021`.

    Raises:
        InputError: there are none of that name, or their file is at fault.
    """
    known = {path.name.removesuffix(".toml"): path for path in _files()}
    if name not in known:
        hint = f"there are: {', '.join(sorted(known))}"
        raise InputError(f"no published figures are called {name!r}", hint=hint)
    return read(known[name].read_text(encoding="utf-8"), f"published/{name}.toml")


def read(text: str, file: str) -> Published:
    """Return what the TOML `text` of `file` says.

    Raises:
        InputError: with every fault of the file.
    """
    try:
        return Published.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"not TOML: {error}", place=Place(file)) from error
    except ValidationError as error:
        raise InputError.of(
            tuple(
                Problem(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}", Place(file))
                for fault in error.errors()
            )
        ) from error


def _stands_for(pattern: str, workload: str) -> bool:
    name, *wanted = pattern.split(" ")
    ours, *words = workload.split(" ")
    told = dict(word.partition("=")[::2] for word in words)
    return name == ours and all(_agrees(told, word) for word in wanted)


def _agrees(told: Mapping[str, str], asked: str) -> bool:
    key, _, value = asked.partition("=")
    if key.endswith("!"):
        return told.get(key.removesuffix("!"), value) != value
    return told.get(key, "") == value


def _files() -> list[Traversable]:
    folder = resources.files("hardcost.report") / "published"
    return [path for path in folder.iterdir() if path.name.endswith(".toml")]
