"""Arguments and options of `hardcost profile`."""

from __future__ import annotations

import click

from hardcost.cli.commands import completion
from hardcost.cli.commands.shared import measuring_settings
from hardcost.cli.lazy import carried_out_by


@click.command()
@click.argument(
    "name", metavar="[PROFILE]", required=False, shell_complete=completion.profiles
)
@click.option(
    "--metric",
    multiple=True,
    metavar="NAME",
    help="Show this metric alone, such as open; may be repeated (default: all).",
)
@click.option(
    "--scap-profile",
    metavar="ID",
    help="Take the audit rules of this profile; PROFILE is then a SCAP datastream.",
)
@measuring_settings
@carried_out_by("hardcost.cli.profile:profile")
def profile() -> None:
    """Say in which functions the cost of PROFILE arises.

    PROFILE is what `hardcost bill` takes. Each metric is measured twice, without the profile and
    with it, and each instruction counts for the function that executes it, under its callers. The
    differences between functions add up to the metric's cost in the bill, to the instruction.

    Watching changes nothing: the same trials are run without it too, and the profile fails if a
    single sample differs.

    \b
    Examples:  hardcost profile audit-samples --workload 'syscalls calls=null+open'
               hardcost profile rules.d --metric open --format json
               hardcost profile --boot init_on_alloc=1 --workload 'command file=./program'
    """
