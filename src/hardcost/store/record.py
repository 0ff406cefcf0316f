"""The record of a trial: the raw samples, and their provenance."""

from __future__ import annotations

import math

from pydantic import BaseModel, ConfigDict, Field

from hardcost.instruments import traces
from hardcost.instruments.traces import Trace
from hardcost.model import call_tree
from hardcost.model.call_tree import CallTree
from hardcost.model.document import Located
from hardcost.model.observation import Observed
from hardcost.model.role import Role
from hardcost.model.workload import Workload
from hardcost.store.rows import RecordRow
from hardcost.workloads.metric import MetricSamples


class Record(BaseModel):
    """One finished trial: its identity is the hash of everything that defines it.

    `start_seconds` is the host time before the guest's first instruction, `host_seconds` the total.
    `observed` is what the recorders saw, `calls` which functions executed how much and `traces`
    which process ran when, where that was watched. `surroundings` is what went on beside it on a
    machine that others use too, `source` the text of lines that were counted.
    """

    model_config = ConfigDict(frozen=True, populate_by_name=True, serialize_by_alias=True)

    identity: str
    role: Role = Field(alias="configuration")
    workload: Workload
    instrument: str
    seed: int
    repetition: int
    measured: tuple[MetricSamples, ...]
    environment: dict[str, str]
    notes: tuple[str, ...] = ()
    start_seconds: float
    host_seconds: float
    observed: tuple[Observed, ...] = ()
    calls: CallTree | None = Field(None, alias="profile")
    traces: tuple[Trace, ...] = ()
    surroundings: dict[str, float] = {}
    source: dict[Located, str] = {}


_LARGEST = 1e18
"""The limit of any measured number; an index of 1e308 is damage."""


def of_row(row: RecordRow) -> Record:
    """Return the record in a row of the store.

    Raises:
        ValueError: It is damaged.
    """
    damage = row.damage()
    if damage is not None:
        raise ValueError(damage)
    if not isinstance(row.body, str | bytes) or not isinstance(row.identity, str):
        raise ValueError("it has values of another kind")  # noqa: TRY004  (damage, as above)
    found = Record.model_validate_json(row.body)
    check(found, row.identity)
    return found


def check(record: Record, identity: str) -> None:
    """Check that a record is the trial's, and that its numbers can be measurements.

    Raises:
        ValueError: It is not, or they can't be.
    """
    if record.identity != identity:
        raise ValueError("it belongs to another trial")
    if not record.measured:
        raise ValueError("it has no metric")
    for metric in record.measured:
        if not metric.samples:
            raise ValueError(f"{metric.metric} has no samples")
        _check_numbers(metric.metric, metric.samples)
        _check_numbers(metric.metric, (metric.lost, *(metric.fired or {}).values()))
    _check_numbers("its time", (record.start_seconds, record.host_seconds))
    _check_numbers("what went on beside it", tuple(record.surroundings.values()))
    if record.calls is not None:
        call_tree.check(record.calls)
    for trace in record.traces:
        traces.check(trace)
    for observed in record.observed:
        numbers = (*observed.totals.values(), *observed.times, observed.own_ticks)
        _check_numbers(observed.instrument, numbers)
        for series in observed.series.values():
            _check_numbers(observed.instrument, series)


def _check_numbers(what: str, numbers: tuple[float, ...]) -> None:
    for number in numbers:
        if not math.isfinite(number) or not 0 <= number <= _LARGEST:
            raise ValueError(f"{what} is {number:g}")
