"""What `--dry-run` prints: the plan and the time that it is expected to take."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from hardcost.design.perturbations import UNPERTURBED
from hardcost.report.text import visible
from hardcost.run import timing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.design.plan import Plan, Trial
    from hardcost.run.prepare import Prepared
    from hardcost.run.timing import Stage


def show_plan(
    plan: Plan, prepared: Sequence[Prepared], expected: Sequence[Stage], form: str
) -> None:
    """Print every trial of a plan with what it changes, and how long all are expected to take."""
    if form == "json":
        print(json.dumps(_data(plan, prepared, expected), indent=2))
        return
    click.echo(f"{plan.study}: {visible(plan.title)}")
    click.echo(f"instrument {plan.instrument}, baseline {plan.baseline}, {len(prepared)} trials:")
    for trial in prepared:
        kinds = [control.mechanism for control in trial.trial.configuration.controls]
        counted = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
        click.echo(
            f"  {visible(trial.trial.configuration.name):28} {visible(str(trial.trial.workload))}"
            f"  seed {trial.trial.seed}{_perturbed(trial.trial)}  [{counted or 'no controls'}]"
            f"  {trial.identity[:12]}"
        )
    for remark in plan.notes:
        click.echo(f"note: {visible(remark)}")
    click.echo(f"expected time: {timing.said(timing.total(expected))}")
    for stage in expected:
        size = f"{stage.name:14} {timing.count(stage):>8}"
        click.echo(f"  {size}  {timing.said(stage.span)} ({stage.basis})")


def _perturbed(trial: Trial) -> str:
    """Return by which numbers a trial is perturbed; "" if it is not."""
    if trial.perturbations == UNPERTURBED:
        return ""
    return f"  perturbed by {'+'.join(map(str, trial.perturbations))}"


def _data(plan: Plan, prepared: Sequence[Prepared], expected: Sequence[Stage]) -> dict[str, object]:
    return {
        "study": plan.study,
        "title": plan.title,
        "instrument": plan.instrument,
        "baseline": plan.baseline,
        "notes": list(plan.notes),
        "expected_seconds": timing.rounded(timing.total(expected).middle),
        "expected": timing.data(expected),
        "trials": [
            {
                "identity": trial.identity,
                "configuration": trial.trial.configuration.name,
                "controls": [control.name for control in trial.trial.configuration.controls],
                "workload": str(trial.trial.workload),
                "seed": trial.trial.seed,
                "repetition": trial.trial.repetition,
                "perturbations": list(trial.trial.perturbations),
            }
            for trial in prepared
        ],
    }
