"""Arguments and options of `hardcost report`."""

from __future__ import annotations

from pathlib import Path

import click

from hardcost.cli.commands import completion
from hardcost.cli.commands.shared import RESULT_FORMATS, format_option, raw, store_option
from hardcost.cli.lazy import carried_out_by


@click.command()
@click.argument("run", shell_complete=completion.runs)
@click.option(
    "--report",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The HTML report's file (default: beside the store).",
)
@store_option()
@format_option(RESULT_FORMATS)
@raw
@carried_out_by("hardcost.cli.report:report")
def report() -> None:
    """Show RUN again.

    RUN is a run's name, the beginning of one, or 'last'. Writes the HTML report again, too.

    docs/data.md has the columns of csv and parquet.

    \b
    Examples:  hardcost report last --format json
               hardcost report last --format parquet > last.parquet
    """
