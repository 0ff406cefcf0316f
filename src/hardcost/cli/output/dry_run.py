"""A verb's finding, or with `--dry-run` its plan and the time that it is expected to take."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

import click
from pydantic import BaseModel, ConfigDict

from auditrules.cli import results
from hardcost.cli.console import progress
from hardcost.cli.input.options import MeasuringOptions
from hardcost.library.measurement import Foreseen
from hardcost.measure import expected_time
from hardcost.measure.expected_time import StageEntry
from hardcost.measure.monitor import Monitor
from hardcost.measure.prepare import Prepared
from hardcost.plan.perturbations import UNPERTURBED
from hardcost.plan.plan import Trial
from hardcost.units import visible

_Request = TypeVar("_Request")
_Found = TypeVar("_Found")


def call_or_show_plan(
    call: Callable[[_Request, Monitor], _Found],
    foreseen: Callable[[_Request, Monitor], Foreseen | _Found],
    request: _Request,
    shared: MeasuringOptions,
) -> _Found:
    """Return a call's finding; with `--dry-run`, print its plan instead, if it measures anything.

    Raises:
        Exit: The plan is printed, which is all that there is to do.
    """
    monitor = progress.monitor_of(shared.progress)
    came = foreseen(request, monitor) if shared.dry_run else call(request, monitor)
    if not isinstance(came, Foreseen):
        return came
    show_plan(came, shared.format)
    sys.stdout.flush()  # whoever has closed it learns it from the status
    raise click.exceptions.Exit(0)


def show_plan(foreseen: Foreseen, form: str) -> None:
    """Print every trial of a plan with its changes, and the time that all are expected to take."""
    plan, prepared, expected = foreseen.plan, foreseen.prepared, foreseen.stages
    if form == "json":
        results.print_json(PlanDocument.of(foreseen))
        return
    click.echo(f"{plan.study}: {visible(plan.title)}")
    click.echo(f"instrument {plan.instrument}, baseline {plan.baseline}, {len(prepared)} trials:")
    for trial in prepared:
        kinds = [control.mechanism for control in trial.trial.configuration.controls]
        counted = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
        click.echo(
            f"  {visible(trial.trial.configuration.name):28} {visible(str(trial.trial.workload))}"
            f"  seed {trial.trial.seed}{_perturbation_note(trial.trial)}"
            f"  [{counted or 'no controls'}]  {trial.identity[:12]}"
        )
    for remark in plan.notes:
        click.echo(f"note: {visible(remark)}")
    click.echo(f"expected time: {expected_time.span_in_words(expected_time.total(expected))}")
    for stage in expected:
        size = f"{stage.name:14} {expected_time.pieces_in_words(stage):>8}"
        click.echo(f"  {size}  {expected_time.span_in_words(stage.span)} ({stage.basis})")


def _perturbation_note(trial: Trial) -> str:
    """Return by which numbers a trial is perturbed; "" if it is not."""
    if trial.perturbations == UNPERTURBED:
        return ""
    return f"  perturbed by {'+'.join(map(str, trial.perturbations))}"


class PlannedTrial(BaseModel):
    """A trial that would run."""

    model_config = ConfigDict(frozen=True)

    identity: str
    configuration: str
    controls: tuple[str, ...]
    workload: str
    seed: int
    repetition: int
    perturbations: tuple[int, ...]


class PlanDocument(BaseModel):
    """A plan that is not carried out, and how long it is expected to take."""

    model_config = ConfigDict(frozen=True)

    study: str
    title: str
    instrument: str
    baseline: str
    notes: tuple[str, ...]
    expected_seconds: float | None
    expected: tuple[StageEntry, ...]
    trials: tuple[PlannedTrial, ...]

    @classmethod
    def of(cls, foreseen: Foreseen) -> PlanDocument:
        """Return a plan as JSON shows it."""
        plan = foreseen.plan
        return cls(
            study=plan.study,
            title=plan.title,
            instrument=plan.instrument,
            baseline=str(plan.baseline),
            notes=tuple(plan.notes),
            expected_seconds=expected_time.round_to_tenth(
                expected_time.total(foreseen.stages).middle
            ),
            expected=tuple(map(StageEntry.of, foreseen.stages)),
            trials=tuple(map(_trial, foreseen.prepared)),
        )


def _trial(one: Prepared) -> PlannedTrial:
    trial = one.trial
    return PlannedTrial(
        identity=one.identity,
        configuration=trial.configuration.name,
        controls=tuple(control.name for control in trial.configuration.controls),
        workload=str(trial.workload),
        seed=trial.seed,
        repetition=trial.repetition,
        perturbations=tuple(trial.perturbations),
    )
