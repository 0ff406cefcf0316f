"""`hardcost run`: a study, from its file to its report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hardcost.analysis.estimates import cells
from hardcost.analysis.finding import Finding
from hardcost.cli import options
from hardcost.cli.finding import lost_of, notes_of, packed, present
from hardcost.cli.plan import show_plan
from hardcost.cli.session import get_ready, measure
from hardcost.design import grid
from hardcost.store.store import Store
from hardcost.study.read import read

if TYPE_CHECKING:
    from hardcost.cli.session import Measurement
    from hardcost.design.plan import Plan


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
    machine, remarks = options.machine(chosen, plan.instrument)
    prepared = get_ready(plan, machine)
    if chosen.dry_run:
        show_plan(plan, prepared, machine, chosen)
        return
    with Store(chosen.store) as store:
        measurement = measure(plan, prepared, machine, store, chosen)
        finding = _finding(plan, measurement, machine.environment(), remarks)
        store.finish(measurement.run, packed(finding))
    report = chosen.report or chosen.store.parent / "reports" / f"{finding.run}.html"
    present(finding, chosen.format, report)


def _finding(
    plan: Plan,
    measurement: Measurement,
    environment: dict[str, str],
    remarks: tuple[str, ...],
) -> Finding:
    records = measurement.records
    return Finding(
        run=measurement.run.name,
        study=plan.study,
        title=plan.title,
        machine="vm",
        instrument=plan.instrument,
        environment=environment,
        cells=cells(plan, records),
        notes=(*remarks, *plan.notes, *notes_of(records), *lost_of(records)),
        levels={configuration.name: configuration.levels for configuration in plan.configurations},
        published=plan.published,
    )
