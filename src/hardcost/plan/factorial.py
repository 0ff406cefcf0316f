"""The plan of a study: every configuration with every workload, seed and repetition."""

from __future__ import annotations

import hashlib
import itertools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from hardcost.controls.configuration import Configuration, Setup
from hardcost.instruments.names import instrument_named
from hardcost.model.role import Named
from hardcost.model.workload import Workload
from hardcost.plan import placebo
from hardcost.plan.perturbations import note, perturbations_by_trial
from hardcost.plan.plan import Plan, Trial
from hardcost.study.model import Study

BLOCK_ROUNDS = 2
"""Rounds in a block: one in an order, one in its reverse."""


@dataclass(frozen=True)
class Overrides:
    """The user's values instead of the study's; None keeps the study's."""

    workloads: tuple[Workload, ...] | None = None
    instrument: str | None = None
    seeds: tuple[int, ...] | None = None
    repetitions: int | None = None
    fresh: bool | None = None
    init: Literal["probe", "systemd"] | None = None
    record: tuple[str, ...] | None = None

    def setup(self, written: Setup) -> Setup:
        """Return a setup with the user's overrides."""
        wanted: dict[str, Any] = {"fresh": self.fresh, "init": self.init, "record": self.record}
        return replace(
            written, **{key: value for key, value in wanted.items() if value is not None}
        )


def plan(study: Study, overrides: Overrides | None = None, *, placebos: bool = False) -> Plan:
    """Return all trials of a study, in the study's order.

    An exact instrument measures what does not move once, and the rest under as many perturbations
    as the study says, unless `overrides` sets a number. With `placebos`, what an exact one measures
    at little expense is also measured under changes without effect (see `plan.placebos`).

    Raises:
        InputError: There is no such instrument or workload.
    """
    wanted = overrides or Overrides()
    instrument = instrument_named(wanted.instrument or study.instrument)
    repetitions = wanted.repetitions or (None if instrument.exact else study.repetitions)
    workloads = wanted.workloads or study.workloads
    further: tuple[Configuration, ...] = ()
    if placebos and instrument.exact:
        further = placebo.placebos_of_study(study.configurations, Named(study.baseline), workloads)

    def of(some: Sequence[Configuration], by: Sequence[Workload]) -> tuple[Trial, ...]:
        return trials(
            some,
            by,
            instrument=instrument.name,
            seeds=wanted.seeds or study.seeds,
            repetitions=repetitions,
            perturbations=study.perturbations,
        )

    planned_trials = of(study.configurations, workloads)
    planned_trials += of(further, placebo.cheap_workloads(workloads))
    planned = Plan(
        name=study.name,
        title=study.title,
        instrument=instrument.name,
        baseline=Named(study.baseline),
        trials=planned_trials,
        published=study.published,
        notes=(*study.notes, *note(planned_trials)),
        timeout=study.timeout,
        successive=study.successive,
        asked=None if study.asked is None else Named(study.asked),
        about=" ".join(study.description.split()),
    )
    return planned.set_up(wanted.setup(study.setup))


def trials(  # noqa: PLR0913  (each is a choice of its own)
    configurations: Sequence[Configuration],
    workloads: Sequence[Workload],
    *,
    instrument: str,
    seeds: Sequence[int],
    repetitions: int | None = None,
    perturbations: int | None = None,
) -> tuple[Trial, ...]:
    """Return a trial for each combination: one full round for each repetition.

    `repetitions` None stands for as many as instrument and workload need: under an exact one, of
    what moves, `perturbations`. Each of several seeds is a draw by itself, and is not perturbed.

    Raises:
        InputError: There is no such instrument or workload.
    """
    if len(seeds) > 1:
        perturbations = 1
    each = {
        one: perturbations_by_trial(one, instrument, wanted=repetitions, usual=perturbations)
        for one in workloads
    }
    most = max(map(len, each.values()), default=0)
    rounds = itertools.product(range(most), seeds, workloads, configurations)
    return tuple(
        Trial(configuration, workload, instrument, seed, repetition, each[workload][repetition])
        for repetition, seed, workload, configuration in rounds
        if repetition < len(each[workload])
    )


def start_order(plan: Plan) -> tuple[Trial, ...]:
    """Return the trials of a plan in the order in which they start.

    Under an instrument that is not exact, two rounds are a block: each block has an order of its
    own, and its second round has the reverse of the first's. So drift (heat, load) affects all
    configurations alike, and one that is steady within a block cancels out. The order is derived
    from hashes, so it is always the same.
    """
    if instrument_named(plan.instrument).exact:
        return plan.trials
    rounds: defaultdict[int, list[Trial]] = defaultdict(list)
    for trial in plan.trials:
        rounds[trial.repetition].append(trial)
    return tuple(
        trial
        for number in sorted(rounds)
        for trial in sorted(rounds[number], key=_shuffle, reverse=bool(number % BLOCK_ROUNDS))
    )


def block_of(seed: int, repetition: int) -> tuple[int, int]:
    """Return the block that a trial belongs to, by its seed and repetition."""
    return seed, repetition // BLOCK_ROUNDS


def _shuffle(trial: Trial) -> bytes:
    """Return a pseudo-random but reproducible sort key, the same in both rounds of a block."""
    block = trial.repetition // BLOCK_ROUNDS
    parts = (block, trial.configuration.name, str(trial.workload), trial.seed)
    return hashlib.sha256(repr(parts).encode()).digest()
