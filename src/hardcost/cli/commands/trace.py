"""Arguments and options of `hardcost trace`."""

from __future__ import annotations

import click

from hardcost.cli.commands import completion
from hardcost.cli.commands.shared import RuleTaker, output_file, scap_profile, tracing_settings
from hardcost.cli.lazy import carried_out_by


@click.command(cls=RuleTaker)
@click.argument("name", metavar="[PROFILE]", required=False, shell_complete=completion.profiles)
@click.option(
    "--call",
    metavar="NAME",
    help="Trace one system call of the workload syscalls, such as open or chmod.",
)
@click.option(
    "--processors",
    metavar="N,…",
    help="Also compute how long it would take on so many processors, such as 1,2,4,8, with and"
    " without the profile.",
)
@click.option("--all", "whole", is_flag=True, help="Print every step, not only the first screen.")
@output_file
@scap_profile
@tracing_settings
@carried_out_by("hardcost.cli.trace:trace")
def trace() -> None:
    """Show which process runs when, from a system call to its audit record in the log.

    With --call, one call is followed from its entry until the audit daemon has its records, or has
    written them: which process runs when, what woke it, for how many instructions, and where it
    waits. With --workload, such as filecopy, everything that is measured is traced.

    PROFILE is what `hardcost bill` takes. The steps follow each other without a gap, their
    instructions add up exactly to the count in a bill, and every trace of the same call is the
    same.

    --processors is a model, not a measurement; docs/trace.md has its assumptions.

    The HTML report draws a lane for each process. --format perfetto writes a file for
    https://ui.perfetto.dev, with a nanosecond for each instruction.

    \b
    Examples:  hardcost trace audit-samples --call chmod
               hardcost trace rules.d --call open --all
               hardcost trace stig-full --workload 'filecopy files=10' --processors 1,2,8
               hardcost trace audit-samples --call chmod --format perfetto -o chmod.json
    """
