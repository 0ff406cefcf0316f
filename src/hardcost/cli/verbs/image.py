"""`hardcost image`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

import click

from auditrules.cli.options import FormatOptions, option, takes
from hardcost.cli.command import VerbGroup
from hardcost.cli.input import completion
from hardcost.cli.input.options import guest_option, older_than_option, removal_plan_option


@dataclass(frozen=True)
class _BuildOptions:
    """The options of `hardcost image build`."""

    guest: str | None = guest_option()


@dataclass(frozen=True)
class _RemoveOptions:
    """The options of `hardcost image remove`."""

    snapshots: bool = option(
        "--snapshots",
        is_flag=True,
        help="Remove snapshots only, or with --older-than old ones.",
    )
    older_than: timedelta | None = older_than_option(
        "Remove what was not used for longer than this, such as 30d, 12h or 2w."
    )
    all: bool = option("--all", is_flag=True, help="Remove everything.")
    dry_run: bool = removal_plan_option()


@click.group(cls=VerbGroup)
def image() -> None:
    """Build, list and remove what hardcost keeps to boot guests.

    \b
    Examples:  hardcost image list
               hardcost image remove --snapshots
    """


@image.command()
@click.argument("what", type=click.Choice(["debian"]))
@takes("own", _BuildOptions)
@takes("result", FormatOptions)
def build(what: str, own: _BuildOptions, result: FormatOptions) -> None:
    """Build the disk image of guests that run services, unless it exists, and print its path.

    The image holds a release of Debian, this host's unless --guest names another, with web, mail
    and database servers, the audit daemon, a virus scanner and SELinux's policy, in the versions
    that its archive has now. To build it again, remove it first with `hardcost image remove`. Users
    other than root need the package uidmap.

    \b
    Examples:  hardcost image build debian
               hardcost image build debian --guest debian:13
    """
    from auditrules.cli import results
    from hardcost.cli.console import progress
    from hardcost.library import images
    from hardcost.units import visible

    made = images.build(what, progress.monitor_of("auto"), own.guest)
    if result.format == "json":
        results.print_json(made)
        return
    size = f"{made.bytes_on_disk >> 20} MiB on disk"
    click.echo(f"{visible(made.title)}: {visible(str(made.path))}")
    click.echo(f"{size}, room for {made.bytes >> 20} MiB in the guest; {made.seconds:.1f} s")
    click.echo(f"with {visible(made.asked)}, and what these need")


@image.command(name="list")
@takes("result", FormatOptions)
def list_(result: FormatOptions) -> None:
    """List kept packages, kernels, emulators, guests, images and snapshots with their size.

    Packages and images are what guests are made of; a snapshot is a booted guest, from which trials
    start.

    \b
    Example:  hardcost image list --format json
    """
    from auditrules.cli import results
    from hardcost.cli.console import tables
    from hardcost.library import images
    from hardcost.units import storage, visible

    found = images.cache_entries()
    if result.format == "json":
        results.print_json(found)
        return
    click.echo(f"{storage(sum(one.bytes for one in found))} in {visible(str(images.root()))}")
    head = ("kind", "name", "last used", "size", "what")
    rows = [
        (one.kind, one.name, one.used[:10], storage(one.bytes), visible(one.title)) for one in found
    ]
    tables.print_table([head, *rows])


@image.command()
@click.argument("names", nargs=-1, shell_complete=completion.cached_names)
@takes("own", _RemoveOptions)
def remove(names: tuple[str, ...], own: _RemoveOptions) -> None:
    """Remove packages, kernels, emulators, guests, images or snapshots from the cache.

    NAMES are those that `hardcost image list` prints; the beginning of a name is enough. What a run
    is using stays. Whatever is needed again is fetched or built again.

    \b
    Examples:  hardcost image remove 3f9a
               hardcost image remove --snapshots --older-than 30d
               hardcost image remove --all --dry-run
    """
    from hardcost.cli.console import console
    from hardcost.errors import MachineError
    from hardcost.library import images
    from hardcost.units import count, storage, visible

    chosen_by_options = own.snapshots or own.older_than is not None
    if not names and not own.all and not chosen_by_options:
        raise click.UsageError("name what to remove, or give --snapshots, --older-than or --all")
    if names and (own.all or chosen_by_options):
        raise click.UsageError("name what to remove, or choose it by options, not both")
    if own.all and chosen_by_options:
        raise click.UsageError("--all is everything: leave out --snapshots and --older-than")
    gone, stays = images.remove_entries(
        names, own.older_than, snapshots=own.snapshots, dry_run=own.dry_run
    )
    for one in gone:
        what = "would remove" if own.dry_run else "removed"
        named = f"{one.kind} {one.name} ({visible(one.title)})"
        click.echo(f"{what} {named}, {storage(one.size)}")
    freed = storage(sum(one.size for one in gone))
    of = count(len(gone), "entry", "entries")
    did = "would free" if own.dry_run else "freed"
    click.echo(f"{did} {freed} ({of})" if gone else "nothing to remove")
    for one in stays:
        console.note(f"{one.kind} {one.name} ({visible(one.title)}) is in use and stays")
    if names and stays:
        raise MachineError(
            f"{count(len(stays), 'entry', 'entries')} in use",
            hint="wait until the run that uses it has ended",
        )
