"""Arguments and options of `hardcost runs`."""

from __future__ import annotations

import click

from hardcost.cli.commands import completion
from hardcost.cli.commands.shared import format_option, store_option
from hardcost.cli.lazy import LazyGroup, carried_out_by


@click.group(cls=LazyGroup)
def runs() -> None:
    """Check the runs in a store.

    \b
    Example:  hardcost runs check
    """


@runs.command()
@click.argument("runs", nargs=-1, shell_complete=completion.runs)
@store_option()
@format_option()
@carried_out_by("hardcost.cli.runs:check")
def check() -> None:
    """Check that RUNS (all, if none is named) are in the store as they were written.

    RUNS are names of runs, the beginnings of names, or 'last'. Each trial and result is compared
    with the digest that was kept with it, and SQLite checks the file. What an older hardcost wrote
    has no digest and is called unchecked. Exit status 1 if anything is damaged.

    \b
    Examples:  hardcost runs check
               hardcost runs check --store shared.sqlite --format json
    """
