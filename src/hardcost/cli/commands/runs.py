"""Arguments and options of `hardcost runs`."""

from __future__ import annotations

import click

from hardcost.cli.commands import completion
from hardcost.cli.commands.shared import format_option, older_than, removal_plan, store_option
from hardcost.cli.lazy import LazyGroup, carried_out_by


@click.group(cls=LazyGroup)
def runs() -> None:
    """Check the runs in a store, or remove them with their reports.

    \b
    Examples:  hardcost runs check
               hardcost runs remove --older-than 30d
    """


@runs.command()
@click.argument("runs", nargs=-1, shell_complete=completion.runs)
@store_option()
@format_option()
@carried_out_by("hardcost.cli.runs:check")
def check() -> None:
    """Check that RUNS (all, if none is named) are in the store as they were written.

    RUNS are names of runs, their beginnings, or 'last'. Each measurement and result is compared
    with the digest that was stored with it, and SQLite checks the file. What an older hardcost
    wrote has no digest and is called unchecked. Exit status 1 if anything is damaged.

    \b
    Examples:  hardcost runs check
               hardcost runs check --store shared.sqlite --format json
    """


@runs.command()
@click.argument("runs", nargs=-1, shell_complete=completion.runs)
@older_than("Remove the runs that were started longer ago than this, such as 30d, 12h or 2w.")
@removal_plan
@store_option()
@format_option()
@carried_out_by("hardcost.cli.runs:remove")
def remove() -> None:
    """Remove runs from the store, with their measurements and HTML reports.

    RUNS are names of runs, their beginnings, or 'last'; `hardcost list runs` prints them. A run
    that another process is measuring stays. A report that --report has put elsewhere stays, too.
    What a later run needs of a removed one is measured again.

    \b
    Examples:  hardcost runs remove bill-audit-samples-20260101-120000-ab12
               hardcost runs remove --older-than 30d --dry-run
    """
