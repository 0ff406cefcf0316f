"""Arguments and options of `hardcost run`."""

from __future__ import annotations

import click

from hardcost.cli.commands import completion
from hardcost.cli.commands.shared import measuring, precision, time_limit
from hardcost.cli.lazy import carried_out_by


@click.command()
@click.argument("study", shell_complete=completion.studies)
@click.option("--scale", metavar="NAME", help="Another size that the study defines, such as full.")
@click.option(
    "--profile",
    "profiling",
    is_flag=True,
    help="Say in which functions the cost of each configuration arises (see `hardcost profile`).",
)
@precision
@time_limit
@measuring
@carried_out_by("hardcost.cli.run:run")
def run() -> None:
    """Run STUDY, a ready-made study or a TOML file.

    Prints a table with a row for each configuration and a column for each metric, saves every
    trial, and writes an HTML report. Trials that the store has are not measured again. A failed
    trial is reported with its reason; the run continues and exits with status 3.

    On a machine that is there already (host, ssh:USER@HOST) audit rules and sysctls are applied for
    each trial and put back after it; `hardcost restore` does so after an interruption.

    \b
    Examples:  hardcost run audit-rules
               hardcost run my-study.toml --machine host --instrument time --precision 1%
               hardcost run my-rules.toml --machine ssh:root@web1 --instrument time
               hardcost run audit-rules --workload 'syscalls calls=null' --profile
               hardcost run my-study.toml --workload 'syscalls calls=null+open' --format json
    """
