"""Arguments and options of `hardcost advise`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hardcost.cli.commands import completion
from hardcost.cli.commands.shared import FORMATS, settings_for
from hardcost.cli.lazy import carried_out_by

if TYPE_CHECKING:
    from collections.abc import Callable

_FILE = click.Path(path_type=Path, dir_okay=False)


def _measuring(command: Callable[..., Any]) -> Callable[..., Any]:
    return settings_for(command, FORMATS)


@click.command()
@click.argument("profiles", metavar="[PROFILE]", nargs=-1, shell_complete=completion.profiles)
@click.option(
    "--budget",
    metavar="METRIC<=PERCENT,…",
    help="By how much metrics may grow, such as 'open<=50%,wall<=10%,100%' (the last is for all"
    " other metrics). Without it only the frontier is shown.",
)
@click.option(
    "--weights",
    type=_FILE,
    help="A TOML file that says what controls are worth: a control's text, one of its ids, or a"
    ' pattern such as "SRG-OS-*", = a number; inf: it has to be kept (default: severity high 10,'
    " medium 5, low 2, unknown 1).",
)
@click.option(
    "--histogram",
    "histogram_file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="How often your workload makes each call: the output of `strace -c` or `perf trace -s`, or"
    ' JSON such as {"openat": 12}. It adds the metric `mix`, the mean call.',
)
@click.option(
    "--equivalents/--no-equivalents",
    default=True,
    show_default=True,
    help="First take what is cheaper and does the same: boot parameters for kernel options, and"
    " audit rules as `hardcost rules optimize` writes them, with a proof.",
)
@click.option(
    "--most",
    type=click.IntRange(1, 100_000),
    default=100,
    show_default=True,
    help="How many choices may be measured besides the bill and the frontier.",
)
@click.option(
    "-o",
    "--out",
    type=_FILE,
    help="Write the decision: a profile of what is kept, with what is given up and what that would"
    " have cost.",
)
@click.option(
    "--scap-profile",
    metavar="ID",
    help="Take this profile; PROFILE is then a SCAP datastream.",
)
@_measuring
@carried_out_by("hardcost.cli.advise:advise")
def advise() -> None:
    """Say what to give up of PROFILE to keep a budget, and so that most is kept.

    First the profile is billed. From the costs of single controls, and from what they cost
    together, a model proposes what to keep; that is measured, and the model refined, until both
    agree. What is proposed was measured to be within the budget.

    The frontier shows for each level of the budget what can be kept, and at which cost. A number
    that was not measured is called predicted.

    The exit status is 1 if nothing of the profile fits the budget.

    \b
    Examples:  hardcost advise rhel9-stig --budget 'open<=50%' -o decision.toml
               hardcost advise /etc/audit/rules.d --workload syscalls --workload build \\
                   --budget 'open<=50%,wall<=5%'
               hardcost advise stig.rules --histogram counts.txt --budget 'mix<=5%'
    """
