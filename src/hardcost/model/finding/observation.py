"""An observation of a recorder, and its trial."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from hardcost.model.observation import Observed
from hardcost.model.role import Role
from hardcost.model.workload import Workload


class _Trial(BaseModel):
    model_config = ConfigDict(frozen=True)

    configuration: Role
    workload: Workload
    seed: int
    repetition: int


class ObservedIn(Observed, _Trial):
    """An observation of a recorder in one trial."""


def seen_in(
    configuration: Role, workload: Workload, seed: int, repetition: int, seen: Observed
) -> ObservedIn:
    """Return an observation with its trial."""
    return ObservedIn(
        configuration=configuration,
        workload=workload,
        seed=seed,
        repetition=repetition,
        **dict(seen),
    )
