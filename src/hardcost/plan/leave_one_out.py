"""The plan of a bill: the whole profile, the profile without each control, each control alone.

Leaving a control out saves its cost in the profile's company. Measured alone, over the baseline, it
shows its cost by itself. Where the two differ, controls interact.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

from hardcost.auditrules.rule import with_key
from hardcost.controls import watchedpaths
from hardcost.controls.control import (
    AuditDaemon,
    AuditRule,
    BootParameter,
    Kernel,
    comparable,
    needed,
)
from hardcost.design import anyrule
from hardcost.design import placebos as placebo
from hardcost.design.factorial import trials
from hardcost.design.perturbations import note, of_each_trial
from hardcost.design.plan import Configuration, Plan, Trial
from hardcost.errors import InputError
from hardcost.instruments.names import instrument as instrument_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.controls.control import Control, Profile
    from hardcost.design.plan import Workload

BASELINE = "baseline"
PROFILE = "profile"
AUDIT_OFF = "audit-off"
FIRED = "fired"
ORIGINAL = "original"

MOST_CONTROLS = 1000
"""Most controls that a bill measures one by one: the work grows with the square of the number."""

_BUCKETS = (
    "the kernel looks rules on files up by the inode number modulo 32, so it also tries them on"
    " other files with the same remainder: that may be the cost of such a rule that fired 0 times"
)
_AS_IT_IS = "the baseline is the machine as it is: a setting that it already has costs nothing here"
LONGEST = 60
"""Most characters of a profile's name in a study's name, which is part of a file's name."""

_DISABLED = "-e 0"  # as auditctl takes it
_KEY = "hardcost-{}"
_KEY_FORM = re.compile(r"hardcost-(\d+)")


def without(index: int | str) -> str:
    """Return the name of the configuration that lacks the profile's control `index` (from 0)."""
    return f"without:{index}"


def alone(index: int) -> str:
    """Return the name of the configuration with the profile's control `index` (from 0) alone."""
    return f"alone:{index}"


def without_all(indices: Sequence[int]) -> str:
    """Return the name of the configuration that lacks several of the profile's controls."""
    return "without:" + "+".join(str(index) for index in sorted(indices))


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
    `design.anyrule` adds three that show what having any costs, whichever it is. If there are
    rules, `fired` is the profile with a key of its own for each rule, so that the records show
    which rules fired; it is measured once for each workload, for counting only, never for cost. The
    `placebos` further configurations change nothing (see `design.placebos`).

    A machine that is `running` already is not booted for it: in `audit-off` audit is disabled by
    its state, and there is no `fired`, since the machine's own daemon takes the records.

    Raises:
        InputError: There is no such instrument, or there are more controls than `MOST_CONTROLS`.
    """
    measured = instrument_named(instrument)
    seeds = tuple(seeds or (0,))
    often = [len(of_each_trial(one, measured.name, wanted=repetitions)) for one in workloads]
    _check_number(profile, len(seeds) * sum(often))
    controls = steady(profile.controls)
    grid = trials(
        (
            *_configurations(controls, running=running),
            *anyrule.configurations(controls),
            *placebo.configurations(controls, placebos, running=running),
        ),
        workloads,
        instrument=measured.name,
        seeds=seeds,
        repetitions=repetitions,
    )
    fired = Configuration(FIRED, tuple(_keyed(control, i) for i, control in enumerate(controls)))
    counted = tuple(
        Trial(fired, workload, measured.name, seeds[0])
        for workload in workloads
        if not running and any(isinstance(control, AuditRule) for control in controls)
    )
    return Plan(
        study=study_of(profile),
        title=profile.title,
        instrument=measured.name,
        baseline=BASELINE,
        trials=(*grid, *counted),
        notes=(*profile.notes, *_notes(controls, running=running), *note(grid)),
    )


def _check_number(profile: Profile, times: int) -> None:
    """Check that a bill by single trials is feasible, each trial measured `times` times.

    Raises:
        InputError: It is not.
    """
    number = len(profile.controls)
    if number > MOST_CONTROLS:
        raise InputError(
            f"{number} controls are too many to measure one by one: that would be about"
            f" {2 * number * times} trials, and the limit is {MOST_CONTROLS} controls",
            hint="--method search measures few configurations, and finds the controls that cost"
            " most",
        )


def kept_plan(plan: Plan, profile: Profile, dropped: Sequence[int]) -> Plan:
    """Return the trials of `profile` without the controls `dropped`, beside the bill's `plan`."""
    controls = steady(profile.controls)
    kept = [control for index, control in enumerate(controls) if index not in dropped]
    configuration = Configuration(without_all(dropped), comparable(kept, controls))
    return dataclasses.replace(
        plan,
        trials=tuple(
            dataclasses.replace(trial, configuration=configuration)
            for trial in plan.trials
            if trial.configuration.name == PROFILE
        ),
    )


