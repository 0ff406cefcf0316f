"""A bill by group testing: the controls to search, and the trials that answer each question.

Leave-one-out takes two configurations for each control. Where a configuration is expensive, because
it needs a kernel build, the search asks for a few well-chosen ones instead.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from hardcost.controls.configuration import Configuration
from hardcost.controls.control import Control, Profile, comparable_part, requirements_of
from hardcost.instruments.names import instrument_named
from hardcost.mechanisms import facts
from hardcost.model.role import Alone, Baseline, Role, Whole, With, Without
from hardcost.model.workload import Workload
from hardcost.plan import first_rule, placebo
from hardcost.plan.factorial import trials
from hardcost.plan.leave_one_out import plain_name
from hardcost.plan.plan import Plan, Trial
from hardcost.plan.search.group_testing import configurations_bound
from hardcost.plan.search.questions import Question, SearchTask

BUILD_SECONDS, BOOT_SECONDS = 300.0, 8.0
"""Guesses of how long it takes to build a kernel, and to boot one for its snapshot."""

TRIAL_SECONDS, SYSTEM_TRIAL_SECONDS, LOAD_SECONDS = 1.5, 4.0, 15.0
"""Guesses of how long a trial takes: of calls alone; of calls beside a whole system and its
services; of any other workload on such a system."""

WORTH_SECONDS = 1200.0
"""Below this, single trials always win over a search: they itemise everything."""

_EXPECTED_CULPRITS = 2  # so many are assumed when a search is weighed against single trials
_CALLS = "syscalls"


@dataclass(frozen=True)
class Suspects:
    """The controls of a profile: those `fixed` in every configuration, and those to be searched.

    The `fixed` ones, such as the audit daemon and the kernel, are the baseline of the comparison.
    `problem` refers to the others, the `switched`, by index.
    """

    fixed: tuple[Control, ...]
    switched: tuple[Control, ...]
    problem: SearchTask


def suspects(
    profile: Profile,
    requires: Mapping[Control, frozenset[Control]] | None = None,
    group_of: Callable[[Control], str] | None = None,
) -> Suspects:
    """Return the controls of a profile to search.

    `requires` maps a control to those that it depends on, beside what its kind says. `group_of`
    names the group of a control; a search prefers to split at the end of a group.
    """
    controls = facts.steady(profile.controls)
    fixed = tuple(one for one in controls if one.in_baseline)
    switched = tuple(one for one in controls if one not in fixed)
    at = {one: n for n, one in enumerate(switched)}
    needs = {
        at[one]: frozenset(at[other] for other in others if other in at)
        for one, others in (requires or {}).items()
        if one in at
    }
    for n, one in enumerate(switched):
        if missing := requirements_of(one, switched):
            needs[n] = frozenset(map(switched.index, missing))
    groups = [group_of(control) if group_of else control.mechanism for control in switched]
    marks = tuple(n for n in range(1, len(groups)) if groups[n] != groups[n - 1])
    return Suspects(fixed, switched, SearchTask(_distinct_names(switched), needs, marks=marks))


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
    found = [one for one in controls if not one.in_baseline]
    single = 2 * len(found) + 2
    seconds = single * _trial_seconds(found, workloads) + _boots(found) * BOOT_SECONDS
    return seconds > WORTH_SECONDS and configurations_bound(len(found), _EXPECTED_CULPRITS) < single


def _trial_seconds(controls: Sequence[Control], workloads: Sequence[Workload]) -> float:
    """Return about how long a trial takes, with the kernel that has to be built for it."""
    if any(one.builds for one in controls):
        return BUILD_SECONDS
    if not any(one.whole_system for one in controls):
        return TRIAL_SECONDS
    calls = all(one.name == _CALLS for one in workloads)
    return SYSTEM_TRIAL_SECONDS if calls else LOAD_SECONDS


def _boots(controls: Sequence[Control]) -> int:
    """Return how many boots single trials take: those of the same boot line share a snapshot."""
    changing = [one for one in controls if one.boots]
    return 2 * len(changing) + 2


def role_with(on: Sequence[int], count: int) -> Role:
    """Return the role of the configuration with the controls `on` out of `count`."""
    if not on:
        return Baseline()
    if len(on) == count:
        return Whole()
    if len(on) == 1:
        return Alone(on[0])
    chosen = set(on)
    off = tuple(index for index in range(count) if index not in chosen)
    return Without(off) if len(off) <= len(on) else With(tuple(on))


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

    After them come the idle rules of `plan.first_rule`, where rules are on the exit list, and
    `placebos` configurations (see `plan.placebos`).

    Raises:
        InputError: There is no such instrument.
    """
    count = len(found.switched)
    ends = dict.fromkeys(((), tuple(range(count))))
    return Plan(
        kind="bill",
        name=plain_name(profile),
        title=profile.title,
        instrument=instrument_named(instrument).name,
        baseline=Baseline(),
        trials=trials(
            [
                *(configuration(found, on) for on in ends),
                *first_rule.configurations((*found.fixed, *found.switched)),
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
    return Configuration(role_with(on, len(found.switched)), comparable_part(controls, whole))


def plan_of_question(
    plan: Plan, found: Suspects, question: Question, first_repetition: int
) -> Plan:
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


def plan_of_states(plan: Plan, found: Suspects, states: Sequence[tuple[int, ...]]) -> Plan:
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
