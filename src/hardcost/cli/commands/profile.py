"""Arguments and options of `hardcost profile`."""

from __future__ import annotations

import click

from hardcost.cli.commands import completion
from hardcost.cli.commands.shared import output_file, profiling_settings, scap_profile
from hardcost.cli.lazy import carried_out_by


@click.command()
@click.argument("name", metavar="[PROFILE]", required=False, shell_complete=completion.profiles)
@click.option(
    "--metric",
    multiple=True,
    metavar="NAME",
    help="Show this metric alone, such as open; may be repeated (default: all).",
)
@click.option(
    "--by-control",
    is_flag=True,
    help="Say for each control, too, in which functions its cost arises; two trials each.",
)
@click.option(
    "--lines",
    metavar="FUNCTION",
    help="Print this function's source, too, with counts beside each line. The kernel has to be one"
    " that hardcost builds or has built; it is built once more, with debug data.",
)
@output_file
@scap_profile
@profiling_settings
@carried_out_by("hardcost.cli.profile:profile")
def profile() -> None:
    """Say in which functions the cost of PROFILE arises.

    PROFILE is what `hardcost bill` takes. Each metric is measured twice, without the profile and
    with it, and each instruction counts for the function that executes it, under its callers. The
    differences between functions add up to the metric's cost in the bill, to the instruction.

    --format takes the forms of other tools, too: folded stacks of what PROFILE executes (folded),
    or in two columns without and with it (folded-diff), for flame graphs; speedscope; pprof; and
    callgrind, for callgrind_annotate and KCachegrind.

    In a Debian guest each process counts, by its name: who pays for a copy, a mail or a request.
    The HTML report has a differential flame graph for each metric.

    Watching changes nothing: the same trials are run without it too, and the profile fails if a
    single sample differs.

    \b
    Examples:  hardcost profile audit-samples --workload 'syscalls calls=null+open'
               hardcost profile rules.d --metric open --format json
               hardcost profile rules.d --metric open --by-control
               hardcost profile stig-full --workload filecopy --repetitions 1 --metric wall
               hardcost profile --boot init_on_alloc=1 --workload 'command file=./program'
               hardcost profile rules.toml --metric open --lines audit_filter_rules
               hardcost profile audit-samples --format pprof -o audit.pb.gz
    """
