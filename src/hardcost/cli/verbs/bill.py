"""`hardcost bill`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click

import hardcost
from auditrules.cli.options import FILE, histogram_option, option, takes
from hardcost.cli.input import completion
from hardcost.cli.input.options import (
    MeasuringOptions,
    SettingOptions,
    measures,
    precision_option,
    scap_profile_option,
    time_limit_option,
    whole_bill_option,
)
from hardcost.cli.verb import ProfileTaker


@dataclass(frozen=True)
class _Options:
    """The options of `hardcost bill` alone."""

    budget: str | None = option(
        "--budget",
        metavar="PERCENT,…",
        help="Say what to leave out so that nothing grows by more than this: 50%, or"
        " 'open<=50%,chmod<=20%,5%', whose last value is for all other metrics. Exit status 1 if"
        " the whole profile exceeds the budget.",
    )
    method: Literal["auto", "verify", "single", "search"] = option(
        "--method",
        type=click.Choice(["auto", "verify", "single", "search"]),
        default="auto",
        show_default=True,
        help="Leave controls out in groups, which confirms what is predicted, and by themselves"
        " where that is not enough (verify); measure each by itself (single); or search for the few"
        " that cost most (search). auto verifies counts of system calls; else it searches where"
        " measuring each would take more than 20 minutes and a search less.",
    )
    resolution: str = option(
        "--resolution",
        metavar="PERCENT",
        default="1%",
        show_default=True,
        help="The smallest cost that a search looks for, as a share of what the workload needs"
        " without the profile.",
    )
    most: int | None = option(
        "--most",
        metavar="N",
        type=click.IntRange(2, 100_000),
        help="How many combinations of controls a search may measure (default: 12 where it builds"
        " kernels, else no limit).",
    )
    prefer_boot: bool = option(
        "--prefer-boot",
        is_flag=True,
        help="Replace a kernel option by the boot parameter or sysctl that does the same, where"
        " there is one.",
    )
    scap_profile: str | None = scap_profile_option(
        "PROFILE is a SCAP datastream: bill what this profile in it requires, such as stig."
    )
    tailoring: Path | None = option(
        "--tailoring",
        type=FILE,
        metavar="FILE",
        help="Change the profile of --scap-profile as this XCCDF tailoring file says.",
    )
    force_emulated_time: bool = option(
        "--force-emulated-time",
        is_flag=True,
        help="With --instrument time: go on where there is no KVM, although times of an emulator"
        " are mostly noise.",
    )
    count: bool = option(
        "--count/--no-count",
        default=True,
        help="On a real machine: also count the instructions of the same controls in guests, and"
        " show both numbers (default), or only times.",
    )
    leave_out_faulty: bool = option(
        "--leave-out-faulty",
        is_flag=True,
        help="Skip lines of sysctl files that can't be read, with a note, instead of failing.",
    )
    call: str | None = option(
        "--call",
        metavar="METRIC",
        help="Rank and show controls by their cost on this call, such as open, instead of the"
        " average call.",
    )
    histogram: Path | None = histogram_option(
        "How often your system makes each call, for the average: the output of `strace -c`,"
        ' `perf trace -s` or the exported calls.bt, or JSON such as {"openat": 12} (default: an'
        " assumed general-purpose system).",
    )
    all: bool = whole_bill_option()
    precision: str | None = precision_option()
    time_limit: float | None = time_limit_option()


@click.command(cls=ProfileTaker)
@click.argument("profiles", metavar="[PROFILE]...", nargs=-1, shell_complete=completion.profiles)
@takes("own", _Options)
@takes("added", SettingOptions)
@measures()
def bill(
    profiles: tuple[str, ...], own: _Options, added: SettingOptions, shared: MeasuringOptions
) -> None:
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
    _show(_request(profiles, own, added, shared), own, shared)


def _request(
    profiles: tuple[str, ...], own: _Options, added: SettingOptions, shared: MeasuringOptions
) -> hardcost.BillRequest:
    """Return what is asked of the bill."""
    from auditrules.library.histogram import histogram
    from hardcost.cli.input import requests
    from hardcost.library import percentages
    from hardcost.library.measurement import usual_instrument

    settings = requests.settings(added)
    usual = usual_instrument(shared.machine)
    how = requests.measuring(shared, usual, emulated_time=own.force_emulated_time)
    share = own.precision
    precision = None if share is None else percentages.above_zero("precision", share)
    budget = None if own.budget is None else percentages.budget(own.budget)
    resolution = percentages.above_zero("resolution", own.resolution)
    counts = None if own.histogram is None else histogram(own.histogram)
    if own.tailoring is not None and own.scap_profile is None:
        raise click.UsageError("--tailoring changes a datastream's profile: name --scap-profile.")
    requests.check_named(profiles, settings)
    return hardcost.BillRequest(
        profiles,
        settings=settings,
        scap_profile=own.scap_profile,
        tailoring=own.tailoring,
        leave_out_faulty=own.leave_out_faulty,
        budget=budget,
        method=own.method,
        resolution=resolution,
        most=own.most,
        prefer_boot=own.prefer_boot,
        precision=precision,
        time_limit=own.time_limit,
        count=own.count,
        call=own.call,
        histogram=counts,
        how=how,
    )


def _show(request: hardcost.BillRequest, own: _Options, shared: MeasuringOptions) -> None:
    """Print the bill, or its plan."""
    from hardcost.cli.output import dry_run, finding
    from hardcost.errors import MachineError
    from hardcost.library.bill import preview

    found = dry_run.call_or_show_plan(hardcost.bill, preview, request, shared)
    finding.show_finding(found, shared, everything=own.all)
    if found.is_incomplete:
        raise click.exceptions.Exit(MachineError.exit_status)
    if found.is_over_budget:
        raise click.exceptions.Exit(1)
