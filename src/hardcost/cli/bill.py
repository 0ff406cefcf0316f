"""`hardcost bill`: what a profile costs, itemised by control."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import click

from hardcost.analysis import budget as budget_of
from hardcost.analysis import itemise
from hardcost.analysis.estimates import cells
from hardcost.analysis.finding import Advice, Finding
from hardcost.analysis.predicted import annotated
from hardcost.analysis.resolved import resolved
from hardcost.cli import culprits, expected, options
from hardcost.cli.finding import notes_of
from hardcost.cli.session import carry_out, environment_of
from hardcost.controls.catalogue import load, load_scap
from hardcost.controls.control import AuditRule
from hardcost.controls.preferred import booted
from hardcost.design import leave_one_out
from hardcost.design.culprits import worth_searching
from hardcost.design.plan import Workload
from hardcost.errors import InputError
from hardcost.instruments.insn import INSN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.cli.options import Choices
    from hardcost.cli.session import Measure
    from hardcost.controls.control import Profile
    from hardcost.design.plan import Plan
    from hardcost.store.record import Record

_SHOWN = (leave_one_out.BASELINE, leave_one_out.PROFILE, leave_one_out.AUDIT_OFF)


@click.command()
@click.argument("profile")
@click.option(
    "--budget",
    metavar="PERCENT",
    help="Say what to leave out so that no metric grows by more; status 1 if the profile does.",
)
@click.option(
    "--method",
    type=click.Choice(["auto", "single", "search"]),
    default="auto",
    show_default=True,
    help="Measure each control by itself, or search for the few that are to blame by halving; auto"
    " searches where single trials would take more than ten minutes and a search less.",
)
@click.option(
    "--resolution",
    metavar="PERCENT",
    default="1%",
    show_default=True,
    help="The least cost, of the baseline, that a search looks for.",
)
@click.option(
    "--most",
    type=click.IntRange(2, 100_000),
    help="Configurations that a search may measure (default: 12 where it builds kernels).",
)
@click.option(
    "--prefer-boot",
    is_flag=True,
    help="Use the boot parameter or sysctl that does the same as a kernel option, where there is"
    " one.",
)
@click.option(
    "--scap-profile",
    metavar="ID",
    help="PROFILE is a SCAP datastream, and this the profile of it whose audit rules are meant.",
)
@click.option(
    "--force-emulated-time",
    is_flag=True,
    help="Itemise times also where they are an emulator's, which are noise, for want of KVM.",
)
@options.measuring
def bill(  # noqa: PLR0913  (click's options)
    profile: str,
    *,
    budget: str | None,
    method: str,
    resolution: str,
    most: int | None,
    prefer_boot: bool,
    scap_profile: str | None,
    **words: Any,  # noqa: ANN401  (click's options)
) -> None:
    """Itemise what PROFILE costs, control by control.

    PROFILE is a name out of `hardcost list profiles`, an audit rules file, a folder of them like
    /etc/audit/rules.d, a profile in TOML, or a SCAP datastream with --scap-profile.

    \b
    Each control is measured twice: left out of the whole profile, and alone.
      cost         what leaving it out saves
      alone        what it costs by itself
      interaction  what the costs together don't explain
    The costs and the interaction add up to the total, exactly.

    Where that takes too long, as with kernel options, each of which takes a kernel of its own, a
    search halves the profile instead until it has found what costs more than --resolution, and
    confirms that: alone, and by leaving it out. It prints how it came to its answer.

    \b
    Examples:  hardcost bill stig-reduced
               hardcost bill audit-samples --budget 50%
               hardcost bill /etc/audit/rules.d --workload 'syscalls calls=open+chmod'
               hardcost bill kspp --workload build,syscalls
    """
    chosen = options.choices(words)
    limit = None if budget is None else _fraction("--budget", budget)
    wanted = culprits.Wanted(_above_zero("--resolution", resolution), most)
    if scap_profile is None:
        loaded = load(profile, options.package_root)
    else:
        loaded = load_scap(profile, scap_profile)
    if prefer_boot:
        loaded = booted(loaded)
    workloads = chosen.workloads or (Workload("syscalls"),)
    if method == "search" and limit is not None:
        raise InputError(
            "--budget needs each control's own cost, and a search prices only the largest",
            hint="--method single measures each",
        )
    if method == "auto":
        searches = limit is None and worth_searching(loaded.controls)
        method = "search" if searches else "single"
    if method == "search":
        culprits.bill(loaded, workloads, chosen, wanted)
        return
    _single(loaded, workloads, chosen, limit)


def _single(
    loaded: Profile, workloads: Sequence[Workload], chosen: Choices, limit: float | None
) -> None:
    """Measure each control left out and alone, and print the bill."""
    plan = leave_one_out.bill_plan(
        loaded,
        workloads,
        instrument=chosen.instrument or "insn",
        seeds=chosen.seeds,
        repetitions=chosen.repetitions,
    )
    plan = plan.set_up(chosen.setup)

    def finding_of(run: str, records: Sequence[Record], measure: Measure) -> Finding:
        finding = _finding(loaded, plan, run, records, chosen)
        if limit is None:
            return finding
        return dataclasses.replace(finding, advice=_advice(loaded, plan, records, measure, limit))

    found = carry_out(plan, chosen, finding_of)
    if found is not None and found.advice is not None and found.advice.leave_out:
        raise click.exceptions.Exit(1)


def _finding(
    profile: Profile, plan: Plan, run: str, records: Sequence[Record], chosen: Choices
) -> Finding:
    shown = [cell for cell in cells(plan, records) if cell.configuration in _SHOWN]
    whole = [record for record in records if record.configuration == leave_one_out.PROFILE]
    measured = resolved(itemise.itemise(profile, records), records)
    notes: tuple[str, ...] = ()
    if plan.instrument == INSN.name and any(isinstance(c, AuditRule) for c in profile.controls):
        constants, notes = expected.constants_for(chosen, environment_of(whole))
        measured = annotated(measured, expected.of_profile(profile, constants))
    return Finding(
        run=run,
        study=plan.study,
        title=plan.title,
        instrument=plan.instrument,
        cells=tuple(shown),
        notes=(*plan.notes, *notes_of(whole), *notes),
        bill=measured,
    )


def _advice(
    profile: Profile, plan: Plan, records: Sequence[Record], measure: Measure, limit: float
) -> Advice:
    """Propose what to leave out, measure what remains, and go on until the budget is kept."""
    itemised = itemise.itemise(profile, records)
    totals = itemised.totals
    names = [control.name for control in profile.controls]
    everything = {item.control for item in itemised.items}
    dropped: tuple[str, ...] = ()
    while not budget_of.within(totals, limit) and len(dropped) < len(everything):
        dropped = budget_of.propose(itemised, totals, dropped, limit)
        indices = [index for index, name in enumerate(names) if name in dropped]
        more = measure(leave_one_out.kept_plan(plan, profile, indices))
        totals = itemise.totals((*records, *more), leave_one_out.without_all(indices))
    return Advice(
        budget=limit,
        leave_out=dropped,
        kept=len(everything) - len(dropped),
        totals=totals,
        within=budget_of.within(totals, limit),
    )


def _above_zero(option: str, text: str) -> float:
    fraction = _fraction(option, text)
    if not fraction:
        raise InputError(f"{option}: '{text}' is not above 0", hint=f"such as {option} 1%")
    return fraction


def _fraction(option: str, text: str) -> float:
    """Return `5%` as 0.05."""
    try:
        fraction = float(text.removesuffix("%")) / 100
    except ValueError:
        fraction = -1.0
    if not 0 <= fraction < math.inf:
        raise InputError(f"{option}: '{text}' is not a percentage", hint=f"such as {option} 5%")
    return fraction
