"""`hardcost list`: what there is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click
from rich.table import Table

from hardcost.cli import kerneloptions, options
from hardcost.cli.console import show
from hardcost.controls import catalogue
from hardcost.instruments import riding
from hardcost.instruments.names import INSTRUMENTS
from hardcost.report.text import visible
from hardcost.store.store import Store
from hardcost.study import read as studies
from hardcost.workloads import syscalls
from hardcost.workloads.names import WORKLOADS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

Row = dict[str, str]
_KERNEL_OPTIONS = "kernel-options"
_MACHINES = {"vm": "a guest under QEMU: emulated and exact, or KVM for time"}


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
        kerneloptions.present((*configs, *files), format, differing=differing)
        return
    if files or configs or differing:
        raise click.UsageError(f"files, --config and --differing go with {_KERNEL_OPTIONS}")
    rows = _rows(what, store)
    if format == "json":
        print(json.dumps(rows, indent=2))
        return
    table = Table()
    for column in rows[0] if rows else ("nothing yet",):
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(visible(text) for text in row.values()))
    show(table)


def _rows(what: str, store: Path) -> list[Row]:
    titled: dict[str, Callable[[], Mapping[str, str]]] = {
        "profiles": catalogue.titles,
        "studies": studies.titles,
        "instruments": lambda: {
            **{one.name: one.title for one in INSTRUMENTS.values()},
            **{name: f"rides along: {title}" for name, title in riding.TITLES.items()},
        },
        "machines": lambda: _MACHINES,
    }
    if what in titled:
        return [{"name": name, "title": title} for name, title in titled[what]().items()]
    return {"controls": _controls, "workloads": _workloads}.get(what, lambda: _runs(store))()


def _controls() -> list[Row]:
    loaded = [catalogue.load(name, options.package_root) for name in catalogue.titles()]
    return [
        {
            "profile": profile.name,
            "mechanism": type(control).__name__,
            "control": control.name,
            "ids": " ".join(one for one in control.ids if not one.startswith("SRG-")),
        }
        for profile in loaded
        for control in profile.controls
    ]


def _workloads() -> list[Row]:
    rows = []
    for name, module in WORKLOADS.items():
        keys = "; ".join(f"{key}: {what}" for key, what in module.PARAMETERS.items())
        rows.append({"name": name, "what": module.TITLE, "parameters": keys})
    rows += [
        {"name": f"syscalls calls={call.name}", "what": call.what, "parameters": ""}
        for call in syscalls.calls().values()
    ]
    return rows


def _runs(store: Path) -> list[Row]:
    if not store.exists():
        return []
    with Store(store) as opened:
        return [
            {"run": run.name, "started": run.started, "finished": run.finished or "unfinished"}
            for run in opened.runs()
        ]
