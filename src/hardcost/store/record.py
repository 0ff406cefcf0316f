"""What is kept of a trial: the raw samples, and all that says where they come from."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from hardcost.instruments.observed import Observed
from hardcost.workloads.measured import Measured


class Record(BaseModel):
    """One trial, done: its identity is the hash of all that defines it.

    `start_seconds` of host time passed before the guest's first instruction, `host_seconds` in all.
    `observed` is what instruments that rode along saw.
    """

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
    start_seconds: float
    host_seconds: float
    observed: tuple[Observed, ...] = ()
