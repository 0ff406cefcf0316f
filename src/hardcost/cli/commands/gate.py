"""Arguments and options of `hardcost gate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hardcost.cli.commands import completion
from hardcost.cli.commands.shared import measuring
from hardcost.cli.lazy import carried_out_by

if TYPE_CHECKING:
    from collections.abc import Callable

FORMATS = ("text", "json", "junit", "sarif", "github", "gitlab", "markdown")


def _measuring(command: Callable[..., Any]) -> Callable[..., Any]:
    return measuring(command, FORMATS)


@click.command()
@click.argument("states", metavar="BASE HEAD", nargs=-1, shell_complete=completion.profiles)
@click.option(
    "--max",
    "limits",
    multiple=True,
    metavar="METRIC<=PERCENT",
    help="By how much a metric may grow, such as 'open<=5%'; 'any' stands for all that have no"
    " limit of their own. May be repeated.",
)
@click.option(
    "--git",
    metavar="A..B",
    help="Compare a file or folder at two revisions of its git repository (A...B: B with where it"
    " left A; A alone: the files as they are now with A). Its name takes the place of BASE HEAD.",
)
@click.option(
    "--predict",
    is_flag=True,
    help="Predict the costs of audit rules; boot no guest. The constants are those of Debian's"
    " kernel, or those that `hardcost rules cost --fit` has measured of --kernel and --cpu.",
)
@click.option(
    "--write",
    "written",
    multiple=True,
    metavar="FORMAT=FILE",
    help="Also write the result in another format, such as sarif=gate.sarif. May be repeated.",
)
@click.option(
    "--most-lines",
    type=click.IntRange(0, 1000),
    default=50,
    show_default=True,
    help="The most lines of a change that are measured each by itself.",
)
@_measuring
@carried_out_by("hardcost.cli.gate:gate")
def gate() -> None:
    """Say what a change costs, by line, and whether that is within limits.

    BASE and HEAD are two profiles (a file or folder of audit rules or sysctls, a profile in TOML, a
    name from `hardcost list profiles`), or two results: runs of the store, or files that `run`,
    `bill` and `report --format json` printed.

    Of two profiles, both are measured, and each line of the change is left out once. With --predict
    nothing is measured; that takes a second, and every form of the result says so. A limit is a
    share of what the metric is under BASE. A growth that placebos also show is not over a limit.

    The exit status is 1 if a metric is over its limit, and 2 if a rule set can't be loaded.

    \b
    Examples:  hardcost gate --git main..HEAD rules.d --max 'open<=5%' --max 'any<=10%' --predict
               hardcost gate old.rules new.rules --max 'any<=2%' --write sarif=gate.sarif
               hardcost gate yesterday.json last --max 'open<=1%'
    """
