"""The plan of several bills that are measured in one run, side by side."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from hardcost.controls.configuration import Setup
from hardcost.controls.control import Profile
from hardcost.mechanisms import facts
from hardcost.model.role import Baseline, OfProfile, Role
from hardcost.plan.leave_one_out import LONGEST, plain_name
from hardcost.plan.plan import Plan, Trial


def make_alike(profiles: Sequence[Profile]) -> tuple[Profile, ...]:
    """Return the profiles with daemons that create all paths that a rule of any watches.

    The inode numbers are then the same under each profile, and so is the baseline if nothing else
    in it differs.
    """
    every = [control for profile in profiles for control in profile.controls]
    return tuple(
        dataclasses.replace(profile, controls=facts.steady(profile.controls, every))
        for profile in profiles
    )


def plan_together(
    profiles: Sequence[Profile], plans: Sequence[Plan], setup: Setup
) -> tuple[Plan, tuple[Plan, ...]]:
    """Return one plan of all trials and each profile's own plan, with guests set up alike.

    In the plan of all, a configuration's role is `OfProfile`. Trials of the same state are
    measured once, under whichever name.
    """
    names = " and ".join(plain_name(profile) for profile in profiles)
    whole = dataclasses.replace(
        plans[0],
        name=names.replace(" ", "-")[:LONGEST],
        title=" beside ".join(profile.name for profile in profiles),
        baseline=OfProfile(profiles[0].name, Baseline()),
        trials=tuple(
            _with_role(trial, OfProfile(profile.name, trial.configuration.role))
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


def have_one_baseline(plans: Sequence[Plan]) -> bool:
    """Say whether the baselines of all plans are the same state."""
    baselines = {
        one.controls for plan in plans for one in plan.configurations if one.role == Baseline()
    }
    return len(baselines) == 1


def common_controls(profiles: Sequence[Profile]) -> tuple[str, ...]:
    """Return the names of the billed controls that all profiles have, in the first one's order."""
    others = [{one.name for one in profile.controls} for profile in profiles[1:]]
    return tuple(
        one.name
        for one in profiles[0].controls
        if not one.in_baseline and all(one.name in names for names in others)
    )


def _with_role(trial: Trial, role: Role) -> Trial:
    return dataclasses.replace(
        trial, configuration=dataclasses.replace(trial.configuration, role=role)
    )
