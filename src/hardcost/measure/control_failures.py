"""A bill whose guests do not bear each control: the others are measured, and it is said why.

A control may panic its guest, hang it, or be refused there. Each is then tried alone; if none fails
by itself, each is left out. What is to blame leaves the profile, and the rest is measured anew.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hardcost.analysis.finding import Unmeasured
from hardcost.analysis.itemise import place
from hardcost.controls.control import Sysctl
from hardcost.design.leave_one_out import BASELINE, PROFILE, alone, only, without
from hardcost.errors import HardcostError, InputError, MachineError
from hardcost.run.monitor import Failed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hardcost.analysis.finding import Failure
    from hardcost.controls.control import Profile
    from hardcost.design.plan import Plan
    from hardcost.run.session import Measured, Run

    Planned = Callable[[Profile], Plan]


@dataclass(frozen=True)
class Spared:
    """What was measured of a profile without the controls `unmeasured`."""

    profile: Profile
    plan: Plan
    measured: Measured
    unmeasured: tuple[Unmeasured, ...] = ()


def measured(profile: Profile, planned: Planned, run: Run) -> Spared:
    """Measure a bill, of which `run` was begun with the plan of the whole profile.

    Raises:
        HardcostError: A trial failed for which no control is to blame, or none is left.
    """
    plan, lost = planned(profile), list[Unmeasured]()
    try:
        return Spared(profile, plan, run.measure())
    except (InputError, MachineError) as error:
        first = error
    failed: HardcostError = first
    while True:
        blamed = _blamed(profile, plan, run, failed)
        lost += (_unmeasured(profile, index, why) for index, why in blamed.items())
        kept = tuple(one for at, one in enumerate(profile.controls) if at not in blamed)
        profile = replace(profile, controls=kept)
        if not _switched(planned(profile)):
            raise first
        for one in lost[-len(blamed) :]:
            run.monitor.hear(Failed(f"{one.control} is not measured: {one.reason}"))
        plan = planned(profile)
        try:
            return Spared(profile, plan, run.measure_instead(plan), tuple(lost))
        except (InputError, MachineError) as error:
            failed = error


def refused_setting(profile: Profile, error: HardcostError) -> tuple[Profile, Unmeasured] | None:
    """Return the profile without the setting that a kernel refused, and why; None if it was none.

    An error about a setting of a file names the setting's own line.
    """
    (problem, *others) = error.problems
    if problem.place is None or others:
        return None
    of = [
        index
        for index, one in enumerate(profile.controls)
        if isinstance(one, Sysctl) and one.place == problem.place
    ]
    if len(of) != 1:
        return None
    kept = (*profile.controls[: of[0]], *profile.controls[of[0] + 1 :])
    reason = f"{problem.message} ({problem.hint})" if problem.hint else problem.message
    return replace(profile, controls=kept), _unmeasured(profile, of[0], reason)


def _switched(plan: Plan) -> bool:
    """Say whether a plan leaves out any control."""
    return any(one.name.startswith(without("")) for one in plan.configurations)


def _blamed(profile: Profile, plan: Plan, run: Run, error: HardcostError) -> dict[int, str]:
    """Return the controls to blame for a failure, by their index, each with the reason.

    Raises:
        HardcostError: `error`; none is to blame.
    """
    every = range(len(profile.controls))
    failures = _failures(plan, [alone(index) for index in every], run, error)
    found = {index: failures[alone(index)] for index in every if alone(index) in failures}
    if found:
        return found
    known = {one.name for one in plan.configurations}
    less = [index for index in every if without(index) in known]
    failures = _failures(plan, [PROFILE, *map(without, less)], run, error)
    if PROFILE in failures:
        for index in less:
            if without(index) not in failures:
                return {index: f"together with the others: {failures[PROFILE]}"}
        raise error
    found = {
        index: f"without it: {failures[without(index)]}"
        for index in less
        if without(index) in failures
    }
    if not found:
        raise error
    return found


def _failures(
    plan: Plan, configurations: Sequence[str], run: Run, error: HardcostError
) -> dict[str, str]:
    """Measure configurations beside the baseline; return why some failed, by their names.

    Raises:
        HardcostError: `error`, where the baseline fails.
    """
    try:
        tried = run.try_out(only(plan, [BASELINE, *configurations]))
    except (InputError, MachineError):
        raise error from None
    found: dict[str, str] = {}
    for failure in tried.failures:
        found.setdefault(failure.configuration, _reason(failure))
    if BASELINE in found:
        raise error
    return found


def _reason(failure: Failure) -> str:
    """Return why a trial failed, without its name, which is not one that a reader knows."""
    reason = failure.reason.removeprefix(f"{failure.configuration}, {failure.workload}: ")
    return f"{reason} ({failure.hint})" if failure.hint else reason


def _unmeasured(profile: Profile, index: int, reason: str) -> Unmeasured:
    control = profile.controls[index]
    at = place(control)
    return Unmeasured(control.name, reason.removeprefix(f"{at}: "), at)
