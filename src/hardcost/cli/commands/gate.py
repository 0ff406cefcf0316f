"""Arguments and options of `hardcost gate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hardcost.cli.commands import completion
from hardcost.cli.commands.shared import (
    RuleTaker,
    fail_on_option,
    measuring,
    sarif_file_option,
)
from hardcost.cli.lazy import carried_out_by

if TYPE_CHECKING:
    from collections.abc import Callable

FORMATS = ("text", "json", "junit", "sarif", "github", "gitlab", "markdown")


def _measuring(command: Callable[..., Any]) -> Callable[..., Any]:
    return measuring(command, FORMATS)


@click.command(cls=RuleTaker)
@click.argument("states", metavar="BASE HEAD", nargs=-1, shell_complete=completion.profiles)
@click.option(
    "--max",
    "limits",
    multiple=True,
    metavar="METRIC<=PERCENT",
    help="By how much a metric may grow, such as 'open<=5%'. 'any<=5%' is for all metrics without a"
    " limit of their own. May be repeated.",
)
@click.option(
    "--git",
    metavar="A..B",
    help="Compare a file or folder, given instead of BASE HEAD, at two revisions of its git"
    " repository. A...B compares B with the commit where it branched off from A; A alone compares"
    " the files as they are now with A.",
)
@click.option(
    "--predict",
    is_flag=True,
    help="Predict the costs of audit rules within a second, instead of measuring them. Predictions"
    " are for Debian's kernel, or for --kernel and --cpu once `hardcost rules cost --fit` has"
    " measured these.",
)
@click.option(
    "--write",
    "written",
    multiple=True,
    metavar="FORMAT=FILE",
    help="Also write the result in another format, such as sarif=gate.sarif. May be repeated.",
)
@sarif_file_option
@fail_on_option(
    "What makes the exit status 1: a metric over its limit (error); or also one that is over it"
    " perhaps by chance, and results that may not be comparable (warning).",
)
@click.option(
    "--most-lines",
    metavar="N",
    type=click.IntRange(0, 1000),
    default=50,
    show_default=True,
    help="Measure at most N changed lines each by itself, and the others together.",
)
@_measuring
@carried_out_by("hardcost.cli.gate:gate")
def gate() -> None:
    """Say what a change costs, by line, and whether that is within limits.

    BASE and HEAD are two profiles (what `hardcost bill` takes), or two results: runs of the store,
    or files that `run`, `bill` and `report --format json` printed.

    Two profiles are both measured, and HEAD once more without each changed line. With --predict
    nothing is measured, and the result says so. A limit is a share of what BASE needs. Growth that
    is not distinguishable from 0 exceeds no limit.

    A comment on the line above a rule of HEAD accepts its cost, which then counts for no limit:

    \b
               # hardcost: ignore=over-limit

    In a job on GitHub, the result is annotations, too. No format changes the exit status.
    `hardcost export workflow` writes such a job, for GitHub or GitLab.

    The exit status is 1 if a metric is over its limit, and 2 if a rule set can't be loaded.

    \b
    Examples:  hardcost gate --git main..HEAD rules.d --max 'open<=5%' --max 'any<=10%' --predict
               hardcost gate old.rules new.rules --max 'any<=2%' --sarif-file gate.sarif
               hardcost gate yesterday.json last --max 'open<=1%'
    """
