"""Arguments and options of `hardcost restore`."""

from __future__ import annotations

import click

from hardcost.cli.commands import completion
from hardcost.cli.commands.shared import format_option
from hardcost.cli.lazy import carried_out_by


@click.command()
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
    """Undo whatever an interrupted run left changed on MACHINE (default: host).

    Every change of a machine is in a journal before it is made, there and here. A machine also
    restores itself: as soon as its connection to hardcost ends, a minute after it went silent, and
    when it boots. So there is rarely anything left. A machine that still runs a boot of an
    interrupted run is rebooted, and waited for.

    Only what still has the value that hardcost wrote is undone. What somebody else has changed
    since is left and named, with its values. What was undone once is never undone again.

    Exit status 1 if something was left to somebody else, 3 if something can't be undone.

    \b
    Example:  hardcost restore ssh:root@web1
    """
