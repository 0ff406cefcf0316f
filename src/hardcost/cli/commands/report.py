"""Arguments and options of `hardcost report`."""

from __future__ import annotations

from pathlib import Path

import click

from hardcost.cli.commands import completion
from hardcost.cli.commands.shared import (
    RESULT_FORMATS,
    format_option,
    raw,
    store_option,
    whole_bill,
)
from hardcost.cli.lazy import carried_out_by
from hardcost.cli.verb import Verb


@click.command(cls=Verb)
@click.argument("run", shell_complete=completion.runs)
@click.option(
    "--report",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The HTML report's file (default: beside the store).",
)
@whole_bill
@store_option()
@format_option(RESULT_FORMATS)
@raw
@carried_out_by("hardcost.cli.report:report")
def report() -> None:
    """Show the result of an earlier run again, and write its HTML report.

    RUN is the name of a run, its beginning, or 'last'; `hardcost list runs` prints them.
    docs/data.md explains the columns of csv and parquet.

    \b
    Examples:  hardcost report last --format json
               hardcost report last --format parquet > last.parquet
    """
