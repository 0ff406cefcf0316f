"""`hardcost run`."""

from __future__ import annotations

from dataclasses import dataclass

import click

import hardcost
from auditrules.cli.options import option, takes
from hardcost.cli.input import completion
from hardcost.cli.input.options import (
    MeasuringOptions,
    boot_option,
    measures,
    precision_option,
    time_limit_option,
)
from hardcost.cli.verb import ClusterVerb, say_renamed


@dataclass(frozen=True)
class _Options:
    """The options of `hardcost run` alone."""

    scale: str | None = option(
        "--scale",
        metavar="NAME",
        help="Run the study in another size that it defines, such as full.",
    )
    hotspots: bool = option(
        "--hotspots",
        is_flag=True,
        help="Also count in which functions of kernel and programs each configuration spends its"
        " instructions, as `hardcost hotspots` does.",
    )
    profile: bool = option("--profile", is_flag=True, hidden=True)  # its name until 0.1
    precision: str | None = precision_option()
    time_limit: float | None = time_limit_option()
    boot: tuple[str, ...] = boot_option(
        "A word of the kernel's command line in every configuration, such as mitigations=off; may"
        " be repeated.",
        "Settings to add to each configuration",
    )


@click.command(cls=ClusterVerb)
@click.argument("study", shell_complete=completion.studies)
@takes("own", _Options)
@measures()
def run(study: str, own: _Options, shared: MeasuringOptions) -> None:
    """Measure and compare the configurations of STUDY.

    STUDY is a name from `hardcost list studies`, or a TOML file of your own that says which
    configurations (sets of settings) to compare, and on which workloads, such as

    \b
        workloads = ["syscalls calls=null+open"]
        baseline = "none"
        [[configuration]]
        name = "none"
        [[configuration]]
        name = "mine"
        audit.files = ["my.rules"]
        sysctl = { "kernel.kptr_restrict" = 2 }

    Prints a table with a row for each configuration and a column for each metric (what is
    measured, such as the call `open`), saves each measurement, and writes an HTML report. What was
    measured earlier is reused. If a trial fails, its reason is reported, the run continues, and
    the exit status is 3.

    On a real machine (host, ssh:USER@HOST) audit rules and sysctls are applied for each trial and
    restored after it. After an interruption, `hardcost restore` restores them.

    \b
    Examples:  hardcost run audit-rules
               hardcost run my-study.toml --machine host --instrument time --precision 1%
               hardcost run my-rules.toml --machine ssh:root@web1 --instrument time
               hardcost run audit-rules --workload 'syscalls calls=null' --hotspots
               hardcost run my-study.toml --qemu debian:13 --format json
    """
    from hardcost.cli.console import progress
    from hardcost.cli.input import requests
    from hardcost.cli.output import dry_run, finding, several_machines
    from hardcost.errors import MachineError
    from hardcost.library import percentages
    from hardcost.library.run import preview
    from hardcost.study.read import instrument_of

    if own.profile:
        say_renamed("--profile", "--hotspots")
    share = own.precision
    request = hardcost.RunRequest(
        study,
        scale=own.scale,
        boot=own.boot,
        hotspots=own.hotspots or own.profile,
        how=requests.measuring(shared, instrument_of(study)),
        precision=None if share is None else percentages.above_zero("precision", share),
        time_limit=own.time_limit,
    )
    if "," in shared.machine:
        monitor = progress.monitor_of(shared.progress)
        is_whole = several_machines.run(request, shared, monitor)
    else:
        found = dry_run.call_or_show_plan(hardcost.run, preview, request, shared)
        finding.show_finding(found, shared)
        is_whole = not found.failures
    if not is_whole:
        raise click.exceptions.Exit(MachineError.exit_status)
