"""`hardcost list runs`; `hardcost runs check`, whether they are whole; `runs remove`."""

from __future__ import annotations

import dataclasses
import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from hardcost.analysis.finding import Bill, Total
from hardcost.analysis.weighing import weighing
from hardcost.cli.console import aligned, note
from hardcost.cli.monitors import monitor_of
from hardcost.errors import StoreError
from hardcost.files import json_value
from hardcost.report.sentences.amounts import metric_words
from hardcost.report.text import decimals, number, plain, ratio, signed, visible
from hardcost.store import glance, removal, storecheck
from hardcost.units import count, storage

if TYPE_CHECKING:
    from pathlib import Path

    from hardcost.store.glance import Listed
    from hardcost.store.removal import Chosen, Removal
    from hardcost.store.storecheck import Checked


def rows(store: Path) -> list[dict[str, Any]]:
    """Return what there is to say of each run, the newest first.

    Raises:
        StoreError: The store can't be read.
    """
    found = glance.runs(store)
    for damage in (*found.lost, *found.damaged):
        note(f"left out: {damage}")
    return [_row(run) for run in found.runs]


def check(runs: tuple[str, ...], store: Path, format: str) -> None:  # noqa: A002
    """Say which of RUNS are in the store as they were written, and what is damaged."""
    with monitor_of("auto").stage("trials", storecheck.size(store)) as advance:
        names = [(*glance.names(store), one)[0] if one == "last" else one for one in runs]
        found = storecheck.checked(store, names, advance)
    if format == "json":
        print(json.dumps({"store": str(store), **dataclasses.asdict(found)}, indent=2))
    else:
        _show(found)
    if found.damaged:
        raise click.exceptions.Exit(1)


def remove(
    *,
    runs: tuple[str, ...],
    older_than: timedelta | None,
    dry_run: bool,
    store: Path,
    format: str,  # noqa: A002
) -> None:
    """Remove runs with their measurements and reports.

    Raises:
        UsageError: Runs are named and chosen by their age, or neither.
        StoreError: Another process is measuring one that is named.
    """
    if bool(runs) == (older_than is not None):
        raise click.UsageError("name the runs to remove, or give --older-than, such as 30d")
    chosen, unknown = _chosen(store, runs, older_than)
    for name in unknown:
        note(f"{name} stays: it is damaged, and its age is not known; name it to remove it")
    if dry_run:
        _show_plan(chosen, format)
        return
    done = removal.remove(store, chosen) if chosen else removal.Removal()
    for why in done.left:
        note(why)
    if format == "json":
        print(json.dumps({"store": str(store), **dataclasses.asdict(done)}, indent=2))
    else:
        _show_removal(done)
    if done.going_on and runs:
        raise StoreError(
            f"{', '.join(done.going_on)}: another process is measuring it, and it stays",
            hint="wait until that process ends",
        )
    for name in done.going_on:
        note(f"{name} stays: another process is measuring it")


def _chosen(
    store: Path, names: tuple[str, ...], older_than: timedelta | None
) -> tuple[tuple[Chosen, ...], tuple[str, ...]]:
    """Return the runs to remove, and those whose age is not known."""
    if older_than is None:
        return removal.named(store, names), ()
    return removal.before(store, datetime.now(UTC) - older_than)


def _show_plan(chosen: tuple[Chosen, ...], form: str) -> None:
    """Print which runs would be removed; their size leaves out reports and SQLite's overhead."""
    if form == "json":
        print(json.dumps({"would_remove": [dataclasses.asdict(one) for one in chosen]}, indent=2))
        return
    for one in chosen:
        click.echo(f"would remove {_about(one)}, {storage(one.size)}")
    if chosen:
        total = storage(sum(one.size for one in chosen))
        click.echo(f"would free about {total}, and their reports")
    else:
        click.echo("nothing to remove")


def _show_removal(done: Removal) -> None:
    for one in done.gone:
        click.echo(f"removed {_about(one)}")
    if not done.gone:
        click.echo("nothing removed")
        return
    reports = f", {count(len(done.reports), 'report')}" if done.reports else ""
    click.echo(f"freed {storage(done.freed)} ({count(len(done.gone), 'run')}{reports})")
    if not done.shrunk:
        note("the store's file keeps its size, since it is in use; new runs fill the space")


def _about(one: Chosen) -> str:
    state = "unfinished" if one.finished is None else "finished"
    return f"{visible(one.name)} ({state}, {count(one.trials, 'trial')})"


