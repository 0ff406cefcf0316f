"""Arguments and options of `hardcost export` and its verbs."""

from __future__ import annotations

from pathlib import Path

import click

from hardcost.cli.commands.shared import store_option
from hardcost.cli.lazy import LazyGroup, carried_out_by


@click.group(cls=LazyGroup)
def export() -> None:
    """Write results for other programs.

    \b
    Example:  hardcost export runs -o runs.csv
    """


@export.command()
@click.option(
    "-o",
    "--out",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    help="The file to write, whose name ends in .csv, .parquet or .md, or - for standard output.",
)
@click.option(
    "--format",
    type=click.Choice(["csv", "parquet", "markdown"]),
    help="The file's format (default: by its name; csv on standard output).",
)
@store_option()
@carried_out_by("hardcost.cli.exporting:runs")
def runs() -> None:
    """Write everything in the store as one table: every run, bill and trial.

    Each row is a number with all that says what it is. docs/data.md lists the columns. Parquet
    needs pyarrow: pip install 'hardcost[parquet]'.

    \b
    Examples:  hardcost export runs -o runs.csv
               hardcost export runs -o runs.parquet
    """
