"""What `hardcost compare` is given."""

from __future__ import annotations

import click

from hardcost.cli.commands import completion
from hardcost.cli.commands.shared import format_option, store_option
from hardcost.cli.lazy import carried_out_by


@click.command()
@click.argument("a", shell_complete=completion.runs)
@click.argument("b", shell_complete=completion.runs)
@store_option()
@format_option()
@carried_out_by("hardcost.cli.compare:compare")
def compare() -> None:
    """Put the runs A and B side by side.

    Each is a run's name, the beginning of it, or 'last'. Says where the two were measured with
    another QEMU, kernel or processor model, whose counts can't be compared.

    \b
    Example:  hardcost compare audit-rules-20260101-120000-ab12 last
    """
