"""Arguments and options of `hardcost doctor`."""

from __future__ import annotations

import click

from hardcost.cli.commands.shared import format_option
from hardcost.cli.lazy import carried_out_by


@click.command()
@format_option()
@carried_out_by("hardcost.cli.doctor:doctor")
def doctor() -> None:
    """Say whether this machine can measure, with which instruments, and what is missing.

    Boots a guest with each instrument. Exit status 1 if exact counts (insn) are not available.

    \b
    Example:  hardcost doctor
    """
