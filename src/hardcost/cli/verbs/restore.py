"""`hardcost restore`."""

from __future__ import annotations

import click

from auditrules.cli.options import FormatOptions, takes
from auditrules.cli.verb import Verb
from hardcost.cli.input import completion


@click.command(cls=Verb)
@click.argument("machine", default="host", shell_complete=completion.machines)
@click.option("--yes", is_flag=True, help="Restore it also while users are logged in there.")
@click.option(
    "--force",
    is_flag=True,
    help="Undo also what others have changed since (their change is lost), or what a run"
    " wrote of which the machine has no record.",
)
@takes("result", FormatOptions)
def restore(machine: str, *, yes: bool, force: bool, result: FormatOptions) -> None:
    """Undo what an interrupted run left changed on a real machine.

    MACHINE is host (this machine, the default) or ssh:USER@HOST. There is rarely anything to undo:
    a machine restores itself when its connection to hardcost ends, after a minute without a word
    from hardcost, and when it boots. If it still runs a kernel that an interrupted run has booted,
    it is rebooted into its own.

    Only settings that still have the value that hardcost wrote are undone. Settings that others
    have changed since are left as they are, and printed.

    Exit status 1 if such settings were left, 3 if something can't be undone.

    \b
    Example:  hardcost restore ssh:root@web1
    """
    from auditrules.cli import results
    from hardcost.errors import MachineError
    from hardcost.library.interrupt import until_done
    from hardcost.machines import names
    from hardcost.machines.options import MachineOptions
    from hardcost.units import count, visible

    names.check(machine, MachineOptions())
    done = until_done(names.restore(machine, force=force, people=yes))
    if result.format == "json":
        results.print_json(done)
    elif done.changes:
        click.echo(f"{machine}: {count(done.changes, 'change')} undone, and checked")
    elif not (done.problems or done.left or done.rebooted):
        click.echo(f"{machine}: nothing to undo")
    if done.rebooted and result.format != "json":
        click.echo(f"{machine}: rebooted as it was configured before")
    for problem in done.problems:
        click.echo(f"{machine}: {visible(problem)}", err=True)
    for left in done.left:
        click.echo(f"{machine}: left: {visible(left)}", err=True)
    if done.problems:
        raise click.exceptions.Exit(MachineError.exit_status)
    if done.left:
        raise click.exceptions.Exit(1)
