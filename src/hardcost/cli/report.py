"""`hardcost report`: a run's table and HTML report again."""

from __future__ import annotations

from pathlib import Path

import click

from hardcost.cli.finding import present, unpacked
from hardcost.cli.options import format_option, store_option
from hardcost.store.store import Store


@click.command()
@click.argument("run")
@click.option(
    "--report",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where the HTML report goes (default: beside the store).",
)
@store_option()
@format_option()
def report(run: str, report: Path | None, store: Path, format: str) -> None:  # noqa: A002
    """Show RUN again: its name, the beginning of it, or 'last'.

    \b
    Example:  hardcost report last --format json
    """
    with Store(store) as opened:
        found, text = opened.finding(run)
    present(unpacked(text), format, report or store.parent / "reports" / f"{found.name}.html")