def _show(found: Checked) -> None:
    """Print what a check found: a line for each run, then each damage with its remedy."""
    if found.runs:
        head = ["run", "state", "trials", "unchecked", "damaged"]
        numbers = [(one.trials, one.unchecked, one.damaged) for one in found.runs]
        told = zip(found.runs, numbers, strict=True)
        aligned([head, *([visible(one.name), one.state, *map(str, of)] for one, of in told)])
    for one in found.damaged:
        click.echo(f"damaged: {visible(one.what)}")
        click.echo(f"  remedy: {visible(one.remedy)}")
    if not found.damaged:
        click.echo(f"{count(len(found.runs), 'run')}: nothing is damaged")
    if any(one.unchecked or one.state == "unchecked" for one in found.runs):
        note("what is unchecked was written by an older hardcost, which kept no digests")


def shown(row: dict[str, Any]) -> tuple[str, ...]:
    """Return what a list says of a run below its name; its time is UTC."""
    lost = f", {row['failed']} failed" if row["failed"] else ""
    state = f"{row['state']}{lost}{'' if row['checked'] else ', unchecked'}"
    started = row["started"][:19].replace("T", " ")
    on = ", ".join(filter(None, (row["instrument"], *row["workloads"])))
    measured = f"{count(row['trials'], 'trial')} measured"
    about = "; ".join(filter(None, (f"{started} UTC", state, measured, on)))
    return about, row["headline"]


def _row(run: Listed) -> dict[str, Any]:
    found = _finding(run)
    cells = found.get("cells") or []
    workloads = dict.fromkeys([*(cell["workload"] for cell in cells), *run.workloads])
    return {
        "run": run.name,
        "study": run.study,
        "started": run.started,
        "finished": run.finished,
        "state": "unfinished" if run.finished is None else "finished",
        "instrument": found.get("instrument") or ", ".join(run.instruments),
        "workloads": list(workloads),
        "trials": run.trials,
        "checked": not run.unchecked,
        "failed": len(found.get("failures") or []),
        "headline": _headline(run, found),
    }


def _finding(run: Listed) -> dict[str, Any]:
    """Return what the run found, as it was saved; nothing where that can't be read."""
    try:
        found = json_value(run.finding or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _headline(run: Listed, found: dict[str, Any]) -> str:
    """Return what the run was about, and the largest figure in it."""
    if run.finished is None:
        return "--resume continues it" if run.trials else ""
    bill = found.get("bill")
    said = _dearest(bill) if bill else _furthest(found)
    about = bill["profile"] if bill else found.get("title") or run.study
    return f"{about}: {said}" if said else str(about)


def _dearest(bill: dict[str, Any]) -> str:
    """Return the control that costs most, by the weights that the bill itself is ordered by."""
    totals = tuple(
        Total(one["metric"], one["unit"], one["baseline"], one["with_profile"], one["cost"])
        for one in bill["totals"]
    )
    weighed = weighing(Bill("", "", totals, (), (), (), weights=bill.get("weights") or {}))
    costs: dict[str, dict[str, float]] = {}
    for item in bill["items"]:
        costs.setdefault(item["control"], {})[item["metric"]] = item["cost"]
    means = {control: weighed.mean(own) for control, own in costs.items()}
    dearest = max(means, key=lambda one: abs(means[one]), default="")
    if not dearest or not means[dearest]:
        return f"no control costs anything on {metric_words(weighed.leading)}"
    unit = next(one.unit for one in totals if one.metric in weighed.weights)
    cost = signed(means[dearest], decimals([means[dearest]]))
    return f"dearest {dearest}, {cost} {unit} on {metric_words(weighed.leading)}"


def _furthest(found: dict[str, Any]) -> str:
    """Return the cell that is furthest from its baseline, by how many times."""
    every = found.get("cells") or []
    cells = [it for it in every if it["configuration"] != it["baseline"] and it["ratio"] > 0]
    if not cells:
        return ", ".join(
            f"{cell['metric']} {number(cell['value'], decimals([cell['value']]))} {cell['unit']}"
            for cell in every[:1]
        )
    cell = max(cells, key=lambda cell: max(cell["ratio"], 1 / cell["ratio"]))
    times = plain(ratio(cell["ratio"]))
    return f"{cell['configuration']} {times} on {cell['metric']} ({cell['workload']})"
