"""Arguments and options of `hardcost image`."""

from __future__ import annotations

import click

from hardcost.cli.commands import completion
from hardcost.cli.commands.shared import format_option
from hardcost.cli.lazy import LazyGroup, carried_out_by


@click.group(cls=LazyGroup)
def image() -> None:
    """Build, list and remove what hardcost keeps to boot guests.

    \b
    Example:  hardcost image build debian
    """


@image.command()
@click.argument("what", type=click.Choice(["debian"]))
@format_option()
@carried_out_by("hardcost.cli.image:build")
def build() -> None:
    """Build the root image of guests with services, unless it exists, and print its path.

    It holds the host's own release of Debian with web, mail and database servers, the audit daemon,
    a virus scanner and SELinux's policy, in the versions that apt has now. An existing image stays
    as it is; to rebuild it, remove it first with `hardcost image remove`. Without root, the package
    uidmap is needed.

    \b
    Example:  hardcost image build debian
    """


@image.command(name="list")
@format_option()
@carried_out_by("hardcost.cli.image:list_")
def list_() -> None:
    """List kept packages, kernels, guests, images and snapshots with their size on disk.

    \b
    Example:  hardcost image list --format json
    """


@image.command()
@click.argument("names", nargs=-1, shell_complete=completion.kept)
@click.option("--all", "everything", is_flag=True, help="Remove everything.")
@carried_out_by("hardcost.cli.image:remove")
def remove() -> None:
    """Remove NAMES; each is rebuilt when needed. The beginning of a name is enough.

    \b
    Example:  hardcost image remove 3f9a
    """
