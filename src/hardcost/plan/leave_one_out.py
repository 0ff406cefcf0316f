"""The plan of a bill: the whole profile, the profile without each control, each control alone.

Leaving a control out saves its cost in the profile's company. Measured alone, over the baseline, it
shows its cost by itself. Where the two differ, controls interact.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Sequence

from hardcost.controls.configuration import Configuration
from hardcost.controls.control import Control, Profile, comparable_part, requirements_of
from hardcost.errors import InputError
from hardcost.instruments.names import instrument_named
from hardcost.mechanisms import facts
from hardcost.model.role import Alone, AuditOff, Baseline, Fired, Original, Role, Whole, Without
from hardcost.model.workload import Workload
from hardcost.plan import first_rule, placebo
from hardcost.plan.factorial import trials
from hardcost.plan.perturbations import note, perturbations_by_trial
from hardcost.plan.plan import Plan, Trial

MOST_CONTROLS = 1000
"""Most controls that a bill measures one by one: the work grows with the square of the number."""

_AS_IT_IS = "the baseline is the machine as it is: a setting that it already has adds no cost here"
LONGEST = 60
"""Most characters of a profile's name in a study's name, which is part of a file's name."""

_KEY = "hardcost-{}"
_KEY_FORM = re.compile(r"hardcost-(\d+)")


def index_of(key: str) -> int | None:
    """Return the index of the control whose rule has `key` in the configuration `fired`."""
    match = _KEY_FORM.fullmatch(key)
    return int(match[1]) if match else None


def bill_plan(  # noqa: PLR0913  (each is a choice of its own)
    profile: Profile,
    workloads: Sequence[Workload],
    *,
    instrument: str = "insn",
    seeds: Sequence[int] | None = None,
    repetitions: int | None = None,
    placebos: int = 0,
    running: bool = False,
) -> Plan:
    """Return the trials that itemise a profile.

    The configurations are `baseline` (the profile's audit daemon and kernel, and nothing else),
    `profile`, `audit-off` (booted with audit=0, for scale, if the profile has a daemon), and for
    each control I that is not part of the baseline `without:I`, which also lacks what depends on
    it, and `alone:I`, which also has what it depends on. If rules are on the exit list,
    `plan.first_rule` adds three that show what having any costs, whichever it is. If there are
    rules, `fired` is the profile with a key of its own for each rule, so that the records show
    which rules fired; it is measured once for each workload, for counting only, never for cost. The
    `placebos` further configurations change nothing (see `plan.placebos`).

    A machine that is `running` already is not booted for it: in `audit-off` audit is disabled by
    its state, and there is no `fired`, since the machine's own daemon takes the records.

    Raises:
        InputError: There is no such instrument, or there are more controls than `MOST_CONTROLS`.
    """
    measured = instrument_named(instrument)
    seeds = tuple(seeds or (0,))
    each = (perturbations_by_trial(one, measured.name, wanted=repetitions) for one in workloads)
    _check_number(profile, len(seeds) * sum(map(len, each)))
    controls = facts.steady(profile.controls)
    grid = trials(
        (
            *_configurations(controls, running=running),
            *first_rule.configurations(controls),
            *placebo.configurations(controls, placebos, running=running),
        ),
        workloads,
        instrument=measured.name,
        seeds=seeds,
        repetitions=repetitions,
    )
    keyed = tuple(one.with_record_key(_KEY.format(index)) for index, one in enumerate(controls))
    fired = Configuration(Fired(), keyed)
    counted = tuple(
        Trial(fired, workload, measured.name, seeds[0])
        for workload in workloads
        if not running and any(one.fires for one in controls)
    )
    return Plan(
        kind="bill",
        name=plain_name(profile),
        title=profile.title,
        instrument=measured.name,
        baseline=Baseline(),
        trials=(*grid, *counted),
        notes=(*profile.notes, *_notes(controls, running=running), *note(grid)),
    )


def _check_number(profile: Profile, times: int) -> None:
    """Check that a bill by single trials is feasible, each trial measured `times` times.

    What the baseline has, such as audit's daemon, is not left out and does not count.
    """
    number = sum(not one.in_baseline for one in profile.controls)
    if number > MOST_CONTROLS:
        raise InputError(
            f"{number} controls are too many to measure one by one: that would be about"
            f" {2 * number * times} trials, and the limit is {MOST_CONTROLS} controls",
            hint="`method` search measures few configurations, and finds the controls that cost"
            " most",
        )


def kept_plan(plan: Plan, dropped: Sequence[int]) -> Plan:
    """Return the trials of the whole without the controls `dropped`, beside the bill's `plan`."""
    (controls,) = (one.controls for one in plan.configurations if one.role == Whole())
    kept = [control for index, control in enumerate(controls) if index not in dropped]
    configuration = Configuration(Without(tuple(sorted(dropped))), comparable_part(kept, controls))
    return dataclasses.replace(
        plan,
        trials=tuple(
            dataclasses.replace(trial, configuration=configuration)
            for trial in plan.trials
            if trial.configuration.role == Whole()
        ),
    )


def with_original(plan: Plan, original: Profile) -> Plan:
    """Return a bill's plan with the trials of the profile that the bill's own is equivalent to."""
    configuration = Configuration(Original(), facts.steady(original.controls))
    own = [trial for trial in plan.trials if trial.configuration.role == Whole()]
    more = [dataclasses.replace(trial, configuration=configuration) for trial in own]
    return dataclasses.replace(plan, trials=(*plan.trials, *more))


def trials_of_roles(plan: Plan, roles: Collection[Role]) -> Plan:
    """Return a plan's trials of some of its configurations."""
    trials = tuple(one for one in plan.trials if one.configuration.role in roles)
    return dataclasses.replace(plan, trials=trials)


def _notes(controls: Sequence[Control], *, running: bool) -> tuple[str, ...]:
    """Return notes for the reader of the bill beside the profile's own."""
    together = (
        f"{control.name} is left out together with {need.name}, which it requires"
        for control in controls
        for need in requirements_of(control, controls)
    )
    about = (_AS_IT_IS,) if running else facts.remarks(controls)
    return (*about, *together)


def _configurations(controls: Sequence[Control], *, running: bool) -> tuple[Configuration, ...]:
    """Return all configurations but `fired`, in the order in which they are measured."""
    fixed = tuple(one for one in controls if one.in_baseline)
    found = [
        Configuration(Baseline(), comparable_part(fixed, controls)),
        Configuration(Whole(), tuple(controls)),
    ]
    switched_off = [one.switched_off(running=running) for one in fixed]
    if any(switched_off):
        off = tuple(it or one for it, one in zip(switched_off, fixed, strict=True))
        found.append(Configuration(AuditOff(), comparable_part(off, controls)))
    for index, control in enumerate(controls):
        if control in fixed:
            continue
        rest = (*controls[:index], *controls[index + 1 :])
        single = (*fixed, *requirements_of(control, controls), control)
        found.append(Configuration(Without((index,)), comparable_part(rest, controls)))
        found.append(Configuration(Alone(index), comparable_part(single, controls)))
    return tuple(found)


def plain_name(profile: Profile) -> str:
    """Return a profile's name as a part of a file's name; for a path, its last part."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", profile.name.rstrip("/").rpartition("/")[2])
    return plain[:LONGEST].strip("-") or "profile"
