"""Observations of recorders in one trial, beside the metrics."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from hardcost.model.document import Number


class WatchStep(BaseModel):
    """A span of a trial, such as `copy`: from `begin` to `end`, in ticks since the watch.

    `is_measured` says whether its length is a metric's, or part of one. `operations` says how many
    requests, mails or transactions were carried out in it: None where it is no part of the load, 0
    where it is a part that finishes those of another.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    begin: Number
    end: Number
    is_measured: bool = Field(default=False, serialization_alias="measured")
    operations: int | None = None


class Observed(BaseModel):
    """The observations of one recorder.

    `totals` are amounts over the whole watch, by name, each in `unit_of_totals`: for `cpu` the
    ticks of each process by its name (and `idle`), for `audit` events by key (`key:…`), `records`,
    `lost`, `backlog_peak`, `bytes_logged`, `syslog_records`, `syslog_dropped`, for `avc` `lookups`,
    `hits`, `misses`, `allocations`, `reclaims`, `frees`. `series` are values at `times` (ticks
    since the watch began). `own_ticks` is what the watching itself took, of the same clock.
    """

    model_config = ConfigDict(frozen=True)

    instrument: str
    unit_of_totals: str = Field(serialization_alias="unit")
    totals: dict[str, Number] = {}
    times: tuple[Number, ...] = ()
    series: dict[str, tuple[Number, ...]] = {}
    steps: tuple[WatchStep, ...] = ()
    own_ticks: Number = 0
