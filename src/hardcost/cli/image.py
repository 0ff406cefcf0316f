"""`hardcost image`: making roots of guests, and what is kept of all that boots them."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from hardcost.cli.console import fitted, note
from hardcost.cli.monitors import monitor_of
from hardcost.errors import MachineError
from hardcost.machines import guestimages
from hardcost.machines.cache import Cache
from hardcost.report.text import visible
from hardcost.units import count, storage

if TYPE_CHECKING:
    from datetime import timedelta

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
    total = storage(sum(entry.size for entry in entries))
    click.echo(f"{total} in {visible(str(cache.root))}")
    head = ["kind", "name", "last used", "size", "what"]
    fitted([head, *([*_outline(entry), visible(entry.title)] for entry in entries)])


def _outline(entry: Entry) -> tuple[str, str, str, str]:
    last = datetime.fromtimestamp(entry.used, UTC).date().isoformat()
    return entry.kind, entry.name, last, storage(entry.size)


def remove(
    *,
    names: tuple[str, ...],
    everything: bool,
    snapshots: bool,
    older_than: timedelta | None,
    dry_run: bool,
) -> None:
    """Remove what is named, or chosen by kind or age, unless it is in use.

    Raises:
        UsageError: Nothing is chosen, or in two ways.
        MachineError: Something that is named is in use.
    """
    if not names and not everything and not snapshots and older_than is None:
        raise click.UsageError("name what to remove, or give --snapshots, --older-than or --all")
    if names and (everything or snapshots or older_than is not None):
        raise click.UsageError("name what to remove, or choose it by options, not both")
    if everything and (snapshots or older_than is not None):
        raise click.UsageError("--all is everything: leave out --snapshots and --older-than")
    cache = Cache()
    chosen = cache.named(names) if names else _chosen(cache, older_than, snapshots=snapshots)
    gone, stays = (chosen, ()) if dry_run else cache.remove(chosen)
    for entry in gone:
        what = "would remove" if dry_run else "removed"
        click.echo(f"{what} {_named(entry)}, {storage(entry.size)}")
    freed = storage(sum(entry.size for entry in gone))
    of = count(len(gone), "entry", "entries")
    click.echo(
        f"{'would free' if dry_run else 'freed'} {freed} ({of})" if gone else "nothing to remove"
    )
    for entry in stays:
        note(f"{_named(entry)} is in use and stays")
    if names and stays:
        raise MachineError(
            f"{count(len(stays), 'entry', 'entries')} in use",
            hint="wait until the run that uses it has ended",
        )


def _chosen(cache: Cache, older_than: timedelta | None, *, snapshots: bool) -> tuple[Entry, ...]:
    """Return the entries that options choose."""
    entries = cache.entries(["snapshots"]) if snapshots else cache.entries()
    if older_than is None:
        return entries
    since = (datetime.now(UTC) - older_than).timestamp()
    return tuple(entry for entry in entries if entry.used < since)


def _named(entry: Entry) -> str:
    return f"{entry.kind} {entry.name} ({visible(entry.title)})"


def _data(entry: Entry) -> dict[str, object]:
    return {
        "kind": entry.kind,
        "name": entry.name,
        "title": entry.title,
        "bytes": entry.size,
        "used": datetime.fromtimestamp(entry.used, UTC).isoformat(timespec="seconds"),
        "path": str(entry.path),
    }
