"""`hardcost run`: a study, from its file to its report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hardcost.analysis.estimates import cells
from hardcost.analysis.finding import Finding, ObservedIn
from hardcost.cli import measuring, options
from hardcost.cli.present import notes_of
from hardcost.design import factorial
from hardcost.errors import MachineError
from hardcost.report.published import published
from hardcost.study.read import instrument_of, read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.cli.options import Choices
    from hardcost.design.plan import Plan
    from hardcost.store.record import Record


def run(study: str, scale: str | None, **words: Any) -> None:  # noqa: ANN401  (click's options)
    """Run STUDY: the name of a ready-made one, or a TOML file."""
    chosen = options.choices(words, instrument_of(study))
    plan = _plan(study, scale, chosen)
    if plan.published is not None:
        published(plan.published)  # reports that there are none before anything is measured
    with measuring.run_of(plan, chosen) as begun:
        if begun is None:
            return
        records = begun.measure(keep_going=True).records
        finding = measuring.finished(begun, _finding(plan, begun.name, records, scale))
    measuring.shown(finding, chosen)
    if finding.failures:
        raise click.exceptions.Exit(MachineError.exit_status)


def _plan(study: str, scale: str | None, chosen: Choices) -> Plan:
    """Return the trials of a study, as the user wants them measured."""
    measured_by = chosen.instrument if chosen.workloads is None else None
    return factorial.plan(
        read(study, options.package_root, scale, measured_by),
        factorial.Overrides(
            workloads=chosen.workloads,
            instrument=chosen.instrument,
            seeds=chosen.seeds,
            repetitions=chosen.repetitions,
            fresh=chosen.fresh_boot,
            init=chosen.init,
            record=chosen.record,
        ),
    )


def _finding(plan: Plan, run: str, records: Sequence[Record], scale: str | None) -> Finding:
    return Finding(
        run=run,
        study=plan.study,
        title=plan.title,
        instrument=plan.instrument,
        cells=cells(plan, records),
        notes=(*plan.notes, *notes_of(records)),
        levels={configuration.name: configuration.levels for configuration in plan.configurations},
        published=plan.published,
        scale=scale,
        observed=tuple(
            ObservedIn(record.configuration, record.workload, record.seed, record.repetition, seen)
            for record in records
            for seen in record.observed
        ),
    )
