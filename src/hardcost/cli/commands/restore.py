"""Arguments and options of `hardcost restore`."""

from __future__ import annotations

import click

from hardcost.cli.commands import completion
from hardcost.cli.commands.shared import format_option
from hardcost.cli.lazy import carried_out_by
from hardcost.cli.verb import Verb


@click.command(cls=Verb)
@click.argument("machine", default="host", shell_complete=completion.machines)
@click.option("--yes", is_flag=True, help="Restore it also while users are logged in there.")
@click.option(
    "--force",
    is_flag=True,
    help="Undo also what somebody else has changed since (their change is lost), or what a run"
    " wrote of which the machine has no record.",
)
@format_option()
@carried_out_by("hardcost.cli.restore:restore")
def restore() -> None:
    """Undo what an interrupted run left changed on a real machine.

    MACHINE is host (this machine, the default) or ssh:USER@HOST. There is rarely anything to undo:
    a machine restores itself when its connection to hardcost ends, after a minute without a word
    from hardcost, and when it boots. If it still runs a kernel that an interrupted run has booted,
    it is rebooted into its own.

    Only settings that still have the value that hardcost wrote are undone. Settings that somebody
    else has changed since are left as they are, and printed.

    Exit status 1 if such settings were left, 3 if something can't be undone.

    \b
    Example:  hardcost restore ssh:root@web1
    """
