"""Bills with controls under which guests fail: those are left out, and reported with the reason.

A control may panic its guest, hang it, or be refused there. Then each is tried alone; if none fails
by itself, each is left out in turn. The culprits leave the profile, and the rest is measured again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from hardcost.controls.control import Profile
from hardcost.errors import HardcostError, InputError, MachineError
from hardcost.measure.monitor import Failed
from hardcost.measure.run import Run, TrialResults
from hardcost.model.finding.bill import Unmeasured
from hardcost.model.finding.failure import Failure
from hardcost.model.role import Alone, Baseline, Role, Whole, Without
from hardcost.plan.leave_one_out import trials_of_roles
from hardcost.plan.plan import Plan

PlanFor = Callable[[Profile], Plan]


def _all(plan: Plan) -> Plan:
    return plan


@dataclass(frozen=True)
class Spared:
    """What was measured of a profile without the controls `unmeasured`."""

    profile: Profile
    plan: Plan
    measured: TrialResults
    unmeasured: tuple[Unmeasured, ...] = ()


def measure_and_drop_failing(
    profile: Profile, plan_for: PlanFor, run: Run, part: Callable[[Plan], Plan] = _all
) -> Spared:
    """Measure `part` of a bill, with which `run` was begun, of the whole profile.

    Raises:
        HardcostError: A trial failed for which no control is to blame, or none is left.
    """
    plan, lost = plan_for(profile), list[Unmeasured]()
    try:
        return Spared(profile, plan, run.measure())
    except (InputError, MachineError) as error:
        first = error
    failed: HardcostError = first
    while True:
        blamed = _controls_to_blame(profile, plan, run, failed)
        lost += (_unmeasured_control(profile, index, why) for index, why in blamed.items())
        kept = tuple(one for at, one in enumerate(profile.controls) if at not in blamed)
        profile = replace(profile, controls=kept)
        plan = plan_for(profile)
        if not _leaves_out_any(plan):
            raise first
        for one in lost[-len(blamed) :]:
            run.monitor.hear(Failed(f"{one.named} is not measured: {one.reason}"))
        try:
            return Spared(profile, plan, run.measure_plan(part(plan)), tuple(lost))
        except (InputError, MachineError) as error:
            failed = error


def refused_setting(profile: Profile, error: HardcostError) -> tuple[Profile, Unmeasured] | None:
    """Return the profile without the setting that a kernel refused, and why; None if it was none.

    An error about a setting of a file names the setting's own line.
    """
    (problem, *others) = error.problems
    if problem.place is None or others:
        return None
    refused = [
        index
        for index, one in enumerate(profile.controls)
        if one.may_be_refused and one.place == problem.place
    ]
    if len(refused) != 1:
        return None
    kept = (*profile.controls[: refused[0]], *profile.controls[refused[0] + 1 :])
    reason = f"{problem.message} ({problem.hint})" if problem.hint else problem.message
    return replace(profile, controls=kept), _unmeasured_control(profile, refused[0], reason)


def _leaves_out_any(plan: Plan) -> bool:
    """Say whether a plan leaves out any control."""
    return any(isinstance(one.role, Without) for one in plan.configurations)


def _controls_to_blame(
    profile: Profile, plan: Plan, run: Run, error: HardcostError
) -> dict[int, str]:
    """Return the controls to blame for a failure, by their index, each with the reason."""
    every = range(len(profile.controls))
    failures = _failures(plan, [Alone(index) for index in every], run, error)
    found = {index: failures[Alone(index)] for index in every if Alone(index) in failures}
    if found:
        return found
    known = {one.role for one in plan.configurations}
    less = {index: one for index in every if (one := Without((index,))) in known}
    failures = _failures(plan, [Whole(), *less.values()], run, error)
    if Whole() in failures:
        for index, role in less.items():
            if role not in failures:
                return {index: f"together with the others: {failures[Whole()]}"}
        raise error
    found = {
        index: f"without it: {failures[role]}" for index, role in less.items() if role in failures
    }
    if not found:
        raise error
    return found


def _failures(plan: Plan, roles: Sequence[Role], run: Run, error: HardcostError) -> dict[Role, str]:
    """Measure configurations beside the baseline; return why some failed, by their roles."""
    try:
        tried = run.measure_plan(trials_of_roles(plan, [Baseline(), *roles]), keep_going=True)
    except (InputError, MachineError):
        raise error from None
    found: dict[Role, str] = {}
    for failure in tried.failures:
        found.setdefault(failure.configuration, _reason(failure))
    if Baseline() in found:
        raise error
    return found


def _reason(failure: Failure) -> str:
    """Return why a trial failed."""
    return f"{failure.reason} ({failure.hint})" if failure.hint else failure.reason


def _unmeasured_control(profile: Profile, index: int, reason: str) -> Unmeasured:
    control = profile.controls[index]
    return Unmeasured(control.name, reason.removeprefix(f"{control.place}: "), control.place)
