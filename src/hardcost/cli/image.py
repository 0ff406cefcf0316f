"""`hardcost image`: making roots of guests, and what is kept of all that boots them."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import click
from rich.table import Table

from hardcost.cli.console import note, show
from hardcost.cli.monitors import monitor_of
from hardcost.machines import guestimages
from hardcost.machines.cache import Cache
from hardcost.report.text import visible

if TYPE_CHECKING:
    from hardcost.machines.cache import Entry


def build(what: str, format: str) -> None:  # noqa: A002
    """Make the root image of guests with services, unless it is kept, and say where it lies."""
    since = time.monotonic()
    made, packages = guestimages.make(what, Cache(), monitor_of("auto").underway)
    seconds = time.monotonic() - since
    if format == "json":
        said = {
            "path": str(made.path),
            "title": made.title,
            "digest": made.digest,
            "bytes": made.size,
            "bytes_on_disk": made.path.stat().st_blocks * 512,
            "seconds": round(seconds, 1),
            "packages": made.packages,
        }
        print(json.dumps(said, indent=2))
        return
    size = f"{made.path.stat().st_blocks * 512 >> 20} MiB on disk"
    click.echo(f"{visible(made.title)}: {visible(str(made.path))}")
    click.echo(f"{size}, room for {made.size >> 20} MiB in the guest; {seconds:.1f} s")
    wanted = ", ".join(f"{name} {made.packages[name]}" for name in packages)
    click.echo(f"with {visible(wanted)}, and what these need")


def list_(format: str) -> None:  # noqa: A002
    """List packages, kernels, guests, images and snapshots with their size on disk."""
    cache = Cache()
    entries = cache.entries()
    if format == "json":
        print(json.dumps([_data(entry) for entry in entries], indent=2))
        return
    click.echo(f"kept in {visible(str(cache.root))}")  # no title of the table, which would wrap it
    table = Table()
    for column in ("kind", "name", "what"):
        table.add_column(column, overflow="fold")
    table.add_column("MiB", justify="right")
    for entry in entries:
        size = f"{entry.size / 2**20:.1f}"
        table.add_row(entry.kind, entry.name, visible(entry.title), size)
    show(table)


def remove(names: tuple[str, ...], *, everything: bool) -> None:
    """Remove what NAMES name (the beginning of a name will do); it is made again when needed."""
    cache = Cache()
    if not names and not everything:
        raise click.UsageError("name what to remove, or give --all")
    if names and everything:
        raise click.UsageError("name what to remove, or give --all, not both")
    removed, used = cache.remove_all() if everything else (cache.remove(names), ())
    for entry in used:
        note(f"{entry.kind} {entry.name} ({entry.title}) is in use and stays")
    for entry in removed:
        click.echo(f"removed {entry.kind} {entry.name} ({visible(entry.title)})")


def _data(entry: Entry) -> dict[str, object]:
    return {
        "kind": entry.kind,
        "name": entry.name,
        "title": entry.title,
        "bytes": entry.size,
        "path": str(entry.path),
    }
