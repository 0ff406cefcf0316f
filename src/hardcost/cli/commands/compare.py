"""Arguments and options of `hardcost compare`."""

from __future__ import annotations

import click

from hardcost.cli.commands import completion
from hardcost.cli.commands.shared import RESULT_FORMATS, format_option, raw, store_option
from hardcost.cli.lazy import carried_out_by


@click.command()
@click.argument("a", shell_complete=completion.runs)
@click.argument("b", shell_complete=completion.runs)
@store_option()
@format_option(RESULT_FORMATS)
@raw
@carried_out_by("hardcost.cli.compare:compare")
def compare() -> None:
    """Show the runs A and B side by side.

    A and B are a run's name, the beginning of one, or 'last'. Warns where the two were measured
    with different QEMUs or processor models, whose counts are not comparable. Where the kernels
    differ, they are what is compared.

    \b
    Examples:  hardcost compare audit-rules-20260101-120000-ab12 last
               hardcost compare audit-rules-20260101-120000-ab12 last --format benchstat > both.txt
               benchstat -col run both.txt
    """
