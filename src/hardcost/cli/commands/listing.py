"""What `hardcost list` is given."""

from __future__ import annotations

from pathlib import Path

import click

from hardcost.cli.commands.shared import format_option, store_option
from hardcost.cli.lazy import carried_out_by

_KERNEL_OPTIONS = "kernel-options"


@click.command(name="list")
@click.argument(
    "what",
    type=click.Choice(
        [
            *("controls", "profiles", "workloads", "instruments", "studies", "machines", "runs"),
            _KERNEL_OPTIONS,
        ]
    ),
)
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--config",
    "configs",
    multiple=True,
    type=click.Path(path_type=Path),
    help="With kernel-options: a kernel configuration to compare; more may follow it.",
)
@click.option("--differing", is_flag=True, help="With kernel-options: only those that differ.")
@store_option()
@format_option()
@carried_out_by("hardcost.cli.listing:list_")
def list_() -> None:
    """List controls, profiles, workloads, instruments, studies, machines or runs.

    Runs come newest first, with what tells them apart: start, state, workloads, the trials that
    each measured itself, and its largest figure. Nothing is fetched for a list: controls that come
    with a package of Debian's are unknown until their profile is billed.

    `kernel-options` compares kernel configurations instead (gzip will do): their options of audit,
    integrity, security modules and hardening, beside those that were published of three vendors.

    \b
    Examples:  hardcost list profiles
               hardcost list runs --format json
               hardcost list kernel-options --config /boot/config-* /proc/config.gz --differing
    """
