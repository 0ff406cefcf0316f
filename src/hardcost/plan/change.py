"""The trials that measure a change of a profile: both states, and each without a line.

The earlier profile is `base`, the later one `head`. A control that both have is no part of the
change, wherever it stands; two audit rules are the same if the kernel holds them alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

from hardcost.controls.configuration import Configuration
from hardcost.controls.control import Control, Profile, comparable_part, requirements_of
from hardcost.instruments.names import instrument_named
from hardcost.model.role import Base, Baseline, Whole, Without
from hardcost.model.workload import Workload
from hardcost.plan import first_rule, placebo
from hardcost.plan.factorial import trials
from hardcost.plan.leave_one_out import plain_name
from hardcost.plan.perturbations import note
from hardcost.plan.plan import Plan

ChangeState = Whole | Base
"""A state of the profile: the later one has the role of a bill's profile."""

Lines = tuple[int, ...]
"""Lines of a change that are left out together: the indices of their controls, ascending."""


@dataclass(frozen=True)
class Changes:
    """The controls that only one state has, by their index.

    `of_baseline`: audit's own settings or the kernel are among them. `moved`: the order of the
    controls that both have differs.
    """

    added: tuple[int, ...]
    removed: tuple[int, ...]
    of_baseline: bool
    moved: bool

    @property
    def any(self) -> bool:
        """Whether anything differs."""
        return bool(self.added or self.removed or self.of_baseline or self.moved)


def changes(base: Profile, head: Profile) -> Changes:
    """Return the differences between two profiles."""
    earlier, later = ([one.form for one in state.controls] for state in (base, head))
    added = _beyond(later, Counter(earlier))
    removed = _beyond(earlier, Counter(later))
    common = [
        [form for at, form in enumerate(forms) if at not in own]
        for forms, own in ((earlier, set(removed)), (later, set(added)))
    ]
    fixed = [
        one
        for profile, own in ((head, added), (base, removed))
        for one in (profile.controls[at] for at in own)
        if one.in_baseline
    ]
    return Changes(
        added=tuple(at for at in added if not head.controls[at].in_baseline),
        removed=tuple(at for at in removed if not base.controls[at].in_baseline),
        of_baseline=bool(fixed),
        moved=common[0] != common[1],
    )


def payer(base: Profile, head: Profile) -> ChangeState | None:
    """Return the state that alone pays for having any audit rule; None if none does."""
    earlier, later = (bool(first_rule.indices_paid_for(one.controls)) for one in (base, head))
    if earlier == later:
        return None
    return Whole() if later else Base()


def whole_plan(  # noqa: PLR0913  (each is a choice of its own)
    base: Profile,
    head: Profile,
    workloads: Sequence[Workload],
    *,
    instrument: str,
    seeds: Sequence[int] | None = None,
    repetitions: int | None = None,
) -> Plan:
    """Return the trials of both states, of their baseline, and of placebos.

    If one state alone has rules on the exit list, idle rules show what having any costs, in its
    company. The profiles are `alike`: what the rules of either watch exists under both.
    """
    fixed = tuple(one for one in base.controls if one.in_baseline)
    count = placebo.affordable_placebos(head.controls, workloads)
    found = (
        Configuration(Baseline(), comparable_part(fixed, base.controls)),
        Configuration(Base(), base.controls),
        Configuration(Whole(), head.controls),
        *_idle(base, head),
        *placebo.configurations(head.controls, count),
    )
    measured = instrument_named(instrument)
    grid = trials(
        found,
        workloads,
        instrument=measured.name,
        seeds=tuple(seeds or (0,)),
        repetitions=repetitions,
    )
    return Plan(
        kind="gate",
        name=plain_name(head),
        title=f"before: {base.name}; after: {head.name}",
        instrument=measured.name,
        baseline=Baseline(),
        trials=grid,
        notes=tuple(dict.fromkeys((*base.notes, *head.notes, *note(grid)))),
    )


def lines_plan(plan: Plan, profile: Profile, state: ChangeState, groups: Iterable[Lines]) -> Plan:
    """Return the trials of a state, whose `profile` it is, without groups of the change's lines."""
    found = [
        Configuration(Without(group, state), _controls_without(profile.controls, group))
        for group in groups
    ]
    return replace(
        plan,
        trials=tuple(
            replace(trial, configuration=one)
            for one in found
            for trial in plan.trials
            if trial.configuration.role == Whole()
        ),
    )


def _idle(base: Profile, head: Profile) -> tuple[Configuration, ...]:
    which = payer(base, head)
    if which is None:
        return ()
    return first_rule.configurations((head if which == Whole() else base).controls)


def _controls_without(controls: Sequence[Control], lines: Lines) -> tuple[Control, ...]:
    """Return the controls without some, and without those that require them."""
    gone = [controls[at] for at in lines]
    rest = [one for at, one in enumerate(controls) if at not in lines]
    kept = tuple(
        one for one in rest if not any(it in requirements_of(one, controls) for it in gone)
    )
    return comparable_part(kept, controls)


def _beyond(forms: Sequence[Hashable], known: Counter[Hashable]) -> list[int]:
    """Return the indices of forms that are not among the `known`, each of which counts once."""
    found = []
    for at, form in enumerate(forms):
        if known[form]:
            known[form] -= 1
        else:
            found.append(at)
    return found
