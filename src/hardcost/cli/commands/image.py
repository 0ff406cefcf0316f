"""What `hardcost image` is given."""

from __future__ import annotations

import click

from hardcost.cli.commands import completion
from hardcost.cli.commands.shared import format_option
from hardcost.cli.lazy import LazyGroup, carried_out_by


@click.group(cls=LazyGroup)
def image() -> None:
    """Make, list and remove what hardcost keeps to boot guests.

    \b
    Example:  hardcost image build debian
    """


@image.command()
@click.argument("what", type=click.Choice(["debian"]))
@format_option()
@carried_out_by("hardcost.cli.image:build")
def build() -> None:
    """Make the root image of guests with services, unless it is kept, and say where it lies.

    It holds the host's own release of Debian with web, mail and database servers, the audit daemon,
    a virus scanner and SELinux's policy, in the versions that apt has now. What is kept stays as it
    is; `hardcost image remove` has it made anew. A user who is not root needs the package uidmap.

    \b
    Example:  hardcost image build debian
    """


@image.command(name="list")
@format_option()
@carried_out_by("hardcost.cli.image:list_")
def list_() -> None:
    """List packages, kernels, guests, images and snapshots with their size on disk.

    \b
    Example:  hardcost image list --format json
    """


@image.command()
@click.argument("names", nargs=-1, shell_complete=completion.kept)
@click.option("--all", "everything", is_flag=True, help="Remove all of it.")
@carried_out_by("hardcost.cli.image:remove")
def remove() -> None:
    """Remove what NAMES name (the beginning of a name will do); it is made again when needed.

    \b
    Example:  hardcost image remove 3f9a
    """