def with_original(plan: Plan, original: Profile) -> Plan:
    """Return a bill's plan with the trials of the profile that the bill's own is equivalent to."""
    configuration = Configuration(ORIGINAL, steady(original.controls))
    own = [trial for trial in plan.trials if trial.configuration.name == PROFILE]
    more = [dataclasses.replace(trial, configuration=configuration) for trial in own]
    return dataclasses.replace(plan, trials=(*plan.trials, *more))


def only(plan: Plan, configurations: Sequence[str]) -> Plan:
    """Return a plan's trials of some of its configurations."""
    trials = tuple(one for one in plan.trials if one.configuration.name in configurations)
    return dataclasses.replace(plan, trials=trials)


def _notes(controls: Sequence[Control], *, running: bool) -> tuple[str, ...]:
    """Return what a reader of the bill must know beside the profile's own notes."""
    rules = [control.rule for control in controls if isinstance(control, AuditRule)]
    _, files = watchedpaths.paths(rules)
    together = (
        f"{control.name} is left out together with {need.name}, which it requires"
        for control in controls
        for need in needed(control, controls)
    )
    known = (_AS_IT_IS,) if running else (_BUCKETS,) if files else ()
    return (*known, *together)


def _configurations(controls: Sequence[Control], *, running: bool) -> tuple[Configuration, ...]:
    """Return all configurations but `fired`, in the order in which they are measured."""
    fixed = tuple(one for one in controls if isinstance(one, AuditDaemon | Kernel))
    found = [
        Configuration(BASELINE, comparable(fixed, controls)),
        Configuration(PROFILE, tuple(controls)),
    ]
    daemon = next((one for one in fixed if isinstance(one, AuditDaemon)), None)
    if daemon is not None:
        kernel = (one for one in fixed if isinstance(one, Kernel))
        by_state = dataclasses.replace(daemon, options=(_DISABLED,))
        off: tuple[Control, ...] = (by_state if running else BootParameter("audit=0"), *kernel)
        found.append(Configuration(AUDIT_OFF, comparable(off, controls)))
    for index, control in enumerate(controls):
        if control in fixed:
            continue
        rest = (*controls[:index], *controls[index + 1 :])
        single = (*fixed, *needed(control, controls), control)
        found.append(Configuration(without(index), comparable(rest, controls)))
        found.append(Configuration(alone(index), comparable(single, controls)))
    return tuple(found)


def steady(
    controls: Sequence[Control], among: Sequence[Control] | None = None
) -> tuple[Control, ...]:
    """Return the controls, with a daemon that creates what any of the rules watches.

    `among` are the controls whose rules and daemons count, if they are others. Leaving out a rule
    then doesn't shift the inode numbers of other files, and with them the cost of other rules.
    """
    every = controls if among is None else among
    daemons = [control for control in every if isinstance(control, AuditDaemon)]
    directories, files = watchedpaths.paths(
        [control.rule for control in every if isinstance(control, AuditRule)],
        (path for daemon in daemons for path in daemon.directories),
        (path for daemon in daemons for path in daemon.files),
    )
    return tuple(
        dataclasses.replace(control, directories=directories, files=files)
        if isinstance(control, AuditDaemon)
        else control
        for control in controls
    )


def _keyed(control: Control, index: int) -> Control:
    """Return a control of the configuration `fired`."""
    if isinstance(control, AuditRule):
        return AuditRule(with_key(control.rule, _KEY.format(index)))
    return control


def study_of(profile: Profile) -> str:
    """Return the name of a profile's bill as a study; for a path, its last part."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", profile.name.rstrip("/").rpartition("/")[2])
    return f"bill-{plain[:LONGEST].strip('-') or 'profile'}"
