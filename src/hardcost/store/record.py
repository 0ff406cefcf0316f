"""What is kept of a trial: the raw samples, and all that says where they come from."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Measured(BaseModel):
    """One metric of a trial.

    `samples` are in `unit`, one for each batch, in the order in which they were taken. `fired`
    counts the audit records by key while this metric was measured; None where audit was off.
    """

    model_config = ConfigDict(frozen=True)

    metric: str
    unit: str
    samples: tuple[float, ...]
    fired: dict[str, int] | None = None
    lost: int = 0


class Record(BaseModel):
    """One trial, done: its identity is the hash of all that defines it."""

    model_config = ConfigDict(frozen=True)

    identity: str
    configuration: str
    workload: str
    instrument: str
    seed: int
    repetition: int
    measured: tuple[Measured, ...]
    environment: dict[str, str]
    notes: tuple[str, ...] = ()
    host_seconds: float
