"""Arguments and options of `hardcost image`."""

from __future__ import annotations

import click

from hardcost.cli.commands import completion
from hardcost.cli.commands.shared import format_option, older_than, removal_plan
from hardcost.cli.lazy import LazyGroup, carried_out_by


@click.group(cls=LazyGroup)
def image() -> None:
    """Build, list and remove what hardcost keeps to boot guests.

    \b
    Examples:  hardcost image list
               hardcost image remove --snapshots
    """


@image.command()
@click.argument("what", type=click.Choice(["debian"]))
@format_option()
@carried_out_by("hardcost.cli.image:build")
def build() -> None:
    """Build the disk image of guests that run services, unless it exists, and print its path.

    The image holds this host's release of Debian with web, mail and database servers, the audit
    daemon, a virus scanner and SELinux's policy, in the versions that apt has now. To build it
    anew, remove it first with `hardcost image remove`. Users other than root need the package
    uidmap.

    \b
    Example:  hardcost image build debian
    """


@image.command(name="list")
@format_option()
@carried_out_by("hardcost.cli.image:list_")
def list_() -> None:
    """List kept packages, kernels, guests, images and snapshots with their size on disk.

    Packages and images are what guests are made of; a snapshot is a booted guest, from which trials
    start.

    \b
    Example:  hardcost image list --format json
    """


@image.command()
@click.argument("names", nargs=-1, shell_complete=completion.kept)
@click.option(
    "--snapshots", is_flag=True, help="Remove snapshots only, or with --older-than old ones."
)
@older_than("Remove what was not used for longer than this, such as 30d, 12h or 2w.")
@click.option("--all", "everything", is_flag=True, help="Remove everything.")
@removal_plan
@carried_out_by("hardcost.cli.image:remove")
def remove() -> None:
    """Remove packages, kernels, guests, images or snapshots from the cache.

    NAMES are those that `hardcost image list` prints; the beginning of a name is enough. What a run
    is using stays. Whatever is needed again is fetched or built again.

    \b
    Examples:  hardcost image remove 3f9a
               hardcost image remove --snapshots --older-than 30d
               hardcost image remove --all --dry-run
    """
