"""`hardcost list`: what there is."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click
from rich.markup import escape
from rich.table import Table

from hardcost.cli import kernelcomparison, runs
from hardcost.cli.console import note, show
from hardcost.errors import HardcostError, MachineError
from hardcost.instruments import recorders
from hardcost.instruments.names import INSTRUMENTS
from hardcost.machines import debianpackages
from hardcost.machines import names as machines
from hardcost.machines.cache import Cache
from hardcost.profiles import catalogue
from hardcost.report.text import visible
from hardcost.study import read as studies
from hardcost.workloads import syscalls
from hardcost.workloads.names import WORKLOADS
from hardcost.workloads.parameters import described

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

Row = dict[str, Any]
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
        kernelcomparison.present((*configs, *files), format, differing=differing)
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
    table = Table()
    for column in shown[0]:
        table.add_column(column, overflow="fold")
    for row in shown:
        table.add_row(*(escape(visible(text)) for text in row.values()))
    show(table)


def _shown(what: str, rows: list[Row]) -> list[Row]:
    """Return the rows as a table has them; a line of a pipe can't hold what parameters mean."""
    if what == "runs":
        return [runs.shown(row) for row in rows]
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
    return tuple(described(WORKLOADS[name].Parameters)) if name in WORKLOADS else ()


def _rows(what: str, store: Path) -> list[Row]:
    titled: dict[str, Callable[[], Mapping[str, str]]] = {
        "profiles": catalogue.titles,
        "studies": studies.titles,
        "instruments": lambda: {
            **{one.name: one.title for one in INSTRUMENTS.values()},
            **{name: f"recorder: {title}" for name, title in recorders.TITLES.items()},
        },
        "machines": lambda: machines.TITLES,
    }
    if what in titled:
        return [{"name": name, "title": title} for name, title in titled[what]().items()]
    return {"controls": _controls, "workloads": _workloads}.get(what, lambda: runs.rows(store))()


def _controls() -> list[Row]:
    """Return the controls of the catalogue; nothing is fetched for it."""
    rows: list[Row] = []
    for name in catalogue.titles():
        try:
            profile = catalogue.load(name, _package_at_hand)
        except HardcostError as error:
            rows.append({"profile": name, "mechanism": "unknown", "control": str(error), "ids": ""})
            continue
        rows += [
            {
                "profile": profile.name,
                "mechanism": type(control).__name__,
                "control": control.name,
                "ids": " ".join(one for one in control.ids if not one.startswith("SRG-")),
            }
            for control in profile.controls
        ]
    return rows


def _package_at_hand(package: str) -> Path:
    """Return the folder in which a Debian package lies unpacked.

    Raises:
        MachineError: It was never fetched, which for some takes minutes and a gigabyte.
    """
    kept = debianpackages.kept(Cache(), package)
    if kept is None:
        raise MachineError(
            f"unknown here: the Debian package {package} is fetched when the profile is billed"
        )
    return kept


def _workloads() -> list[Row]:
    rows = []
    for name, module in WORKLOADS.items():
        keys = "; ".join(f"{key}: {what}" for key, what in described(module.Parameters).items())
        rows.append({"name": name, "what": module.TITLE, "parameters": keys})
    rows += [
        {"name": f"syscalls calls={call.name}", "what": call.what, "parameters": ""}
        for call in syscalls.calls().values()
    ]
    return rows
