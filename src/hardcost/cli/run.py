"""`hardcost run`: a study, from its file to its report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hardcost.analysis.estimates import cells
from hardcost.analysis.finding import Finding
from hardcost.cli import options
from hardcost.cli.finding import notes_of
from hardcost.cli.session import carry_out
from hardcost.design import grid
from hardcost.study.read import read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.design.plan import Plan
    from hardcost.store.record import Record


@click.command()
@click.argument("study")
@options.measuring
def run(study: str, **words: Any) -> None:  # noqa: ANN401  (click's options)
    """Run STUDY: the name of a ready-made one, or a TOML file.

    Prints a table with configurations down and metrics across, saves every trial, and writes an
    HTML report. What was measured before is taken from the store.

    \b
    Examples:  hardcost run audit-rules
               hardcost run my-study.toml --workload 'syscalls calls=null+open' --format json
    """
    chosen = options.choices(words)
    plan = grid.plan(
        read(study, options.package_root),
        grid.Overrides(
            workloads=chosen.workloads,
            instrument=chosen.instrument,
            seeds=chosen.seeds,
            repetitions=chosen.repetitions,
        ),
    )
    carry_out(plan, chosen, lambda run, records, _: _finding(plan, run, records))


def _finding(plan: Plan, run: str, records: Sequence[Record]) -> Finding:
    return Finding(
        run=run,
        study=plan.study,
        title=plan.title,
        instrument=plan.instrument,
        cells=cells(plan, records),
        notes=(*plan.notes, *notes_of(records)),
        levels={configuration.name: configuration.levels for configuration in plan.configurations},
        published=plan.published,
    )
