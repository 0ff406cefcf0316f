"""A bill by single trials: each control of a profile left out, and alone."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from hardcost.analysis import itemise
from hardcost.analysis.accounting import with_accounting
from hardcost.analysis.estimates import cells
from hardcost.analysis.finding import Finding
from hardcost.analysis.least import allowing_for_chance
from hardcost.analysis.predicted import annotated
from hardcost.analysis.resolved import resolved
from hardcost.cli import budgets, console, expected, measuring, options, precisely
from hardcost.cli.defaultmarks import with_defaults
from hardcost.cli.present import notes_of
from hardcost.controls.control import AuditRule
from hardcost.design import leave_one_out, placebos
from hardcost.design.compared import compared_with
from hardcost.design.factorial import BLOCK_ROUNDS
from hardcost.errors import HardcostError, MachineError
from hardcost.instruments.insn import INSN
from hardcost.profiles.kernel.defaults import switched_off
from hardcost.profiles.pieces import pieces
from hardcost.run import spared as spare
from hardcost.run.prepare import prepare_all
from hardcost.run.session import environment_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hardcost.analysis.budget import Budget
    from hardcost.analysis.finding import Unmeasured
    from hardcost.cli.options import Choices
    from hardcost.cli.weights import Wanted as Weighed
    from hardcost.controls.control import Profile
    from hardcost.design.plan import Plan, Workload
    from hardcost.run.precise import Aim
    from hardcost.run.session import Run
    from hardcost.store.record import Record

_FIRST_ROUNDS = 2 * BLOCK_ROUNDS  # of a bill with --precision, whose rounds may take long
_BY_STATE = "disabled by its state (auditctl -e 0)"
_SHOWN = (leave_one_out.BASELINE, leave_one_out.PROFILE, leave_one_out.AUDIT_OFF)


@dataclass(frozen=True)
class Asked:
    """What is asked of a bill: a budget, how precise times are, its order, whether to count."""

    limit: Budget | None = None
    aim: Aim | None = None
    weighed: Weighed | None = None
    count: bool = True


def bill(profile: Profile, workloads: Sequence[Workload], chosen: Choices, asked: Asked) -> None:
    """Measure each control left out and alone; print, save and report the bill.

    Raises:
        HardcostError: Something is wrong with the input, the machine, a trial or the store.
        Exit: The profile is over its budget.
    """
    aim = asked.aim
    precisely.check_inexact(aim, chosen.measured_by)
    if aim is not None:
        chosen = replace(chosen, repetitions=max(chosen.repetitions or 0, _FIRST_ROUNDS))

    def planned(billed: Profile, number: int | None = chosen.repetitions) -> Plan:
        return plan_of(billed, workloads, replace(chosen, repetitions=number)).set_up(chosen.setup)

    plan = planned(profile)
    on, counted = measuring.monitored(plan, chosen), _Counted()
    if asked.count and chosen.running and not chosen.dry_run:
        prepare_all(plan, on.machine, on.monitor)  # refuses what the machine can't do
        counted = _counted(profile, workloads, chosen, asked.weighed)
    if aim is not None:
        aim = replace(aim, began=time.monotonic())
    with measuring.run_of(plan, chosen, on=on) as run:
        if run is None:
            return
        spared = _spared(profile, plan, run, planned, running=chosen.running)
        profile = spared.profile

        def rounds(number: int | None) -> Plan:
            return planned(spared.profile, number)

        done = precisely.measured(spared.plan, run, aim, rounds, spared.measured)
        found = finding(profile, done.plan, run, done.records, chosen, asked.weighed)
        found = without(found, spared.unmeasured)
        notes = (*found.notes, *done.notes, *counted.notes)
        found = replace(found, notes=notes, counted=counted.finding)
        if asked.limit is not None:
            advice = budgets.advice(profile, done.plan, run, done.records, asked.limit)
            found = replace(found, advice=advice)
        found = measuring.finished(run, found)
    measuring.shown(found, chosen)
    if spared.unmeasured:
        raise click.exceptions.Exit(MachineError.exit_status)
    if found.advice is not None and found.advice.leave_out:
        raise click.exceptions.Exit(1)


def _spared(
    profile: Profile, plan: Plan, run: Run, planned: Callable[[Profile], Plan], *, running: bool
) -> spare.Spared:
    """Measure a bill; in guests, without the controls that they do not bear.

    Raises:
        HardcostError: A trial failed all the same.
    """
    if running:  # nothing is tried out on a machine that somebody uses
        return spare.Spared(profile, plan, run.measure())
    return spare.measured(profile, planned, run)


def without(found: Finding, unmeasured: tuple[Unmeasured, ...]) -> Finding:
    """Return the finding with the controls that its bill is without."""
    if found.bill is None:
        return found
    return replace(found, bill=replace(found.bill, unmeasured=unmeasured))


@dataclass(frozen=True)
class _Counted:
    """A bill in instructions beside one of times, or a note why there is none."""

    finding: Finding | None = None
    notes: tuple[str, ...] = ()


def _counted(
    profile: Profile, workloads: Sequence[Workload], chosen: Choices, weighed: Weighed | None
) -> _Counted:
    """Return the same bill in instructions, as a run of its own."""
    by = options.counting(chosen)
    console.note(f"counting instructions of the same controls on the machine {by.machine} …")
    try:
        plan = plan_of(profile, workloads, by).set_up(by.setup)
        with measuring.run_of(plan, by) as run:
            if run is None:
                return _Counted()
            found = finding(profile, plan, run, run.measure().records, by, weighed)
            return _Counted(measuring.finished(run, found))
    except HardcostError as error:
        said = f"instructions were not counted beside the times: {error}"
        console.note(said)
        return _Counted(notes=(said,))


def finding(  # noqa: PLR0913, PLR0917  (what a bill is made of)
    profile: Profile,
    plan: Plan,
    run: Run,
    records: Sequence[Record],
    chosen: Choices,
    weighed: Weighed | None = None,
) -> Finding:
    """Return the bill of `records`.

    Where instructions were counted of audit rules, what was predicted stands beside the cost.
    """
    every = allowing_for_chance(cells(plan, records), records)
    shown = [cell for cell in every if cell.configuration in _SHOWN]
    whole = [record for record in records if record.configuration == leave_one_out.PROFILE]
    bill = resolved(itemise.itemise(profile, records), records)
    against = compared_with(profile, running=chosen.running)
    bill = replace(bill, compared_with=against, pieces=pieces(profile))
    if chosen.running:
        bill = replace(bill, audit_off=_BY_STATE)
    bill = with_defaults(with_accounting(bill, profile, plan.instrument), profile)
    notes: tuple[str, ...] = ()
    if plan.instrument == INSN.name and any(isinstance(c, AuditRule) for c in profile.controls):
        constants, notes = expected.constants_for(run.machine, chosen, environment_of(whole))
        bill = annotated(bill, expected.of_profile(profile, constants))
    return Finding(
        run=run.name,
        study=plan.study,
        title=plan.title,
        instrument=plan.instrument,
        cells=tuple(shown),
        notes=(
            _baseline_note(against),
            *plan.notes,
            *(why for _, why in switched_off(profile.controls)),
            *notes_of(whole),
            *notes,
        ),
        bill=bill if weighed is None else weighed.on(bill),
    )


def plan_of(profile: Profile, workloads: Sequence[Workload], chosen: Choices) -> Plan:
    """Return the trials of a profile's bill, as the user wants them measured."""
    return leave_one_out.bill_plan(
        profile,
        workloads,
        instrument=chosen.measured_by,
        seeds=chosen.seeds,
        repetitions=chosen.repetitions,
        placebos=placebos.affordable(profile.controls, workloads),
        running=chosen.running,
    )


def baseline_note(profile: Profile) -> str:
    """Return the note that says what a profile's bill is compared with."""
    return _baseline_note(compared_with(profile))


def _baseline_note(against: str) -> str:
    return f"compared with: {against} (the configuration `baseline`)"
