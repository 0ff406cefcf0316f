"""Arguments and options of `hardcost bill`."""

from __future__ import annotations

from pathlib import Path

import click

from hardcost.cli.commands import completion
from hardcost.cli.commands.shared import measuring_settings, precision, time_limit
from hardcost.cli.lazy import carried_out_by


@click.command()
@click.argument("profiles", metavar="[PROFILE]...", nargs=-1, shell_complete=completion.profiles)
@click.option(
    "--budget",
    metavar="PERCENT|METRIC<=PERCENT,…",
    help="Say what to leave out to keep every metric within a budget, such as 50% or"
    " 'open<=50%,null=20%,5%' (the last is for all other metrics). Status 1 if the profile exceeds"
    " it.",
)
@click.option(
    "--method",
    type=click.Choice(["auto", "single", "search"]),
    default="auto",
    show_default=True,
    help="Measure each control by itself, or search by halving for the few that cost most; auto"
    " searches where single trials would take more than twenty minutes and a search less.",
)
@click.option(
    "--resolution",
    metavar="PERCENT",
    default="1%",
    show_default=True,
    help="The smallest cost that a search looks for, as a share of the baseline.",
)
@click.option(
    "--most",
    type=click.IntRange(2, 100_000),
    help="How many configurations a search may measure (default: 12 where it builds kernels).",
)
@click.option(
    "--prefer-boot",
    is_flag=True,
    help="Replace a kernel option by the boot parameter or sysctl that does the same, where there"
    " is one.",
)
@click.option(
    "--scap-profile",
    metavar="ID",
    help="Bill all that this profile requires and that has a price; PROFILE is then a SCAP"
    " datastream.",
)
@click.option(
    "--tailoring",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Change that profile as this XCCDF tailoring file says.",
)
@click.option(
    "--force-emulated-time",
    is_flag=True,
    help="Itemise times without KVM, too; they are an emulator's, and mostly noise.",
)
@click.option(
    "--count/--no-count",
    default=True,
    help="Of a machine that is there already: count instructions of the same controls in guests,"
    " too, for both numbers (default), or not.",
)
@click.option(
    "--leave-out-faulty",
    is_flag=True,
    help="Leave out lines of sysctl files that can't be read, with a note, instead of refusing.",
)
@precision
@time_limit
@measuring_settings
@carried_out_by("hardcost.cli.bill:bill")
def bill() -> None:
    """Itemise what PROFILE costs, control by control.

    PROFILE is a name from `hardcost list profiles`, an audit rules file or a folder of them such as
    /etc/audit/rules.d, a sysctl file or a folder such as /etc/sysctl.d, a single KEY=VALUE, a
    profile in TOML, or a SCAP datastream with --scap-profile. --sysctl, --boot and --lsm add
    settings to it, or make a profile by themselves. Several PROFILEs are measured in one run and
    shown side by side.

    \b
    Each control is measured twice: left out of the whole profile, and alone.
      cost         what leaving it out saves
      alone        what it costs by itself
      fixed        what having any audit rule costs, whichever it is
      interaction  what the costs together don't explain
      least        what placebos, which change nothing, seem to cost: a cost of up to
                   that is not distinguishable from 0, and goes into the rest
    Costs, fixed, rest and interaction add up to the total exactly.

    With --scap-profile, the bill accounts for every rule of the profile: priced, measured and not
    distinguishable from 0, without a run-time cost, or not priced and why.

    On a machine that is there already (host, ssh:USER@HOST) a bill is of times. Nothing is booted:
    the column "audit off" is audit disabled by its state. All that is changed for a trial is put
    back after it.

    A search is faster where each control needs a kernel of its own. It halves the profile until it
    has found what costs more than --resolution, confirms each find alone and by leaving it out, and
    prints its steps.

    \b
    Examples:  hardcost bill stig-reduced
               hardcost bill audit-samples --budget 50%
               hardcost bill /etc/audit/rules.d --workload 'syscalls calls=open+chmod'
               hardcost bill --sysctl kernel.randomize_va_space=2 --boot init_on_alloc=1
               hardcost bill old.rules new.rules
               hardcost bill ssg-rhel9-ds.xml --scap-profile stig --tailoring ours.xml
               hardcost bill kspp --workload build,syscalls
               hardcost bill stig-reduced --machine ssh:root@web1 --precision 1%
    """
