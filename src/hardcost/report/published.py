"""Figures that others published, as data: reference points, never expected values."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from hardcost.errors import InputError, Place, Problem

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_STRICT = ConfigDict(extra="forbid", frozen=True)


class Series(BaseModel):
    """One table of a source: what was measured, row by row, in the source's own `unit`.

    A row has the name of the configuration of ours that repeats it, without `ours`: the words that
    ours has before it, such as `kernel=flat`. `rows` maps row to metric to value.
    """

    model_config = _STRICT

    name: str
    unit: str
    baseline: str
    ours: str = ""
    rows: dict[str, dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]]]

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

    def configuration(self, row: str) -> str:
        """Return the name of our configuration that `row` stands beside."""
        return f"{self.ours} {row}".strip()

    def ratio(self, row: str, metric: str) -> float:
        """Return how many times the source's own baseline its value is."""
        return self.rows[row][metric] / self.rows[self.baseline][metric]


class Published(BaseModel):
    """What one source measured: `source` cites it, `workload` says with what."""

    model_config = _STRICT

    title: str
    source: str
    workload: str
    notes: tuple[str, ...] = ()
    series: tuple[Series, ...]


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


def _files() -> list[Traversable]:
    folder = resources.files("hardcost.report") / "published"
    return [path for path in folder.iterdir() if path.name.endswith(".toml")]
