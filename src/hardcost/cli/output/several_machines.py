"""`hardcost run` on several machines: a run on each, one after another, shown side by side."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass

from pydantic import TypeAdapter

import hardcost
from auditrules.cli.options import FORMATS
from auditrules.cli.results import show
from hardcost.cli.console.console import note
from hardcost.cli.input.options import MeasuringOptions
from hardcost.cli.output import dry_run
from hardcost.cli.output.finding import Page, write_report
from hardcost.errors import InputError, MachineError
from hardcost.library.run import preview
from hardcost.measure.monitor import Monitor
from hardcost.model.finding.study import StudyFinding
from hardcost.show.tables.machines import machines_table


@dataclass(frozen=True)
class OnMachines:
    """The JSON of a run on several machines: the finding of each."""

    machines: tuple[StudyFinding, ...]


def run(request: hardcost.RunRequest, shared: MeasuringOptions, monitor: Monitor) -> bool:
    """Run a study on each machine that the options name; return whether nothing failed.

    A machine that can't be measured is named, and the others are.

    Raises:
        InputError: A machine is named twice, or an option is about one run.
    """
    machines = shared.machine.split(",")
    _check(machines, shared)
    found: list[StudyFinding] = []
    is_whole = True
    for machine in machines:
        note(f"{machine}:")
        how = dataclasses.replace(request.how, machine=machine)
        asked = dataclasses.replace(request, how=how)
        try:
            if shared.dry_run:
                dry_run.show_plan(preview(asked, monitor), shared.format)
                continue
            one = hardcost.run(asked, monitor)
        except MachineError as error:
            note(f"{machine}: failed: {error.problems[0]}")
            is_whole = False
            continue
        write_report(one, Page(None, shared.store))
        found.append(one)
    if shared.format == "json" and found:
        shown = TypeAdapter(OnMachines).dump_python(OnMachines(tuple(found)), by_alias=True)
        print(json.dumps(shown, indent=2))
    elif found:
        show(machines_table(found))
    return is_whole and not any(one.failures for one in found)


def _check(machines: list[str], shared: MeasuringOptions) -> None:
    twice = sorted({one for one in machines if machines.count(one) > 1})
    if twice or "" in machines:
        raise InputError(f"--machine: {twice[0] or 'a name'} is there twice, or is empty")
    if shared.format not in FORMATS:
        raise InputError(
            f"--format {shared.format} is of one run, and several machines are one run each",
            hint="take text or json, or run the study on one machine at a time",
        )
    for name, is_given in (("report", shared.report), ("resume", shared.resume)):
        if is_given:
            raise InputError(f"--{name} is about one run, and several machines are one run each")
