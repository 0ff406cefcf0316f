"""What `hardcost run` is given."""

from __future__ import annotations

import click

from hardcost.cli.commands import completion
from hardcost.cli.commands.shared import measuring
from hardcost.cli.lazy import carried_out_by


@click.command()
@click.argument("study", shell_complete=completion.studies)
@click.option("--scale", metavar="NAME", help="The study at another size of its own, such as full.")
@measuring
@carried_out_by("hardcost.cli.run:run")
def run() -> None:
    """Run STUDY: the name of a ready-made one, or a TOML file.

    Prints a table with configurations down and metrics across, saves every trial, and writes an
    HTML report. What was measured before is taken from the store. A trial that fails is
    reported with its reason; the others go on, and the exit status is 3.

    \b
    Examples:  hardcost run audit-rules
               hardcost run my-study.toml --workload 'syscalls calls=null+open' --format json
    """
