"""`hardcost image`: what is kept of packages, kernels, guests and snapshots."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click
from rich.table import Table

from hardcost.cli.console import show
from hardcost.cli.options import format_option
from hardcost.machines.cache import Cache
from hardcost.report.text import visible

if TYPE_CHECKING:
    from hardcost.machines.cache import Entry


@click.group()
def image() -> None:
    """List and remove what hardcost keeps to boot guests.

    \b
    Example:  hardcost image list
    """


@image.command(name="list")
@format_option()
def list_(format: str) -> None:  # noqa: A002
    """List packages, kernels, guests and snapshots with their size on disk.

    \b
    Example:  hardcost image list --format json
    """
    cache = Cache()
    entries = cache.entries()
    if format == "json":
        print(json.dumps([_data(entry) for entry in entries], indent=2))
        return
    table = Table(title=f"kept in {visible(str(cache.root))}", title_justify="left")
    for column in ("kind", "name", "what"):
        table.add_column(column)
    table.add_column("MiB", justify="right")
    for entry in entries:
        size = f"{entry.size / 2**20:.1f}"
        table.add_row(entry.kind, entry.name, visible(entry.title), size)
    show(table)


@image.command()
@click.argument("names", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Remove all of it.")
def remove(names: tuple[str, ...], *, everything: bool) -> None:
    """Remove what NAMES name (the beginning of a name will do); it is made again when needed.

    \b
    Example:  hardcost image remove 3f9a
    """
    cache = Cache()
    if not names and not everything:
        raise click.UsageError("name what to remove, or give --all")
    chosen = tuple(entry.name for entry in cache.entries()) if everything else names
    for entry in cache.remove(chosen):
        click.echo(f"removed {entry.kind} {entry.name} ({visible(entry.title)})")


def _data(entry: Entry) -> dict[str, object]:
    return {
        "kind": entry.kind,
        "name": entry.name,
        "title": entry.title,
        "bytes": entry.size,
        "path": str(entry.path),
    }
