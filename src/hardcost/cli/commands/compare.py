"""Arguments and options of `hardcost compare`."""

from __future__ import annotations

import click

from hardcost.cli.commands import completion
from hardcost.cli.commands.shared import RESULT_FORMATS, format_option, raw, store_option
from hardcost.cli.lazy import carried_out_by
from hardcost.cli.verb import Verb


@click.command(cls=Verb)
@click.argument("a", shell_complete=completion.runs)
@click.argument("b", shell_complete=completion.runs)
@store_option()
@format_option(RESULT_FORMATS)
@raw
@carried_out_by("hardcost.cli.compare:compare")
def compare() -> None:
    """Show the runs A and B side by side.

    A and B are names of runs, their beginnings, or 'last'; `hardcost list runs` prints them. Counts
    that were taken with different versions of QEMU or processor models are not comparable: then a
    warning is printed. If only the kernels differ, the kernels are compared.

    \b
    Examples:  hardcost compare audit-rules-20260101-120000-ab12 last
               hardcost compare audit-rules-20260101-120000-ab12 last --format benchstat > both.txt
               benchstat -col run both.txt
    """
