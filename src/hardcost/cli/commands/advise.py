"""Arguments and options of `hardcost advise`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hardcost.cli.commands import completion
from hardcost.cli.commands.shared import FORMATS, RuleTaker, histogram, settings_for
from hardcost.cli.lazy import carried_out_by

if TYPE_CHECKING:
    from collections.abc import Callable

_FILE = click.Path(path_type=Path, dir_okay=False)


def _measuring(command: Callable[..., Any]) -> Callable[..., Any]:
    return settings_for(command, FORMATS)


@click.command(cls=RuleTaker)
@click.argument("profiles", metavar="[PROFILE]", nargs=-1, shell_complete=completion.profiles)
@click.option(
    "--budget",
    metavar="METRIC<=PERCENT,…",
    help="By how much each metric may grow, such as 'open<=50%,wall<=10%,100%', whose last value is"
    " for all other metrics. Without a budget, only the frontier is shown.",
)
@click.option(
    "--weights",
    type=_FILE,
    help="A TOML file that says what controls are worth, in lines such as"
    ' "SRG-OS-*" = 3: a control, one of its ids or a pattern, and a number, or inf for one that has'
    " to be kept (default: by severity, high 10, medium 5, low 2, unknown 1).",
)
@histogram(
    "How often your workload makes each call: the output of `strace -c` or `perf trace -s`, or"
    ' JSON such as {"openat": 12}. It adds the metric `mix`: the mean call, weighted so.',
)
@click.option(
    "--equivalents/--no-equivalents",
    default=True,
    show_default=True,
    help="First replace what can be had cheaper with the same effect: kernel options by boot"
    " parameters, and audit rules by those that `hardcost rules optimize` writes, with a proof.",
)
@click.option(
    "--most",
    metavar="N",
    type=click.IntRange(1, 100_000),
    default=100,
    show_default=True,
    help="How many proposals may be measured, besides the bill and the frontier.",
)
@click.option(
    "-o",
    "--out",
    type=_FILE,
    help="Write the decision to this file: a profile of the controls to keep, with a list of those"
    " given up and what each would have cost.",
)
@click.option(
    "--scap-profile",
    metavar="ID",
    help="PROFILE is a SCAP datastream: take this profile in it, such as stig.",
)
@_measuring
@carried_out_by("hardcost.cli.advise:advise")
def advise() -> None:
    """Say which controls of PROFILE to give up to keep a budget, so that the most value is kept.

    PROFILE is what `hardcost bill` takes, and is billed first. A model of these costs proposes
    which controls to keep; the proposal is measured, and the model refined, until both agree. So
    the advice that is printed was measured to be within the budget.

    The frontier is a table: for each budget, the most that can be kept, and what it costs. A number
    that was not measured is marked as predicted.

    The exit status is 1 if nothing of the profile fits the budget.

    \b
    Examples:  hardcost advise rhel9-stig --budget 'open<=50%' -o decision.toml
               hardcost advise /etc/audit/rules.d --workload syscalls --workload build \\
                   --budget 'open<=50%,wall<=5%'
               hardcost advise stig.rules --histogram counts.txt --budget 'mix<=5%'
    """
