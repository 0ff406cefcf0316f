"""`hardcost runs`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from auditrules.cli.options import format_option, takes
from hardcost.cli.command import VerbGroup
from hardcost.cli.input import completion
from hardcost.cli.input.options import (
    StoreOptions,
    older_than_option,
    removal_plan_option,
    store_option,
)


@dataclass(frozen=True)
class _RemoveOptions:
    """The options of `hardcost runs remove`."""

    older_than: timedelta | None = older_than_option(
        "Remove the runs that were started longer ago than this, such as 30d, 12h or 2w."
    )
    dry_run: bool = removal_plan_option()
    store: Path = store_option()
    format: str = format_option()


@click.group(cls=VerbGroup)
def runs() -> None:
    """Check the runs in a store, or remove them with their reports.

    \b
    Examples:  hardcost runs check
               hardcost runs remove --older-than 30d
    """


@runs.command()
@click.argument("runs", nargs=-1, shell_complete=completion.runs)
@takes("own", StoreOptions)
def check(runs: tuple[str, ...], own: StoreOptions) -> None:
    """Check that RUNS (all, if none is named) are in the store as they were written.

    RUNS are names of runs, their beginnings, or 'last'. Each measurement and result is compared
    with the digest that was stored with it, and SQLite checks the file. What an older hardcost
    wrote has no digest and is called unchecked. Exit status 1 if anything is damaged.

    \b
    Examples:  hardcost runs check
               hardcost runs check --store shared.sqlite --format json
    """
    from auditrules.cli import results
    from hardcost.cli.console import console, progress
    from hardcost.show.store import CheckedStore, check_words
    from hardcost.store import read_only
    from hardcost.store.check import check_store, size

    with progress.monitor_of("auto").stage("trials", size(own.store)) as advance:
        names = [(*read_only.names(own.store), one)[0] if one == "last" else one for one in runs]
        found = check_store(own.store, names, advance)
    if own.format == "json":
        results.print_json(CheckedStore(own.store, found.runs, found.damaged))
    else:
        rows, said, notes = check_words(found)
        if rows:
            console.print_columns(rows)
        for line in said:
            click.echo(line)
        for line in notes:
            console.note(line)
    if found.damaged:
        raise click.exceptions.Exit(1)


@runs.command()
@click.argument("runs", nargs=-1, shell_complete=completion.runs)
@takes("own", _RemoveOptions)
def remove(runs: tuple[str, ...], own: _RemoveOptions) -> None:
    """Remove runs from the store, with their measurements and HTML reports.

    RUNS are names of runs, their beginnings, or 'last'; `hardcost list runs` prints them. A run
    that another process is measuring stays. A report that --report has put elsewhere stays, too.
    What a later run needs of a removed one is measured again.

    \b
    Examples:  hardcost runs remove bill-audit-samples-20260101-120000-ab12
               hardcost runs remove --older-than 30d --dry-run
    """
    from auditrules.cli import results
    from hardcost.cli.console import console
    from hardcost.errors import StoreError
    from hardcost.show.store import removal_result
    from hardcost.store import removal

    if bool(runs) == (own.older_than is not None):
        raise click.UsageError("name the runs to remove, or give --older-than, such as 30d")
    before = None if own.older_than is None else datetime.now(UTC) - own.older_than
    chosen, unknown = removal.choose_runs(own.store, runs, before)
    for name in unknown:
        console.note(f"{name} stays: it is damaged, and its age is not known; name it to remove it")
    done = removal.Removal()
    if chosen and not own.dry_run:
        done = removal.remove(own.store, chosen)
    for why in done.left:
        console.note(why)
    found = removal_result(own.store, chosen, done, dry_run=own.dry_run)
    if own.format == "json":
        results.print_json(found)
    else:
        click.echo("\n".join(found.words))
        for line in found.notes:
            console.note(line)
    if done.going_on and runs:
        raise StoreError(
            f"{', '.join(done.going_on)}: another process is measuring it, and it stays",
            hint="wait until that process ends",
        )
    for name in done.going_on:
        console.note(f"{name} stays: another process is measuring it")
