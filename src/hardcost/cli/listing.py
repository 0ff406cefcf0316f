"""`hardcost list`: what there is."""

from __future__ import annotations

import fnmatch
import itertools
import json
import shutil
import sys
import textwrap
from pathlib import Path
from typing import Any

import click

from hardcost.cli.console import fitted, note
from hardcost.cli.lazy import imported
from hardcost.errors import InputError
from hardcost.report.text import visible

Row = dict[str, Any]
_TITLES = {
    "profiles": "hardcost.profiles.catalogue:titles",
    "studies": "hardcost.study.read:titles",
}
_WIDTH = 100  # columns where stdout is no terminal
_LEAST_WIDTH = 40
_KERNEL_OPTIONS = "kernel-options"


def list_(  # noqa: PLR0913  (click's options)
    *,
    what: str,
    patterns: tuple[str, ...],
    configs: tuple[Path, ...],
    differing: bool,
    store: Path,
    format: str,  # noqa: A002
) -> None:
    """List controls, profiles, workloads, instruments, studies, machines or runs."""
    if what == _KERNEL_OPTIONS:
        present = imported("hardcost.cli.kernelcomparison:present")
        present((*configs, *map(Path, patterns)), format, differing=differing)
        return
    if configs or differing:
        raise click.UsageError(f"--config and --differing go with {_KERNEL_OPTIONS}")
    every = _rows(what, store)
    rows = [row for row in every if all(_contains(row, one) for one in patterns)]
    if format == "json":
        print(json.dumps(rows, indent=2))
    elif rows:
        _show(what, rows)
    elif not patterns:
        note("nothing yet")
    if patterns and not rows:
        note(f"no {what} match {' and '.join(map(repr, patterns))}")
        if what == "controls":
            _note_benchmark(patterns)
    unknown = [row["profile"] for row in every if row.get("mechanism") == "unknown"]
    if patterns and unknown:
        note(f"not known here until they are billed once: the controls of {', '.join(unknown)}")
    if patterns and not rows:
        raise click.exceptions.Exit(1)


def _note_benchmark(patterns: tuple[str, ...]) -> None:
    """Say which patterns are what a benchmark calls a control, and what takes them."""
    is_name = imported("hardcost.profiles.benchmarkcontrols:is_name")
    required = imported("hardcost.profiles.benchmarkcontrols:required")
    for one in filter(is_name, patterns):
        try:
            found = required(one)
        except InputError as error:
            note(str(error))
        else:
            note(f"{found.title}; {found.source}; `hardcost bill {one}` measures it")


def _contains(row: Row, pattern: str) -> bool:
    """Say whether a row has what a pattern says, as it stands or with wildcards."""
    texts = [" ".join(map(str, one)) if isinstance(one, list) else str(one) for one in row.values()]
    wanted = pattern.lower()
    return any(
        wanted in text or fnmatch.fnmatchcase(text, f"*{wanted}*") for text in map(str.lower, texts)
    )


def _show(what: str, rows: list[Row]) -> None:
    if what == "controls":
        for profile, controls in itertools.groupby(rows, key=lambda row: row["profile"]):
            _print_folded(profile, 0)
            for row in controls:
                _print_folded(row["control"], 2)
                _print_folded(row["ids"], 6)
    elif what == "runs":
        said = imported("hardcost.cli.runs:shown")
        for row in rows:
            _print_folded(row["run"], 0)
            for text in said(row):
                _print_folded(text, 2)
    else:
        shown = _shown(what, rows)
        fitted([list(shown[0]), *([visible(text) for text in row.values()] for row in shown)])
    sys.stdout.flush()  # before any note that follows on stderr


def _print_folded(text: str, indent: int) -> None:
    """Print a text, indented, in as many lines as it needs; no line if it is empty."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _WIDTH
    for line in textwrap.wrap(
        visible(text),
        max(width, _LEAST_WIDTH),
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + 4),
        break_on_hyphens=False,
    ):
        print(line)


def _shown(what: str, rows: list[Row]) -> list[Row]:
    """Return the rows as a table has them, which has no room for what parameters mean."""
    if what != "workloads":
        return rows
    note("`--format json` says what each parameter means")
    return [
        {
            "name": row["name"],
            "parameters": ", ".join(_parameters(row["name"])) or "-",
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
