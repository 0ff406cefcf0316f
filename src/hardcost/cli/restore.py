"""`hardcost restore`: undo what an interrupted run left changed on a machine."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from hardcost.cli.waiting import until_done
from hardcost.errors import MachineError
from hardcost.machines import names
from hardcost.machines.wanted import Wanted
from hardcost.report.text import visible
from hardcost.units import count


def restore(machine: str, *, yes: bool, force: bool, format: str) -> None:  # noqa: A002  (click's)
    """Undo whatever an interrupted run left changed on a machine.

    Raises:
        InputError: There is no such machine, or it is none that is ever changed.
        MachineError: It can't be reached.
    """
    names.check(machine, Wanted())
    done = until_done(names.restore(machine, force=force, people=yes))
    if format == "json":
        print(json.dumps(asdict(done), indent=2))
    elif done.changes:
        click.echo(f"{machine}: {count(done.changes, 'change')} undone, and checked")
    elif not (done.problems or done.left or done.rebooted):
        click.echo(f"{machine}: nothing to undo")
    if done.rebooted and format != "json":
        click.echo(f"{machine}: rebooted as it was configured before")
    for problem in done.problems:
        click.echo(f"{machine}: {visible(problem)}", err=True)
    for left in done.left:
        click.echo(f"{machine}: left: {visible(left)}", err=True)
    if done.problems:
        raise click.exceptions.Exit(MachineError.exit_status)
    if done.left:
        raise click.exceptions.Exit(1)
