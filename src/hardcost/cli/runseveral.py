"""`hardcost run` on several machines: a run on each, one after another, shown side by side."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from hardcost.cli.console import note, show
from hardcost.cli.present import Page, write_report
from hardcost.cli.run import on_machine
from hardcost.errors import InputError, MachineError
from hardcost.report.jsonout import to_json
from hardcost.report.tables.machines_table import machines_table

if TYPE_CHECKING:
    from hardcost.analysis.finding import Finding
    from hardcost.cli.run import Asked


def run(asked: Asked, words: dict[str, Any]) -> None:
    """Run a study on each machine that `words["machine"]` names, separated by commas.

    A machine that can't be measured is named, and the others are.

    Raises:
        InputError: A machine is named twice, or an option is about one run.
        Exit: A trial or a machine failed.
    """
    machines = words["machine"].split(",")
    _check(machines, words)
    found: list[Finding] = []
    lost = False
    for machine in machines:
        note(f"{machine}:")
        try:
            one = on_machine(asked, {**words, "machine": machine})
        except MachineError as error:
            note(f"{machine}: failed: {error.problems[0].message}")
            lost = True
            continue
        if one is not None:
            finding, chosen = one
            write_report(finding, Page(None, chosen.store))
            found.append(finding)
    if words["format"] == "json" and found:
        print(json.dumps({"machines": [json.loads(to_json(one)) for one in found]}, indent=2))
    elif found:
        show(machines_table(found))
    if lost or any(one.failures for one in found):
        raise click.exceptions.Exit(MachineError.exit_status)


def _check(machines: list[str], words: dict[str, Any]) -> None:
    twice = sorted({one for one in machines if machines.count(one) > 1})
    if twice or "" in machines:
        raise InputError(f"--machine: {twice[0] or 'a name'} is there twice, or is empty")
    if words["format"] not in {"text", "json"}:
        raise InputError(
            f"--format {words['format']} is of one run, and several machines are one run each",
            hint="take text or json, or run the study on one machine at a time",
        )
    for name in ("report", "resume"):
        if words[name]:
            raise InputError(f"--{name} is about one run, and several machines are one run each")
