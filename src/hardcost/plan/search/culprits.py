"""A bill by group testing: the controls to search, and the trials that answer each question.

Leave-one-out takes two configurations for each control. Where a configuration is expensive, because
it needs a kernel build, the search asks for a few well-chosen ones instead.
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
    Lsm,
    SystemControl,
    comparable,
    needed,
)
from hardcost.design import anyrule
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

BUILD_SECONDS, BOOT_SECONDS = 300.0, 8.0
"""Guesses of how long it takes to build a kernel, and to boot one for its snapshot."""

TRIAL_SECONDS, SYSTEM_TRIAL_SECONDS, LOAD_SECONDS = 1.5, 4.0, 15.0
"""Guesses of how long a trial takes: of calls alone; of calls beside a whole system and its
services; of any other workload on such a system."""

WORTH_SECONDS = 1200.0
"""Below this, single trials always win over a search: they itemise everything."""

_EXPECTED_CULPRITS = 2
_CALLS = "syscalls"


@dataclass(frozen=True)
class Suspects:
    """The controls of a profile: those `fixed` in every configuration, and those to be searched.

    The `fixed` ones, such as the audit daemon and the kernel, are the baseline of the comparison.
    `problem` refers to the others, the `switched`, by index.
    """

    fixed: tuple[Control, ...]
    switched: tuple[Control, ...]
    problem: Problem


def suspects(
    profile: Profile,
    requires: Mapping[str, frozenset[str]] | None = None,
    group_of: Callable[[Control], str] | None = None,
) -> Suspects:
    """Return what to search in a profile.

    `requires` maps a kernel option to the options it depends on, by name. `group_of` names the
    group of a control; a search prefers to split at the end of a group.
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
    return Suspects(fixed, switched, Problem(_distinct_names(switched), needs, marks=marks))


def _distinct_names(controls: Sequence[Control]) -> tuple[str, ...]:
    """Return the controls' names; repeated names get a number."""
    seen: Counter[str] = Counter()
    found = []
    for control in controls:
        seen[control.name] += 1
        times = seen[control.name]
        found.append(control.name if times == 1 else f"{control.name} ({times})")
    return tuple(found)


def worth_searching(controls: Sequence[Control], workloads: Sequence[Workload]) -> bool:
    """Say whether single trials of each control take so long that a search is preferable."""
    found = [one for one in controls if not isinstance(one, AuditDaemon | Kernel)]
    single = 2 * len(found) + 2
    seconds = single * _trial_seconds(found, workloads) + _boots(found) * BOOT_SECONDS
    return seconds > WORTH_SECONDS and bound(len(found), _EXPECTED_CULPRITS) < single


def _trial_seconds(controls: Sequence[Control], workloads: Sequence[Workload]) -> float:
    """Return about how long a trial takes, with the kernel that has to be built for it."""
    if any(isinstance(one, KernelOption) for one in controls):
        return BUILD_SECONDS
    if not any(isinstance(one, SystemControl) for one in controls):
        return TRIAL_SECONDS
    calls = all(one.name == _CALLS for one in workloads)
    return SYSTEM_TRIAL_SECONDS if calls else LOAD_SECONDS


def _boots(controls: Sequence[Control]) -> int:
    """Return how many boots single trials take: those of the same boot line share a snapshot."""
    changing = [one for one in controls if isinstance(one, BootParameter | Lsm)]
    return 2 * len(changing) + 2


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

    After them come the idle rules of `design.anyrule`, where rules are on the exit list, and
    `placebos` configurations (see `design.placebos`).

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
                *anyrule.configurations((*found.fixed, *found.switched)),
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
    """Return the trials that answer a question, added to those of the search's first `plan`.

    Repetitions count from `first_repetition`, so that none was taken before.
    """
    wanted = configuration(found, question.on)
    alike = dict.fromkeys((trial.workload, trial.seed) for trial in plan.trials)
    return dataclasses.replace(
        plan,
        trials=tuple(
            Trial(
                wanted,
                workload,
                plan.instrument,
                seed,
                first_repetition + repetition,
                setup=plan.setup,
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
    """Return ascending numbers with runs joined: 0, 1, 2, 5 become `0-2` and `5`."""
    runs: list[list[int]] = []
    for index in indices:
        if runs and runs[-1][-1] == index - 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    return [f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs]
