"""A plan: which trials a study needs. Plain data that can be printed, compared and hashed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hardcost.controls.control import SystemControl
from hardcost.study.model import AS_USUAL, Configuration, Setup, Workload

__all__ = ["Configuration", "Plan", "Setup", "Trial", "Workload"]


@dataclass(frozen=True)
class Trial:
    """One configuration, one workload, one seed, one execution (`repetition` counts from 0).

    `perturbations` are numbers of changes that mean nothing (see `design.perturbations`), 0 for
    none: what moves is measured under each of them. Only a workload that knows how takes several.
    """

    configuration: Configuration
    workload: Workload
    instrument: str
    seed: int
    repetition: int = 0
    perturbations: tuple[int, ...] = (0,)
    setup: Setup = AS_USUAL


@dataclass(frozen=True)
class Plan:
    """All trials of a run in the order in which they are shown, and what they are compared to.

    `successive` names an axis: at each of its levels, the baseline's own state is the baseline.
    `asked` is the configuration whose cost the study is about, None if it names none. `about` says
    in prose what is compared.
    """

    study: str
    title: str
    instrument: str
    baseline: str
    trials: tuple[Trial, ...]
    published: str | None = None
    notes: tuple[str, ...] = ()
    timeout: int | None = None
    successive: str | None = None
    asked: str | None = None
    about: str = ""

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
        whole = setup.init == "systemd" or any(isinstance(one, SystemControl) for one in controls)
        for_all = replace(setup, whole=setup.whole or whole)
        return replace(self, trials=tuple(replace(trial, setup=for_all) for trial in self.trials))

    @property
    def configurations(self) -> tuple[Configuration, ...]:
        """Return each configuration once, in the order of its first trial."""
        return tuple(
            {trial.configuration.name: trial.configuration for trial in self.trials}.values()
        )

    def baseline_of(self, configuration: Configuration) -> str:
        """Return the name of the configuration that one is compared with."""
        known = {one.name: one for one in self.configurations}
        level = dict(configuration.levels).get(self.successive or "")
        if level is None or self.baseline not in known:
            return self.baseline
        wanted = dict(known[self.baseline].levels) | {self.successive: level}
        same = (one.name for one in known.values() if dict(one.levels) == wanted)
        return next(same, self.baseline)
