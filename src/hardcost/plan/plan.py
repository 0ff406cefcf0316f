"""A plan: which trials a study needs. Plain data that can be printed, compared and hashed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from hardcost.controls.configuration import AS_USUAL, Configuration, Setup
from hardcost.model.role import Role
from hardcost.model.workload import Workload

__all__ = ["Configuration", "Plan", "Setup", "Trial"]


@dataclass(frozen=True)
class Trial:
    """One configuration, one workload, one seed, one execution (`repetition` counts from 0).

    `perturbations` are numbers of changes that mean nothing (see `plan.perturbations`), 0 for
    none: what moves is measured under each of them. Only a workload that knows how takes several.
    """

    configuration: Configuration
    workload: Workload
    instrument: str
    seed: int
    repetition: int = 0
    perturbations: tuple[int, ...] = (0,)
    setup: Setup = AS_USUAL


PlanKind = Literal["study", "bill", "advise", "hotspots", "trace", "gate"]
"""The purpose of a plan: a study, or a verb's finding about profiles."""


@dataclass(frozen=True)
class Plan:
    """All trials of a run in the order in which they are shown, and their baseline.

    `name` is the study's, or the profile's of which a plan of another `kind` is.
    `baseline` is the role of what the others are compared with. `successive` names an axis: at each
    of its levels, the baseline's own state is the baseline.
    `asked` is the configuration whose cost the study is about, None if it names none. `about` says
    in prose what is compared.
    """

    name: str
    title: str
    instrument: str
    baseline: Role
    trials: tuple[Trial, ...]
    published: str | None = None
    notes: tuple[str, ...] = ()
    timeout: int | None = None
    successive: str | None = None
    asked: Role | None = None
    about: str = ""
    kind: PlanKind = "study"

    @property
    def study(self) -> str:
        """Return the name of the run and its finding, such as `bill-cis`."""
        return self.name if self.kind == "study" else f"{self.kind}-{self.name}"

    @property
    def setup(self) -> Setup:
        """Return how the plan's guests are set up before the workload."""
        return self.trials[0].setup

    def set_up(self, setup: Setup) -> Plan:
        """Return the plan with guests set up as `setup` says.

        If one control needs a whole Debian system or systemd, all trials get one: a cost is the
        difference between two states of the same guest.
        """
        controls = (one for trial in self.trials for one in trial.configuration.controls)
        whole = setup.init == "systemd" or any(one.whole_system for one in controls)
        for_all = replace(setup, whole=setup.whole or whole)
        return replace(self, trials=tuple(replace(trial, setup=for_all) for trial in self.trials))

    @property
    def configurations(self) -> tuple[Configuration, ...]:
        """Return each configuration once, in the order of its first trial."""
        return tuple(
            {trial.configuration.role: trial.configuration for trial in self.trials}.values()
        )

    def baseline_of(self, configuration: Configuration) -> Role:
        """Return the role of a configuration's baseline."""
        known = {one.role: _levels(one) for one in self.configurations}
        level = _levels(configuration).get(self.successive or "")
        if level is None or self.baseline not in known:
            return self.baseline
        wanted = known[self.baseline] | {self.successive: level}
        return next((role for role, levels in known.items() if levels == wanted), self.baseline)


def _levels(configuration: Configuration) -> dict[str | None, str]:
    return {one.axis: one.level for one in configuration.levels}
