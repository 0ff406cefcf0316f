"""`hardcost advise`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

import hardcost
from auditrules.cli.options import FILE, FORMATS, histogram_option, option, takes
from hardcost.cli.input import completion
from hardcost.cli.input.options import (
    MeasuringOptions,
    SettingOptions,
    measures,
    scap_profile_option,
)
from hardcost.cli.verb import ProfileTaker

_USE_IT = (
    "to use it: the same command with `-o decision.toml` writes what is kept as a profile;"
    " `hardcost export` makes rules, an Ansible role or waivers of that"
)
_USE_FILE = "{} is a profile; `hardcost export` makes rules, an Ansible role or waivers of it"


@dataclass(frozen=True)
class _Options:
    """The options of `hardcost advise` alone."""

    budget: str | None = option(
        "--budget",
        metavar="METRIC<=PERCENT,…",
        help="By how much each metric may grow, such as 'open<=50%,wall<=10%,100%', whose last"
        " value is for all other metrics. Without a budget, only the frontier is shown.",
    )
    weights: Path | None = option(
        "--weights",
        type=FILE,
        help="A TOML file that says what controls are worth, in lines such as"
        ' "SRG-OS-*" = 3: a control, one of its ids or a pattern, and a number, or inf for one'
        " that has to be kept (default: by severity, high 10, medium 5, low 2, unknown 1).",
    )
    histogram: Path | None = histogram_option(
        "How often your workload makes each call: the output of `strace -c` or `perf trace -s`, or"
        ' JSON such as {"openat": 12}. It adds the metric `mix`: the mean call, weighted so.',
    )
    equivalents: bool = option(
        "--equivalents/--no-equivalents",
        default=True,
        show_default=True,
        help="First replace what can be had cheaper with the same effect: kernel options by boot"
        " parameters, and audit rules by those that `hardcost rules optimize` writes, with a"
        " proof.",
    )
    most: int = option(
        "--most",
        metavar="N",
        type=click.IntRange(1, 100_000),
        default=100,
        show_default=True,
        help="How many proposals may be measured, besides the bill and the frontier.",
    )
    out: Path | None = option(
        "-o",
        "--out",
        type=FILE,
        help="Write the decision to this file: a profile of the controls to keep, with a list of"
        " those given up and what each would have cost.",
    )
    scap_profile: str | None = scap_profile_option()


@click.command(cls=ProfileTaker)
@click.argument("profiles", metavar="[PROFILE]", nargs=-1, shell_complete=completion.profiles)
@takes("own", _Options)
@takes("added", SettingOptions)
@measures(FORMATS)
def advise(
    profiles: tuple[str, ...], own: _Options, added: SettingOptions, shared: MeasuringOptions
) -> None:
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
    from auditrules.library.histogram import histogram
    from hardcost.cli.console import console
    from hardcost.cli.input import requests
    from hardcost.cli.output import dry_run, finding
    from hardcost.instruments.insn import INSN
    from hardcost.library import percentages
    from hardcost.library.advise import advise_with_profile, preview

    settings = requests.settings(added)
    how = requests.measuring(shared, INSN.name)
    budget = None if own.budget is None else percentages.budget(own.budget)
    counts = None if own.histogram is None else histogram(own.histogram)
    if own.out is not None:
        requests.check_decision(own.out)
    requests.check_named(profiles, settings)
    request = hardcost.AdviseRequest(
        profiles,
        settings=settings,
        scap_profile=own.scap_profile,
        budget=budget,
        weights=own.weights,
        histogram=counts,
        equivalents=own.equivalents,
        most=own.most,
        how=how,
    )
    found, kept = dry_run.call_or_show_plan(advise_with_profile, preview, request, shared)
    if own.out is not None:  # before anything is printed or drawn, which may fail
        finding.put_decision(own.out, kept, found)
    finding.show_finding(found, shared)
    if found.choice.found and found.choice.given_up:
        console.note(_USE_IT if own.out is None else _USE_FILE.format(own.out))
    if found.choice.has_budget and not found.choice.found:
        raise click.exceptions.Exit(1)
