"""A plan: which trials a study needs. Plain data that can be printed, compared and hashed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hardcost.controls.control import Control


@dataclass(frozen=True)
class Configuration:
    """One exact state to be measured.

    `levels` are the axes that made it, (axis, level) in the study's order, such as
    `(("rules", "160"), ("catch-all", "on"))`; empty for a configuration written out by itself.
    """

    name: str
    controls: tuple[Control, ...] = ()
    levels: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Workload:
    """What is run, by name, with its parameters in the order in which they were given."""

    name: str
    parameters: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        """Return the name in reports, such as `filecopy concurrency=4`."""
        return " ".join([self.name, *(f"{key}={value}" for key, value in self.parameters)])


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
    """All trials of a run in the order in which they start, and what they are compared to."""

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
        return tuple({trial.configuration.name: trial.configuration for trial in self.trials}.values())
