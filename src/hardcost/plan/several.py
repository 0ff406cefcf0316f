"""The plan of several bills that are measured in one run, side by side."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from hardcost.controls.control import AuditDaemon
from hardcost.design.leave_one_out import BASELINE, LONGEST, steady, study_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.controls.control import Profile
    from hardcost.design.plan import Plan, Setup, Trial


def alike(profiles: Sequence[Profile]) -> tuple[Profile, ...]:
    """Return the profiles with daemons that create what any rule of any of them watches.

    The inode numbers are then the same under each profile, and so is the baseline if nothing else
    in it differs.
    """
    every = [control for profile in profiles for control in profile.controls]
    return tuple(
        dataclasses.replace(profile, controls=steady(profile.controls, every))
        for profile in profiles
    )


def together(
    profiles: Sequence[Profile], plans: Sequence[Plan], setup: Setup
) -> tuple[Plan, tuple[Plan, ...]]:
    """Return one plan of all trials and each profile's own plan, with guests set up alike.

    In the plan of all, a configuration's name is `PROFILE: NAME`. Trials of the same state are
    measured once, under whichever name.
    """
    names = " and ".join(study_of(profile).removeprefix("bill-") for profile in profiles)
    whole = dataclasses.replace(
        plans[0],
        study=f"bill-{names.replace(' ', '-')[:LONGEST]}",
        title=" beside ".join(profile.name for profile in profiles),
        baseline=name_in_all(profiles[0], BASELINE),
        trials=tuple(
            _renamed(trial, name_in_all(profile, trial.configuration.name))
            for profile, plan in zip(profiles, plans, strict=True)
            for trial in plan.trials
        ),
        notes=tuple(dict.fromkeys(note for plan in plans for note in plan.notes)),
    ).set_up(setup)
    own = tuple(
        dataclasses.replace(
            plan,
            trials=tuple(dataclasses.replace(one, setup=whole.setup) for one in plan.trials),
        )
        for plan in plans
    )
    return whole, own


def name_in_all(profile: Profile, configuration: str) -> str:
    """Return the name of a profile's configuration in the plan of all."""
    return f"{profile.name}: {configuration}"


def have_one_baseline(plans: Sequence[Plan]) -> bool:
    """Say whether the baselines of all plans are the same state."""
    baselines = {
        one.controls for plan in plans for one in plan.configurations if one.name == BASELINE
    }
    return len(baselines) == 1


def common(profiles: Sequence[Profile]) -> tuple[str, ...]:
    """Return the names of the controls that all profiles have, in the first one's order."""
    others = [{one.name for one in profile.controls} for profile in profiles[1:]]
    return tuple(
        one.name
        for one in profiles[0].controls
        if not isinstance(one, AuditDaemon) and all(one.name in names for names in others)
    )


def _renamed(trial: Trial, name: str) -> Trial:
    return dataclasses.replace(
        trial, configuration=dataclasses.replace(trial.configuration, name=name)
    )
