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
    """Itemise what PROFILE costs, control by control.

    PROFILE is a name out of `hardcost list profiles`, an audit rules file, a folder of them like
    /etc/audit/rules.d, a file of sysctls or a folder like /etc/sysctl.d, a single KEY=VALUE, a
    profile in TOML, or a SCAP datastream with --scap-profile. --sysctl, --boot and --lsm add
    settings to it, or make a profile by themselves. Several PROFILEs are measured in one run and
    shown side by side.

    \b
    Each control is measured twice: left out of the whole profile, and alone.
      cost         what leaving it out saves
      alone        what it costs by itself
      interaction  what the costs together don't explain
      least        what placebos, which change nothing, seem to cost: a cost of up to
                   that is not distinguishable from 0, and goes into the rest
    The costs, the rest and the interaction add up to the total, exactly.

    Where that takes too long, as with kernel options, each of which takes a kernel of its own, a
    search halves the profile instead until it has found what costs more than --resolution, and
    confirms that: alone, and by leaving it out. It prints how it came to its answer.

    \b
    Examples:  hardcost bill stig-reduced
               hardcost bill audit-samples --budget 50%
               hardcost bill /etc/audit/rules.d --workload 'syscalls calls=open+chmod'
               hardcost bill --sysctl kernel.randomize_va_space=2 --boot init_on_alloc=1
               hardcost bill old.rules new.rules
               hardcost bill kspp --workload build,syscalls
    """
