"""A bill by group testing: which controls are searched, and the trials that a question takes.

One control at a time would take two configurations for each; where a configuration is dear, since
a kernel has to be built for it, the search asks for a few well chosen ones instead.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hardcost.controls.control import (
    AuditDaemon,
    BootParameter,
    Kernel,
    KernelOption,
    SystemControl,
    comparable,
    needed,
)
from hardcost.design import leave_one_out as names
from hardcost.design import placebos as placebo
from hardcost.design.factorial import trials
from hardcost.design.group_testing import Problem, bound
from hardcost.design.leave_one_out import steady
from hardcost.design.plan import Configuration, Plan, Trial
from hardcost.instruments.names import instrument as instrument_named

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hardcost.controls.control import Control, Profile
    from hardcost.design.group_testing import Question
    from hardcost.design.plan import Workload

BUILD_SECONDS, SYSTEM_SECONDS, BOOT_SECONDS, TRIAL_SECONDS = 300.0, 15.0, 8.0, 1.0
"""Guesses of what a configuration takes that needs a kernel of its own, a whole system with
services, a boot, or none of these."""

WORTH_SECONDS = 600.0
"""Single trials that take less are never given up for a search: they itemise everything."""

_EXPECTED_CULPRITS = 2


@dataclass(frozen=True)
class Suspects:
    """The controls of a profile: those `fixed` in every configuration, and those that are searched.

    `fixed` are what the others are compared on: the audit daemon, the kernel. `problem` speaks of
    the others, the `switched`, by their index.
    """

    fixed: tuple[Control, ...]
    switched: tuple[Control, ...]
    problem: Problem


def suspects(
    profile: Profile,
    requires: Mapping[str, frozenset[str]] | None = None,
    group_of: Callable[[Control], str] | None = None,
) -> Suspects:
    """Return what is to be searched in a profile.

    `requires` maps a kernel option to those without which it does not come out, by name;
    `group_of` names the group of a control, at whose end a split is preferred.
    """
    controls = steady(profile.controls)
    fixed = tuple(one for one in controls if isinstance(one, AuditDaemon | Kernel))
    switched = tuple(one for one in controls if one not in fixed)
    at = {one.option: n for n, one in enumerate(switched) if isinstance(one, KernelOption)}
    needs = {
        at[name]: frozenset(at[other] for other in others if other in at)
        for name, others in (requires or {}).items()
        if name in at
    }
    for n, one in enumerate(switched):
        if missing := needed(one, switched):
            needs[n] = frozenset(map(switched.index, missing))
    groups = [group_of(control) if group_of else control.mechanism for control in switched]
    marks = tuple(n for n in range(1, len(groups)) if groups[n] != groups[n - 1])
    return Suspects(fixed, switched, Problem(_told_apart(switched), needs, marks=marks))


def _told_apart(controls: Sequence[Control]) -> tuple[str, ...]:
    """Return the controls' names; of those that are alike, the later ones with a number."""
    seen: Counter[str] = Counter()
    found = []
    for control in controls:
        seen[control.name] += 1
        times = seen[control.name]
        found.append(control.name if times == 1 else f"{control.name} ({times})")
    return tuple(found)


def worth_searching(controls: Sequence[Control]) -> bool:
    """Say whether measuring each control singly takes so long that a search is to be preferred."""
    found = [one for one in controls if not isinstance(one, AuditDaemon | Kernel)]
    seconds = TRIAL_SECONDS
    if any(isinstance(one, BootParameter) for one in found):
        seconds = BOOT_SECONDS
    if any(isinstance(one, SystemControl) for one in found):
        seconds = SYSTEM_SECONDS
    if any(isinstance(one, KernelOption) for one in found):
        seconds = BUILD_SECONDS
    single = 2 * len(found) + 2
    return single * seconds > WORTH_SECONDS and bound(len(found), _EXPECTED_CULPRITS) < single


def name_of(on: Sequence[int], count: int) -> str:
    """Return the name of the configuration with the controls `on` out of `count`."""
    if not on:
        return names.BASELINE
    if len(on) == count:
        return names.PROFILE
    if len(on) == 1:
        return names.alone(on[0])
    chosen = set(on)
    off = [index for index in range(count) if index not in chosen]
    if len(off) <= len(on):
        return names.without("+".join(_runs(off)))
    return "with:" + "+".join(_runs(on))


def first_plan(  # noqa: PLR0913  (each is a choice of its own)
    profile: Profile,
    found: Suspects,
    workloads: Sequence[Workload],
    *,
    instrument: str = "insn",
    seeds: Sequence[int] | None = None,
    placebos: int = 0,
) -> Plan:
    """Return the trials that every search begins with: the baseline and the whole profile.

    So many `placebos` come after them, as `design.placebos` says.

    Raises:
        InputError: There is no such instrument.
    """
    count = len(found.switched)
    ends = dict.fromkeys(((), tuple(range(count))))
    return Plan(
        study=names.study_of(profile),
        title=profile.title,
        instrument=instrument_named(instrument).name,
        baseline=names.BASELINE,
        trials=trials(
            [
                *(configuration(found, on) for on in ends),
                *placebo.configurations((*found.fixed, *found.switched), placebos),
            ],
            workloads,
            instrument=instrument,
            seeds=tuple(seeds or (0,)),
            repetitions=1,
        ),
        notes=profile.notes,
    )


def configuration(found: Suspects, on: Sequence[int]) -> Configuration:
    """Return the configuration with the controls `on`."""
    controls = (*found.fixed, *(found.switched[index] for index in on))
    whole = (*found.fixed, *found.switched)
    return Configuration(name_of(on, len(found.switched)), comparable(controls, whole))


def asked(plan: Plan, found: Suspects, question: Question, first_repetition: int) -> Plan:
    """Return the trials that answer a question, beside those of the search's first `plan`.

    Repetitions count from `first_repetition`, so that none is one that was taken before.
    """
    wanted = configuration(found, question.on)
    alike = dict.fromkeys((trial.workload, trial.seed) for trial in plan.trials)
    return dataclasses.replace(
        plan,
        trials=tuple(
            Trial(
                wanted, workload, plan.instrument, seed, first_repetition + repetition, plan.setup
            )
            for repetition in range(question.repetitions)
            for workload, seed in alike
        ),
    )


def measured(plan: Plan, found: Suspects, states: Sequence[tuple[int, ...]]) -> Plan:
    """Return the first `plan` with a trial for each state that the search has measured."""
    alike = dict.fromkeys((trial.workload, trial.seed) for trial in plan.trials)
    return dataclasses.replace(
        plan,
        trials=tuple(
            Trial(configuration(found, on), workload, plan.instrument, seed, setup=plan.setup)
            for on in dict.fromkeys(states)
            for workload, seed in alike
        ),
    )


def _runs(indices: Sequence[int]) -> list[str]:
    """Return ascending numbers with neighbours joined: 0, 1, 2, 5 are `0-2` and `5`."""
    runs: list[list[int]] = []
    for index in indices:
        if runs and runs[-1][-1] == index - 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    return [f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs]
