"""What `hardcost bill` is given."""

from __future__ import annotations

import click

from hardcost.cli.commands import completion
from hardcost.cli.commands.shared import measuring_settings
from hardcost.cli.lazy import carried_out_by


@click.command()
@click.argument("profiles", metavar="[PROFILE]...", nargs=-1, shell_complete=completion.profiles)
@click.option(
    "--budget",
    metavar="PERCENT|METRIC<=PERCENT,…",
    help="Say what to leave out so that no metric grows by more, such as 50% or"
    " 'open<=50%,null=20%,5%', where the last is for all others; status 1 if the profile does.",
)
@click.option(
    "--method",
    type=click.Choice(["auto", "single", "search"]),
    default="auto",
    show_default=True,
    help="Measure each control by itself, or search for the few that are to blame by halving; auto"
    " searches where single trials would take more than ten minutes and a search less.",
)
@click.option(
    "--resolution",
    metavar="PERCENT",
    default="1%",
    show_default=True,
    help="The least cost, of the baseline, that a search looks for.",
)
@click.option(
    "--most",
    type=click.IntRange(2, 100_000),
    help="Configurations that a search may measure (default: 12 where it builds kernels).",
)
@click.option(
    "--prefer-boot",
    is_flag=True,
    help="Use the boot parameter or sysctl that does the same as a kernel option, where there is"
    " one.",
)
@click.option(
    "--scap-profile",
    metavar="ID",
    help="PROFILE is a SCAP datastream, and this the profile of it whose audit rules are meant.",
)
@click.option(
    "--force-emulated-time",
    is_flag=True,
    help="Itemise times also where they are an emulator's, which are noise, for want of KVM.",
)
@measuring_settings
@carried_out_by("hardcost.cli.bill:bill")
def bill() -> None:
    """Itemise what PROFILE costs, control by control."""
