"""A bill by group testing: the search asks, a run answers, until the culprits are named."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from hardcost.analysis import blamed
from hardcost.analysis.accounting import with_accounting
from hardcost.analysis.estimates import cells
from hardcost.analysis.finding import Finding
from hardcost.analysis.resolved import resolved
from hardcost.cli import console, measuring
from hardcost.cli.billsingle import baseline_note, without
from hardcost.cli.defaultmarks import with_defaults
from hardcost.cli.present import notes_of
from hardcost.controls.apply import kernel
from hardcost.controls.control import KernelOption
from hardcost.design import culprits, placebos
from hardcost.design.anyrule import is_idle
from hardcost.design.compared import compared_with
from hardcost.design.group_testing import Settings, bound, statement
from hardcost.design.leave_one_out import PROFILE
from hardcost.errors import HardcostError, InputError, MachineError
from hardcost.instruments.names import instrument as instrument_named
from hardcost.machines.machine import Boot
from hardcost.profiles.kernel import kerneloptions
from hardcost.profiles.kernel.defaults import switched_off
from hardcost.run.monitor import Failed
from hardcost.run.prepare import boot_of, check_able
from hardcost.run.search import Search
from hardcost.run.spared import refused_setting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hardcost.analysis.finding import Search as Story
    from hardcost.analysis.finding import Unmeasured
    from hardcost.cli.measuring import Monitored
    from hardcost.cli.options import Choices
    from hardcost.cli.weights import Wanted as Weighed
    from hardcost.controls.control import Control, Profile
    from hardcost.design.culprits import Suspects
    from hardcost.design.group_testing import Outcome
    from hardcost.design.plan import Plan, Workload
    from hardcost.instruments.instrument import Instrument
    from hardcost.machines.machine import KernelRecipe
    from hardcost.run.session import Run
    from hardcost.store.record import Record

MOST_KERNELS = 12
"""Configurations of a search that builds kernels, unless the user allows more."""

_FORESEEN_CULPRITS = 3  # so many as the search's own statement speaks of

_USUAL_NOISE = 0.02  # relative, of an instrument that is not exact; the search finds its own


@dataclass(frozen=True)
class Wanted:
    """How the user wants a search: the least cost that matters, the most configurations."""

    resolution: float
    most: int | None


def bill(
    profile: Profile,
    workloads: Sequence[Workload],
    chosen: Choices,
    wanted: Wanted,
    weighed: Weighed,
) -> None:
    """Search for what is to blame for a profile's cost; print, save and report the bill.

    Raises:
        HardcostError: Something is wrong with the input, the machine, a trial or the store.
    """
    if chosen.repetitions is not None:
        raise InputError(
            "a search decides itself how often it measures",
            hint="leave --repetitions out, or take --method single",
        )
    on = _machine_for_options(profile, workloads, chosen)

    def asked_of(billed: Profile) -> _Asked:
        kept, found = _suspects(billed, on)
        return _Asked(kept, found, _first_plan(kept, found, workloads, chosen))

    asked = asked_of(profile)
    settings = _settings(asked.found, chosen, wanted)
    said = statement(asked.found.problem, settings)
    console.note(said)
    plan = replace(asked.plan, notes=(*asked.plan.notes, said)) if chosen.dry_run else asked.plan
    most = most_configurations(asked.found, settings)
    with measuring.run_of(plan, chosen, most=most, on=on) as run:
        if run is None:
            return
        if chosen.running:  # nothing is tried out on a machine that somebody uses
            begun = _Begun(asked, run.measure().records)
        else:
            begun = _begun(asked, run, asked_of)
        asked, found = begun.asked, begun.asked.found
        searched = Search(run, asked.plan, found, begun.records)
        outcome = searched.outcome(_above_chance(settings, begun.records))
        named_by = blamed.guide_name(begun.records)
        story = blamed.story(found.problem.names, outcome, said, named_by)
        finding = _finding(asked, run.name, outcome, searched.records, story)
        if finding.bill is not None:
            finding = replace(finding, bill=weighed.on(finding.bill))
        finding = measuring.finished(run, without(finding, begun.unmeasured))
    measuring.shown(finding, chosen)
    if begun.unmeasured:
        raise click.exceptions.Exit(MachineError.exit_status)


@dataclass(frozen=True)
class _Asked:
    """What a search asks: which of a profile's controls may be switched, and its first plan."""

    profile: Profile
    found: Suspects
    plan: Plan


@dataclass(frozen=True)
class _Begun:
    """What a search begins with: its first records, without the settings that were refused."""

    asked: _Asked
    records: tuple[Record, ...]
    unmeasured: tuple[Unmeasured, ...] = ()


def _begun(asked: _Asked, run: Run, again: Callable[[Profile], _Asked]) -> _Begun:
    """Measure what a search begins with, without the settings that the guest's kernel refuses.

    Raises:
        HardcostError: A trial failed, and it is not known which setting is to blame.
    """
    lost: list[Unmeasured] = []
    while True:
        try:
            measured = run.measure_instead(asked.plan) if lost else run.measure()
        except HardcostError as error:
            refused = refused_setting(asked.profile, error)
            if refused is None:
                raise
            profile, unmeasured = refused
            lost.append(unmeasured)
            run.monitor.hear(Failed(f"{unmeasured.control} is not measured: {unmeasured.reason}"))
            asked = again(profile)
        else:
            return _Begun(asked, measured.records, tuple(lost))


