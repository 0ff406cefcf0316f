"""`hardcost list runs`, the runs in a store; `hardcost runs check`, whether they are whole."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import click

from hardcost.cli.console import aligned, note
from hardcost.cli.monitors import monitor_of
from hardcost.files import json_value
from hardcost.report.text import decimals, number, plain, ratio, signed, visible
from hardcost.store import glance, storecheck
from hardcost.units import count

if TYPE_CHECKING:
    from pathlib import Path

    from hardcost.store.glance import Listed
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


def shown(row: dict[str, Any]) -> dict[str, str]:
    """Return a row for a reader; its time is UTC."""
    lost = f", {row['failed']} failed" if row["failed"] else ""
    return {
        "run": row["run"],
        "started (UTC)": row["started"][:19].replace("T", " "),
        "state": f"{row['state']}{lost}{'' if row['checked'] else ', unchecked'}",
        "instrument": row["instrument"],
        "workloads": ", ".join(row["workloads"]),
        "measured": count(row["trials"], "trial"),
        "headline": row["headline"],
    }


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
        return "--resume goes on with it" if run.trials else ""
    bill = found.get("bill")
    said = _dearest(bill) if bill else _furthest(found)
    about = bill["profile"] if bill else found.get("title") or run.study
    return f"{about}: {said}" if said else str(about)


def _dearest(bill: dict[str, Any]) -> str:
    """Return the control that costs most on any metric, compared to that metric's baseline."""
    baselines = {total["metric"]: total["baseline"] or 1 for total in bill["totals"]}
    if not bill["items"]:
        return "no control costs anything that was measured"
    item = max(bill["items"], key=lambda item: item["cost"] / baselines[item["metric"]])
    cost = signed(item["cost"], decimals([item["cost"]]))
    return f"dearest {item['control']}, {cost} {item['unit']} on {item['metric']}"


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
