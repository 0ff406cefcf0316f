"""Arguments and options of `hardcost trace`."""

from __future__ import annotations

import click

from hardcost.cli.commands import completion
from hardcost.cli.commands.shared import output_file, scap_profile, tracing_settings
from hardcost.cli.lazy import carried_out_by


@click.command()
@click.argument("name", metavar="[PROFILE]", required=False, shell_complete=completion.profiles)
@click.option(
    "--call",
    metavar="NAME",
    help="Trace this call, one of those of the workload syscalls, such as open or chmod.",
)
@click.option(
    "--processors",
    metavar="N,…",
    help="Model the trace on so many processors, such as 1,2,4,8, without the profile too.",
)
@click.option("--all", "whole", is_flag=True, help="Print each piece, not just a screen of them.")
@output_file
@scap_profile
@tracing_settings
@carried_out_by("hardcost.cli.trace:trace")
def trace() -> None:
    """Say which process runs when, woken by whom, until an audit record has come to its end.

    With --call, one call is followed from its entry until its records are with the audit daemon,
    or in the file that it writes: which process runs when, woken by whom, for how many
    instructions, and where it waits. With --workload, such as filecopy, all of what is measured is.

    PROFILE is what `hardcost bill` takes. The pieces follow each other without a gap, and their
    instructions add up to what the instrument counts, to the instruction. It repeats exactly.

    --processors replays the trace on several processors: a model, whose assumptions are in
    docs/trace.md, and no measurement.

    The HTML report draws processes as lanes. --format perfetto writes what https://ui.perfetto.dev
    opens, with a nanosecond for each instruction.

    \b
    Examples:  hardcost trace audit-samples --call chmod
               hardcost trace rules.d --call open --all
               hardcost trace stig-full --workload 'filecopy files=10' --processors 1,2,8
               hardcost trace audit-samples --call chmod --format perfetto -o chmod.json
    """