def _machine_for_options(
    profile: Profile, workloads: Sequence[Workload], chosen: Choices
) -> Monitored | None:
    """Return the machine where it has to be asked about kernel options, and can do what is wanted.

    Raises:
        InputError: A workload is wrong, or the profile is beyond the machine.
    """
    recipe = kernel(profile.controls)
    if recipe is None or not recipe.options:
        return None
    everything = culprits.suspects(profile, group_of=_group_of)
    plan = _first_plan(profile, everything, workloads, chosen)
    on = measuring.monitored(plan, chosen)
    check_able(map(boot_of, plan.trials), plan.instrument, on.machine)
    return on


def _suspects(profile: Profile, on: Monitored | None) -> tuple[Profile, Suspects]:
    """Return what a search may switch, and the profile without what it need not ask about.

    Raises:
        InputError: There is nothing to be searched.
    """
    recipe, requires = kernel(profile.controls), None
    if recipe is not None and on is not None:
        profile, requires = _that_hold(profile, recipe, on)
    found = culprits.suspects(profile, requires, _group_of)
    if not found.switched:
        why = "; ".join(profile.notes)
        raise InputError(f"nothing in the profile {profile.name} can be searched: {why}")
    return profile, found


def _settings(found: Suspects, chosen: Choices, wanted: Wanted) -> Settings:
    """Return how the search goes: of kernels that are built it measures fewer."""
    builds = any(isinstance(one, KernelOption) for one in found.switched)
    return Settings(
        threshold=wanted.resolution,
        most=wanted.most or (MOST_KERNELS if builds else None),
        noise=None if _instrument(chosen).exact else _USUAL_NOISE,
    )


def _first_plan(
    profile: Profile, found: Suspects, workloads: Sequence[Workload], chosen: Choices
) -> Plan:
    """Return what is measured before the search asks: the baseline, the whole, and placebos."""
    exact = _instrument(chosen).exact
    return culprits.first_plan(
        profile,
        found,
        workloads,
        instrument=_instrument(chosen).name,
        seeds=chosen.seeds,
        placebos=placebos.affordable((*found.fixed, *found.switched), workloads) if exact else 0,
    ).set_up(chosen.setup)


def _instrument(chosen: Choices) -> Instrument:
    return instrument_named(chosen.measured_by)


def most_configurations(found: Suspects, settings: Settings) -> int:
    """Return how many configurations a search is to be expected to measure at most."""
    most = bound(len(found.switched), _FORESEEN_CULPRITS)
    return most if settings.most is None else min(most, settings.most)


def _above_chance(settings: Settings, records: Sequence[Record]) -> Settings:
    """Return the settings with a resolution that placebos do not reach."""
    chance = blamed.chance(records)
    if chance <= settings.threshold:
        return settings
    console.note(
        f"placebos seem to cost {chance:.2%} of the baseline: the search looks for no less"
    )
    return replace(settings, threshold=chance)


def _finding(
    asked: _Asked, run: str, outcome: Outcome, records: Sequence[Record], story: Story
) -> Finding:
    profile, plan, found = asked.profile, asked.plan, asked.found
    bill = resolved(blamed.itemise(profile, found.problem, outcome, records), records)
    bill = replace(bill, compared_with=compared_with(profile))
    bill = with_defaults(with_accounting(bill, profile, plan.instrument), profile)
    measured = culprits.measured(plan, found, [step.on for step in outcome.steps])
    whole = [one for one in records if one.configuration == PROFILE]
    return Finding(
        run=run,
        study=plan.study,
        title=plan.title,
        instrument=plan.instrument,
        cells=cells(
            measured,
            [
                one
                for one in records
                if not (placebos.reference(one.configuration) or is_idle(one.configuration))
            ],
        ),
        notes=tuple(
            dict.fromkeys(
                (
                    baseline_note(profile),
                    *plan.notes,
                    *(why for _, why in switched_off(profile.controls)),
                    *notes_of(whole),
                )
            )
        ),
        bill=bill,
        search=story,
    )


def _that_hold(
    profile: Profile, recipe: KernelRecipe, on: Monitored
) -> tuple[Profile, Mapping[str, frozenset[str]]]:
    """Return the profile without kernel options that change nothing or can't hold, with notes."""
    on.machine.fetch((Boot(kernel=recipe),), on.monitor.note)
    console.note("asking Kconfig what the options change in the base configuration …")
    known = on.machine.relations(recipe)
    kept = {KernelOption(name, value) for name, value in known.effective}
    notes = [
        f"{one.option}={one.wanted} is not what Kconfig sets: {one.why}" for one in known.unmet
    ]
    if known.already:
        same = ", ".join(f"{name}={value}" for name, value in known.already)
        notes.append(f"set so in the base configuration already, at no cost here: {same}")
    return replace(
        profile,
        controls=tuple(
            one for one in profile.controls if not isinstance(one, KernelOption) or one in kept
        ),
        notes=(*profile.notes, *notes),
    ), known.requires


def _group_of(control: Control) -> str:
    """Return where the control belongs: an option's group in the catalogue, else its kind."""
    entry = kerneloptions.entry_of(control.option) if isinstance(control, KernelOption) else None
    return control.mechanism if entry is None else entry.group
