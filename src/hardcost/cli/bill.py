"""`hardcost bill`: what a profile costs, itemised by control."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hardcost.analysis.estimates import cells
from hardcost.analysis.finding import Finding
from hardcost.analysis.itemise import itemise
from hardcost.cli import options
from hardcost.cli.finding import notes_of
from hardcost.cli.session import carry_out
from hardcost.controls.catalogue import load
from hardcost.design import leave_one_out
from hardcost.design.plan import Workload
from hardcost.instruments.names import INSTRUMENTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.controls.control import Profile
    from hardcost.design.plan import Plan
    from hardcost.store.record import Record

_SHOWN = (leave_one_out.BASELINE, leave_one_out.PROFILE, leave_one_out.AUDIT_OFF)


@click.command()
@click.argument("profile")
@options.measuring
def bill(profile: str, **words: Any) -> None:  # noqa: ANN401  (click's options)
    """Itemise what PROFILE costs, control by control.

    PROFILE is a name out of `hardcost list profiles`, an audit rules file, a folder of them like
    /etc/audit/rules.d, or a profile in TOML.

    \b
    Each control is measured twice: left out of the whole profile, and alone.
      cost         what leaving it out saves
      alone        what it costs by itself
      interaction  what the costs together don't explain
    The costs and the interaction add up to the total, exactly.

    \b
    Examples:  hardcost bill stig-reduced
               hardcost bill /etc/audit/rules.d --workload 'syscalls calls=open+chmod'
    """
    chosen = options.choices(words)
    loaded = load(profile, options.package_root)
    plan = leave_one_out.bill_plan(
        loaded,
        chosen.workloads or (Workload("syscalls"),),
        instrument=chosen.instrument or "insn",
        seeds=chosen.seeds,
        repetitions=chosen.repetitions,
    )
    carry_out(plan, chosen, lambda run, records: _finding(loaded, plan, run, records))


def _finding(profile: Profile, plan: Plan, run: str, records: Sequence[Record]) -> Finding:
    shown = [cell for cell in cells(plan, records) if cell.configuration in _SHOWN]
    whole = [record for record in records if record.configuration == leave_one_out.PROFILE]
    return Finding(
        run=run,
        study=plan.study,
        title=plan.title,
        instrument=plan.instrument,
        cells=tuple(shown),
        notes=(*plan.notes, *notes_of(whole)),
        bill=itemise(profile, records, exact=INSTRUMENTS[plan.instrument].exact),
    )
