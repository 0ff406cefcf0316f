"""The trials that say what a change of a profile costs: both states, and what each line does.

The earlier profile is `base`, the later one `head`. A control that both have is no part of the
change, wherever it stands; two audit rules are the same if the kernel holds them alike.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hardcost.auditrules.rule import RulesError
from hardcost.auditrules.translate import translate
from hardcost.controls.control import AuditDaemon, AuditRule, Kernel, comparable, needed
from hardcost.design import anyrule
from hardcost.design import placebos as placebo
from hardcost.design.factorial import trials
from hardcost.design.leave_one_out import BASELINE, LONGEST, PROFILE, steady, study_of, without
from hardcost.design.perturbations import note
from hardcost.design.plan import Configuration, Plan
from hardcost.instruments.names import instrument as instrument_named

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from hardcost.controls.control import Control, Profile
    from hardcost.design.plan import Workload

BASE = "base"
HEAD = PROFILE
"""The later state has the name of a bill's profile, since placebos are compared with that."""


def without_of_base(index: int) -> str:
    """Return the name of the configuration that lacks `base`'s control `index` (from 0)."""
    return f"{BASE}-{without(index)}"


@dataclass(frozen=True)
class Changes:
    """The controls that only one state has, by their index; what both have is left out.

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
    """Return what differs between two profiles."""
    earlier, later = list(map(_form, base.controls)), list(map(_form, head.controls))
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
        if _is_fixed(one)
    ]
    return Changes(
        added=tuple(at for at in added if not _is_fixed(head.controls[at])),
        removed=tuple(at for at in removed if not _is_fixed(base.controls[at])),
        of_baseline=bool(fixed),
        moved=common[0] != common[1],
    )


def payer(base: Profile, head: Profile) -> str:
    """Return the state that alone pays for having any audit rule, BASE or HEAD; "" if none does."""
    earlier, later = (bool(anyrule.paid_for(one.controls)) for one in (base, head))
    if earlier == later:
        return ""
    return HEAD if later else BASE


def whole_plan(  # noqa: PLR0913  (each is a choice of its own)
    base: Profile,
    head: Profile,
    workloads: Sequence[Workload],
    *,
    instrument: str,
    seeds: Sequence[int] | None = None,
    repetitions: int | None = None,
) -> Plan:
    """Return the trials of both states, of what they are compared with, and of placebos.

    If one state alone has rules on the exit list, idle rules show what having any costs, in its
    company. The profiles are `alike`: what the rules of either watch exists under both.
    """
    controls = steady(head.controls)
    fixed = tuple(one for one in steady(base.controls) if _is_fixed(one))
    count = placebo.affordable(controls, workloads)
    found = (
        Configuration(BASELINE, comparable(fixed, base.controls)),
        Configuration(BASE, steady(base.controls)),
        Configuration(HEAD, controls),
        *_idle(base, head),
        *placebo.configurations(controls, count),
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
        study=f"gate-{study_of(head).removeprefix('bill-')[:LONGEST]}",
        title=f"before: {base.name}; after: {head.name}",
        instrument=measured.name,
        baseline=BASELINE,
        trials=grid,
        notes=tuple(dict.fromkeys((*base.notes, *head.notes, *note(grid)))),
    )


def lines_plan(
    plan: Plan, base: Profile, head: Profile, added: Sequence[int], removed: Sequence[int]
) -> Plan:
    """Return the trials of each state without one of the change's lines, beside `plan`."""
    found = [
        Configuration(name(at), _without(steady(profile.controls), at))
        for profile, own, name in ((head, added, without), (base, removed, without_of_base))
        for at in own
    ]
    return replace(
        plan,
        trials=tuple(
            replace(trial, configuration=one)
            for one in found
            for trial in plan.trials
            if trial.configuration.name == HEAD
        ),
    )


def _idle(base: Profile, head: Profile) -> tuple[Configuration, ...]:
    which = payer(base, head)
    if not which:
        return ()
    return anyrule.configurations(steady((head if which == HEAD else base).controls))


def _without(controls: Sequence[Control], index: int) -> tuple[Control, ...]:
    """Return the controls without one, and without those that require it."""
    rest = (*controls[:index], *controls[index + 1 :])
    gone = controls[index]
    kept = tuple(one for one in rest if gone not in needed(one, controls))
    return comparable(kept, controls)


def _beyond(forms: Sequence[Hashable], known: Counter[Hashable]) -> list[int]:
    """Return the indices of forms that are not among the `known`, each of which counts once."""
    found = []
    for at, form in enumerate(forms):
        if known[form]:
            known[form] -= 1
        else:
            found.append(at)
    return found


def _form(control: Control) -> Hashable:
    """Return what makes a control the same: of an audit rule, what the kernel holds."""
    if isinstance(control, AuditRule):
        try:
            return translate(control.rule)
        except RulesError:
            return control.name
    return control


def _is_fixed(control: Control) -> bool:
    return isinstance(control, AuditDaemon | Kernel)
