"""A plan: which trials a study needs. Plain data that can be printed, compared and hashed."""

from __future__ import annotations

from dataclasses import dataclass

from hardcost.study.model import Configuration, Workload

__all__ = ["Configuration", "Plan", "Trial", "Workload"]


@dataclass(frozen=True)
class Trial:
    """One configuration, one workload, one seed, one execution (`repetition` counts from 0)."""

    configuration: Configuration
    workload: Workload
    instrument: str
    seed: int
    repetition: int = 0


@dataclass(frozen=True)
class Plan:
    """All trials of a run in the order in which they are shown, and what they are compared to."""

    study: str
    title: str
    instrument: str
    baseline: str
    trials: tuple[Trial, ...]
    published: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def configurations(self) -> tuple[Configuration, ...]:
        """Return each configuration once, in the order of its first trial."""
        return tuple(
            {trial.configuration.name: trial.configuration for trial in self.trials}.values()
        )
