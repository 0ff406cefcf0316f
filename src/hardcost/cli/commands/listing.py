"""Arguments and options of `hardcost list`."""

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
    help="With kernel-options: a kernel configuration to compare. More FILES may follow.",
)
@click.option("--differing", is_flag=True, help="With kernel-options: only options that differ.")
@store_option()
@format_option()
@carried_out_by("hardcost.cli.listing:list_")
def list_() -> None:
    """List controls, profiles, workloads, instruments, studies, machines or runs.

    Runs come newest first, each with its start, state, workloads, the number of trials that it
    measured itself, and its largest figure. A list fetches nothing: controls that come with a
    Debian package are unknown until their profile is billed.

    `kernel-options` compares kernel configurations instead, also gzipped ones: their audit,
    integrity, security module and hardening options, beside those published of three vendors.

    \b
    Examples:  hardcost list profiles
               hardcost list runs --format json
               hardcost list kernel-options --config /boot/config-* /proc/config.gz --differing
    """
