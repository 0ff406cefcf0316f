"""Arguments and options of `hardcost bill`."""

from __future__ import annotations

from pathlib import Path

import click

from hardcost.cli.commands import completion
from hardcost.cli.commands.shared import (
    RuleTaker,
    histogram,
    measuring_settings,
    precision,
    time_limit,
    whole_bill,
)
from hardcost.cli.lazy import carried_out_by


@click.command(cls=RuleTaker)
@click.argument("profiles", metavar="[PROFILE]...", nargs=-1, shell_complete=completion.profiles)
@click.option(
    "--budget",
    metavar="PERCENT,…",
    help="Say what to leave out so that nothing grows by more than this: 50%, or"
    " 'open<=50%,chmod<=20%,5%', whose last value is for all other metrics. Exit status 1 if the"
    " whole profile exceeds the budget.",
)
@click.option(
    "--method",
    type=click.Choice(["auto", "single", "search"]),
    default="auto",
    show_default=True,
    help="Measure each control by itself (single), or search for the few that cost most (search)."
    " auto searches where measuring each would take more than 20 minutes and a search less.",
)
@click.option(
    "--resolution",
    metavar="PERCENT",
    default="1%",
    show_default=True,
    help="The smallest cost that a search looks for, as a share of what the workload needs without"
    " the profile.",
)
@click.option(
    "--most",
    metavar="N",
    type=click.IntRange(2, 100_000),
    help="How many combinations of controls a search may measure (default: 12 where it builds"
    " kernels, else no limit).",
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
    help="PROFILE is a SCAP datastream: bill what this profile in it requires, such as stig.",
)
@click.option(
    "--tailoring",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Change the profile of --scap-profile as this XCCDF tailoring file says.",
)
@click.option(
    "--force-emulated-time",
    is_flag=True,
    help="With --instrument time: go on where there is no KVM, although times of an emulator are"
    " mostly noise.",
)
@click.option(
    "--count/--no-count",
    default=True,
    help="On a real machine: also count the instructions of the same controls in guests, and show"
    " both numbers (default), or only times.",
)
@click.option(
    "--leave-out-faulty",
    is_flag=True,
    help="Skip lines of sysctl files that can't be read, with a note, instead of failing.",
)
@click.option(
    "--call",
    metavar="METRIC",
    help="Rank and show controls by their cost on this call, such as open, instead of the average"
    " call.",
)
@histogram(
    "How often your system makes each call, for the average: the output of `strace -c`,"
    ' `perf trace -s` or the exported calls.bt, or JSON such as {"openat": 12} (default: an assumed'
    " general-purpose system).",
)
@whole_bill
@precision
@time_limit
@measuring_settings
@carried_out_by("hardcost.cli.bill:bill")
def bill() -> None:
    """Itemise what PROFILE costs, control by control.

    PROFILE is a name from `hardcost list profiles`, an audit rules file or a folder of them such as
    /etc/audit/rules.d, a sysctl file or a folder such as /etc/sysctl.d, - for standard input, an
    audit rule in quotes, a single KEY=VALUE, what a benchmark calls a control (RHEL-09-654010,
    UBTU-24-900150, a CCE number, rhel9:6.3.3.9 for CIS, an XCCDF rule), a profile in TOML, or a
    profile of a SCAP datastream (FILE.xml:stig). --sysctl, --boot and --lsm add settings to it, or
    make a profile by themselves. Several PROFILEs are measured in one run and shown side by side.

    A control is one setting of PROFILE, such as an audit rule, a sysctl or a boot parameter. Each
    is measured twice: the profile without it, and it alone.

    \b
      cost         what leaving the control out of the profile saves
      alone        what the control costs by itself
      any rule     what having any audit rule costs, whichever it is
      least        how much something without any effect (a placebo) seems to cost: a cost
                   of up to that is not distinguishable from 0
      rest         the sum of the costs that are not distinguishable from 0
      interaction  what is left: controls cost more, or less, together than one by one
    Costs, any rule, rest and interaction add up to the total exactly.

    The answer and the ten most expensive controls are printed; --all prints every metric (what is
    measured: a system call, or a program's run) and every control. Controls are ranked by their
    cost on the average system call, each call weighed as often as `hardcost rules cost` assumes;
    --histogram or --call replaces that. Of a program, they are ranked by the whole run.

    With --scap-profile, the bill lists every rule of that profile: with its cost, as not
    distinguishable from 0, as without a cost at run time, or as not measured, with the reason.

    On a real machine (host, ssh:USER@HOST) a bill shows times. Nothing is rebooted; whatever is
    changed for a trial is restored after it. In the column "audit off", auditing is switched off
    while the machine runs.

    Kernel options need a kernel for each combination. A search is faster there: it halves the
    profile until it has found the controls that cost more than --resolution, measures each of them
    alone and left out; --all prints its steps.

    \b
    Examples:  hardcost bill stig-reduced
               hardcost bill audit-samples --budget 50%
               hardcost bill '-w /etc/passwd -p wa'
               hardcost bill RHEL-09-654010
               hardcost bill /etc/audit/rules.d --call open
               hardcost bill /etc/audit/rules.d --workload 'syscalls calls=open+chmod'
               hardcost bill --sysctl kernel.randomize_va_space=2 --boot init_on_alloc=1
               hardcost bill --lsm enforcing --workload 'command file=./prog'
               hardcost bill rhel9-cis rhel9-stig
               hardcost bill ssg-rhel9-ds.xml --scap-profile stig --tailoring ours.xml
               hardcost bill kspp --workload build,syscalls
               hardcost bill stig-reduced --machine ssh:root@web1 --precision 1%
    """
