"""`hardcost doctor`."""

from __future__ import annotations

import click

from auditrules.cli.options import FormatOptions, takes
from auditrules.cli.verb import Verb
from hardcost.cli.input import completion
from hardcost.cli.input.options import GuestOptions


@click.command(cls=Verb)
@click.option(
    "--machine",
    metavar="NAME",
    default="vm",
    show_default=True,
    shell_complete=completion.machines,
    help="Which machine: one of `hardcost list machines`.",
)
@takes("guests", GuestOptions)
@takes("result", FormatOptions)
def doctor(machine: str, guests: GuestOptions, result: FormatOptions) -> None:
    """Check whether this machine can measure, and which packages are missing.

    Boots a guest with each instrument: insn, which counts instructions, and time, which reads the
    clock. Exit status 1 if instructions can't be counted. With --qemu, that QEMU is tried, and with
    --guest a guest of that release.

    With --machine host or ssh:USER@HOST, checks times on that machine itself: says what makes them
    noisy, and measures for a minute to find the smallest difference that is distinguishable from
    chance.

    \b
    Examples:  hardcost doctor
               hardcost doctor --qemu debian:13
               hardcost doctor --machine host
    """
    from auditrules.cli import results
    from hardcost.cli.console import progress
    from hardcost.library.doctor import checks_of
    from hardcost.units import visible

    checks = checks_of(machine, progress.monitor_of("auto"), guests.qemu, guests.guest)
    if result.format == "json":
        results.print_json(checks)
    else:
        for check in checks:
            mark = "ok  " if check.ok else "NO  " if check.needed else "no  "
            click.echo(f"{mark}{check.name:22}{visible(check.found)}")
            if not check.ok and check.remedy:
                click.echo(f"      remedy: {visible(check.remedy)}")
    if any(check.needed and not check.ok for check in checks):
        raise click.exceptions.Exit(1)
