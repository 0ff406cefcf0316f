"""Arguments and options of `hardcost profile`."""

from __future__ import annotations

import click

from hardcost.cli.commands import completion
from hardcost.cli.commands.shared import RuleTaker, output_file, profiling_settings, scap_profile
from hardcost.cli.lazy import carried_out_by


@click.command(cls=RuleTaker)
@click.argument("name", metavar="[PROFILE]", required=False, shell_complete=completion.profiles)
@click.option(
    "--metric",
    multiple=True,
    metavar="NAME",
    help="Show only this metric, such as open; may be repeated (default: all).",
)
@click.option(
    "--by-control",
    is_flag=True,
    help="Also say for each control in which functions its cost arises; takes two trials for each.",
)
@click.option(
    "--lines",
    metavar="FUNCTION",
    help="Also print the source of this kernel function, with the instructions of each line. Works"
    " for kernels that hardcost builds; the kernel is built once more, with debug data.",
)
@output_file
@scap_profile
@profiling_settings
@carried_out_by("hardcost.cli.profile:profile")
def profile() -> None:
    """Say in which functions the cost of PROFILE arises.

    PROFILE is what `hardcost bill` takes. The workload runs without PROFILE and with it, and each
    instruction is counted for the function that executes it, and for that function's callers. The
    differences add up exactly to the cost in the bill. Workloads in a Debian guest are also shown
    by process. The HTML report has a differential flame graph for each metric.

    Counting by function does not change the counts: the same trials also run without it, and any
    difference is an error.

    --format also writes files for other tools: folded (stacks with PROFILE) and folded-diff
    (without and with it, in two columns) for flame graphs; speedscope; pprof; and callgrind for
    callgrind_annotate and KCachegrind.

    \b
    Examples:  hardcost profile audit-samples --workload 'syscalls calls=null+open'
               hardcost profile rules.d --metric open --format json
               hardcost profile rules.d --metric open --by-control
               hardcost profile stig-full --workload filecopy --repetitions 1 --metric wall
               hardcost profile --boot init_on_alloc=1 --workload 'command file=./program'
               hardcost profile rules.toml --metric open --lines audit_filter_rules
               hardcost profile audit-samples --format pprof -o audit.pb.gz
    """
