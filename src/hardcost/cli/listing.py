"""`hardcost list`: what there is."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click
from rich.markup import escape
from rich.table import Table

from hardcost.cli.console import aligned, note, show
from hardcost.cli.lazy import imported
from hardcost.report.text import visible

if TYPE_CHECKING:
    from pathlib import Path

Row = dict[str, Any]
_TITLES = {
    "profiles": "hardcost.profiles.catalogue:titles",
    "studies": "hardcost.study.read:titles",
}
_KERNEL_OPTIONS = "kernel-options"


def list_(  # noqa: PLR0913  (click's options)
    *,
    what: str,
    files: tuple[Path, ...],
    configs: tuple[Path, ...],
    differing: bool,
    store: Path,
    format: str,  # noqa: A002
) -> None:
    """List controls, profiles, workloads, instruments, studies, machines or runs."""
    if what == _KERNEL_OPTIONS:
        present = imported("hardcost.cli.kernelcomparison:present")
        present((*configs, *files), format, differing=differing)
        return
    if files or configs or differing:
        raise click.UsageError(f"files, --config and --differing go with {_KERNEL_OPTIONS}")
    rows = _rows(what, store)
    if format == "json":
        print(json.dumps(rows, indent=2))
        return
    if not rows:
        note("nothing yet")
        return
    shown = _shown(what, rows)
    if not sys.stdout.isatty():
        aligned([list(shown[0]), *([visible(text) for text in row.values()] for row in shown)])
        return
    table = Table()
    for column in shown[0]:
        table.add_column(column, overflow="fold")
    for row in shown:
        table.add_row(*(escape(visible(text)) for text in row.values()))
    show(table)


def _shown(what: str, rows: list[Row]) -> list[Row]:
    """Return the rows as a table has them; a line of a pipe can't hold what parameters mean."""
    if what == "runs":
        shown = imported("hardcost.cli.runs:shown")
        return [shown(row) for row in rows]
    if what != "workloads" or sys.stdout.isatty():
        return rows
    note("`--format json` says what each parameter means")
    return [
        {
            "name": row["name"],
            "parameters": ",".join(_parameters(row["name"])) or "-",
            "what": row["what"],
        }
        for row in rows
    ]


def _parameters(name: str) -> tuple[str, ...]:
    """Return the names of a workload's parameters; a call of `syscalls` has none."""
    workloads = imported("hardcost.workloads.names:WORKLOADS")
    described = imported("hardcost.workloads.parameters:described")
    return tuple(described(workloads[name].Parameters)) if name in workloads else ()


def _rows(what: str, store: Path) -> list[Row]:
    if what == "runs":
        return list(imported("hardcost.cli.runs:rows")(store))
    if what == "controls":
        return list(imported("hardcost.cli.controlrows:rows")())
    if what == "workloads":
        return _workloads()
    if what == "machines":
        titles = imported("hardcost.machines.names:TITLES")
    else:
        titles = _instruments() if what == "instruments" else imported(_TITLES[what])()
    return [{"name": name, "title": title} for name, title in titles.items()]


def _instruments() -> dict[str, str]:
    instruments = imported("hardcost.instruments.names:INSTRUMENTS").values()
    recorders = imported("hardcost.instruments.recorders:TITLES")
    return {
        **{one.name: one.title for one in instruments},
        **{name: f"recorder: {title}" for name, title in recorders.items()},
    }


def _workloads() -> list[Row]:
    workloads = imported("hardcost.workloads.names:WORKLOADS")
    described = imported("hardcost.workloads.parameters:described")
    rows = []
    for name, module in workloads.items():
        keys = "; ".join(f"{key}: {what}" for key, what in described(module.Parameters).items())
        rows.append({"name": name, "what": module.TITLE, "parameters": keys})
    calls = imported("hardcost.workloads.syscalls:calls")()
    rows += [
        {"name": f"syscalls calls={call.name}", "what": call.what, "parameters": ""}
        for call in calls.values()
    ]
    return rows
