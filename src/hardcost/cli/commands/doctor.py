"""Arguments and options of `hardcost doctor`."""

from __future__ import annotations

import click

from hardcost.cli.commands import completion
from hardcost.cli.commands.shared import format_option
from hardcost.cli.lazy import carried_out_by


@click.command()
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
    """Say whether this machine can measure, with which instruments, and what is missing.

    Boots a guest with each instrument. Exit status 1 if exact counts (insn) are not available.

    --machine host looks at this machine itself: what makes its times noisy, and by a measurement of
    a minute, which difference is the smallest that it can tell from chance. So does
    ssh:USER@HOST for another.

    \b
    Examples:  hardcost doctor
               hardcost doctor --machine host
    """
