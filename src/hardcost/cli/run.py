"""`hardcost run`: a study, from its file to its report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from hardcost.analysis.estimates import cells
from hardcost.analysis.finding import Finding, ObservedIn
from hardcost.analysis.least import allowing_for_chance
from hardcost.analysis.profiled import profiled
from hardcost.cli import measuring, options, precisely, profilable
from hardcost.cli.lazy import imported
from hardcost.cli.present import notes_of
from hardcost.design import factorial, placebos
from hardcost.errors import MachineError
from hardcost.report.published import published
from hardcost.run import precise
from hardcost.study.read import instrument_of, read

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hardcost.analysis.finding import Profiled
    from hardcost.cli.options import Choices
    from hardcost.design.plan import Configuration, Plan
    from hardcost.store.record import Record


def run(
    study: str,
    scale: str | None,
    *,
    profiling: bool,
    precision: str | None,
    time_limit: float | None,
    **words: Any,  # noqa: ANN401  (click's options)
) -> None:
    """Run STUDY: the name of a ready-made one, or a TOML file."""
    asked = Asked(study, scale, profiling, precision, time_limit)
    if "," in words["machine"]:
        imported("hardcost.cli.runseveral:run")(asked, words)
        return
    found = on_machine(asked, words)
    if found is None:
        return
    finding, chosen = found
    measuring.shown(finding, chosen)
    if finding.failures:
        raise click.exceptions.Exit(MachineError.exit_status)


@dataclass(frozen=True)
class Asked:
    """What `hardcost run` is asked for, beside what it shares with other verbs."""

    study: str
    scale: str | None
    profiling: bool
    precision: str | None
    time_limit: float | None


def on_machine(asked: Asked, words: dict[str, Any]) -> tuple[Finding, Choices] | None:
    """Run a study on one machine, and return what was found; None after --dry-run.

    Raises:
        HardcostError: Something is wrong with the input, the machine or the store.
    """
    study, scale = asked.study, asked.scale
    chosen = options.choices(words, instrument_of(study))
    aim = precisely.aim(asked.precision, asked.time_limit)
    if aim is not None:
        rounds = max(chosen.repetitions or 0, precise.FEWEST_ROUNDS)
        chosen = replace(chosen, repetitions=rounds)
    plan = _plan(study, scale, chosen)
    precisely.check_inexact(aim, plan.instrument)
    if asked.profiling:
        workloads = tuple(dict.fromkeys(trial.workload for trial in plan.trials))
        profilable.check(plan.instrument, plan.setup.record, workloads)
        plan = plan.set_up(replace(plan.setup, profiled=True))
    if plan.published is not None:
        published(plan.published)  # reports that there are none before anything is measured
    with measuring.run_of(plan, chosen) as begun:
        if begun is None:
            return None
        first = begun.measure(keep_going=True)
        done = precisely.measured(
            plan, begun, aim, lambda n: _rounds(study, scale, chosen, n), first
        )
        found = _finding(done.plan, begun.name, done.records, scale)
        notes = (*found.notes, *done.notes)
        return measuring.finished(begun, replace(found, notes=notes)), chosen


def _rounds(study: str, scale: str | None, chosen: Choices, number: int) -> Plan:
    """Return the same plan with a number of rounds."""
    return _plan(study, scale, replace(chosen, repetitions=number))


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
        placebos=True,
    )


def _finding(plan: Plan, run: str, records: Sequence[Record], scale: str | None) -> Finding:
    return Finding(
        run=run,
        study=plan.study,
        title=plan.title,
        instrument=plan.instrument,
        cells=allowing_for_chance(cells(plan, records), records),
        notes=(*plan.notes, *notes_of(records)),
        levels={one.name: one.levels for one in _compared(plan)},
        published=plan.published,
        successive=plan.successive,
        asked=plan.asked,
        about=plan.about,
        scale=scale,
        profiles=tuple(_profiles(plan, records)),
        observed=tuple(
            ObservedIn(record.configuration, record.workload, record.seed, record.repetition, seen)
            for record in records
            if placebos.reference(record.configuration) is None
            for seen in record.observed
        ),
    )


def _compared(plan: Plan) -> list[Configuration]:
    """Return what the study compares: all configurations but the placebos."""
    return [one for one in plan.configurations if placebos.reference(one.name) is None]


def _profiles(plan: Plan, records: Sequence[Record]) -> Iterator[Profiled]:
    """Yield where the cost of each configuration arises, if it was watched."""
    if any(record.profile for record in records):
        measured = {record.configuration for record in records}
        for configuration in _compared(plan):
            baseline = plan.baseline_of(configuration)
            if configuration.name != baseline and {configuration.name, baseline} <= measured:
                yield from profiled(records, baseline, configuration.name)
