"""Arguments and options of `hardcost list`."""

from __future__ import annotations

from pathlib import Path

import click

from hardcost.cli.commands.shared import format_option, store_option
from hardcost.cli.lazy import carried_out_by
from hardcost.cli.verb import Verb

_KERNEL_OPTIONS = "kernel-options"


@click.command(name="list", cls=Verb)
@click.argument(
    "what",
    metavar="WHAT",
    type=click.Choice(
        [
            *("controls", "profiles", "workloads", "instruments", "studies", "machines", "runs"),
            _KERNEL_OPTIONS,
        ]
    ),
)
@click.argument("patterns", nargs=-1, metavar="[PATTERN|FILE]...")
@click.option(
    "--config",
    "configs",
    multiple=True,
    type=click.Path(path_type=Path),
    help="With kernel-options: a kernel configuration to compare, as FILE is.",
)
@click.option(
    "--differing", is_flag=True, help="With kernel-options: show only options that differ."
)
@store_option()
@format_option()
@carried_out_by("hardcost.cli.listing:list_")
def list_() -> None:
    """List controls, profiles, workloads, instruments, studies, machines or runs.

    \b
    WHAT is one of
      controls        settings that the ready-made profiles have, with their ids in benchmarks
      profiles        ready-made sets of controls: STIG, CIS, KSPP and others
      workloads       what can be run to measure a cost
      instruments     what measures: instructions counted exactly, or the clock
      studies         ready-made comparisons
      machines        where to measure
      runs            what was measured, the newest first
      kernel-options  hardening options in the kernel configurations FILE..., side by side, beside
                      those that three vendors publish

    PATTERN shows only what contains it, in any column, in upper or lower case; * and ? stand for
    any characters. Of several, each has to be contained. Exit status 1 if nothing matches.

    Nothing is fetched: controls from a Debian package that was never needed are not known yet.

    \b
    Examples:  hardcost list profiles
               hardcost list controls /etc/shadow
               hardcost list controls kspp 'init_on_*'
               hardcost list runs --format json
               hardcost list kernel-options /boot/config-* /proc/config.gz --differing
    """
