"""Arguments and options of `hardcost run`."""

from __future__ import annotations

import click

from hardcost.cli.commands import completion
from hardcost.cli.commands.shared import measuring, precision, time_limit
from hardcost.cli.lazy import carried_out_by
from hardcost.cli.verb import Verb


@click.command(cls=Verb)
@click.argument("study", shell_complete=completion.studies)
@click.option(
    "--scale", metavar="NAME", help="Run the study in another size that it defines, such as full."
)
@click.option(
    "--profile",
    "profiling",
    is_flag=True,
    help="Also count in which functions of kernel and programs each configuration spends its"
    " instructions, as `hardcost profile` does.",
)
@precision
@time_limit
@measuring
@carried_out_by("hardcost.cli.run:run")
def run() -> None:
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
               hardcost run audit-rules --workload 'syscalls calls=null' --profile
               hardcost run my-study.toml --workload 'syscalls calls=null+open' --format json
    """
