"""Arguments and options of `hardcost doctor`."""

from __future__ import annotations

import click

from hardcost.cli.commands import completion
from hardcost.cli.commands.shared import format_option
from hardcost.cli.lazy import carried_out_by
from hardcost.cli.verb import Verb


@click.command(cls=Verb)
@click.option(
    "--machine",
    metavar="NAME",
    default="vm",
    show_default=True,
    shell_complete=completion.machines,
    help="Which machine: one of `hardcost list machines`.",
)
@format_option()
@carried_out_by("hardcost.cli.doctor:doctor")
def doctor() -> None:
    """Check whether this machine can measure, and which packages are missing.

    Boots a guest with each instrument: insn, which counts instructions, and time, which reads the
    clock. Exit status 1 if instructions can't be counted.

    With --machine host or ssh:USER@HOST, checks times on that machine itself: says what makes them
    noisy, and measures for a minute to find the smallest difference that can be told from chance.

    \b
    Examples:  hardcost doctor
               hardcost doctor --machine host
    """
