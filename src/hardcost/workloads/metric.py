"""Metrics, which workloads yield, with their raw samples."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class MetricSamples(BaseModel):
    """One metric of a trial.

    `samples` are in `unit`, one for each batch, in the order in which they were taken; smaller is
    better, but for the unit `index`. `fired` counts the audit events by key while this metric was
    measured, `lost` those that the kernel could not deliver; None and 0 where audit was off.
    `perturbed` has what the same trial took under further perturbations, by their number.
    `long_turns` are the samples of several processors that took longer turns.
    """

    model_config = ConfigDict(frozen=True)

    metric: str
    unit: str
    samples: tuple[float, ...]
    fired: dict[str, int] | None = None
    lost: int = 0
    perturbed: dict[int, tuple[float, ...]] = {}
    long_turns: tuple[float, ...] = ()
