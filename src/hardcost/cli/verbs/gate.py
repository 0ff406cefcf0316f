"""`hardcost gate`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

import hardcost
from auditrules.cli.options import fail_on_option, option, sarif_file_option, takes
from hardcost.cli.input import completion
from hardcost.cli.input.options import GATE_FORMATS, MeasuringOptions, boot_option, measures
from hardcost.cli.verb import ProfileTaker


@dataclass(frozen=True)
class _Options:
    """The options of `hardcost gate` alone."""

    limits: tuple[str, ...] = option(
        "--max",
        multiple=True,
        metavar="METRIC<=PERCENT",
        help="By how much a metric may grow, such as 'open<=5%'. 'any<=5%' is for all metrics"
        " without a limit of their own. May be repeated.",
    )
    git: str | None = option(
        "--git",
        metavar="A..B",
        help="Compare a file or folder, given instead of BASE HEAD, at two revisions of its git"
        " repository. A...B compares B with the commit where it branched off from A; A alone"
        " compares the files as they are now with A.",
    )
    predict: bool = option(
        "--predict",
        is_flag=True,
        help="Predict the costs of audit rules within a second, instead of measuring them."
        " Predictions are for Debian's kernel, or for --kernel and --cpu once `hardcost rules cost"
        " --fit` has measured these.",
    )
    written: tuple[str, ...] = option(
        "--write",
        multiple=True,
        metavar="FORMAT=FILE",
        help="Also write the result in another format, such as sarif=gate.sarif. May be repeated.",
    )
    sarif_file: Path | None = sarif_file_option()
    fail_on: str = fail_on_option(
        "What makes the exit status 1: a metric over its limit (error); or also one that is over"
        " it perhaps by chance, and results that may not be comparable (warning)."
    )
    most_lines: int = option(
        "--most-lines",
        metavar="N",
        type=click.IntRange(0, 1000),
        default=50,
        show_default=True,
        help="Measure at most N changed lines each by itself, and the others together.",
    )
    boot: tuple[str, ...] = boot_option(
        "A word of the kernel's command line in both states, such as mitigations=off; may be"
        " repeated.",
        "Settings to add to BASE and HEAD",
    )


@click.command(cls=ProfileTaker)
@click.argument("states", metavar="BASE HEAD", nargs=-1, shell_complete=completion.profiles)
@takes("own", _Options)
@measures(GATE_FORMATS)
def gate(states: tuple[str, ...], own: _Options, shared: MeasuringOptions) -> None:
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
    from hardcost.cli.console import progress
    from hardcost.cli.input import requests
    from hardcost.cli.output import dry_run, finding
    from hardcost.instruments.insn import INSN
    from hardcost.library import percentages
    from hardcost.library.gate import preview
    from hardcost.library.saved_run import load_findings
    from hardcost.profiles.settings import Settings

    limits = percentages.limits(own.limits)
    files = requests.gate_files(own.written, own.sarif_file)
    base, head = requests.gate_states(states, own.git)
    request = hardcost.GateRequest(
        base,
        head,
        git=own.git,
        limits=limits,
        strict=own.fail_on == "warning",
        settings=Settings(boots=own.boot),
        predict=own.predict,
        most_lines=own.most_lines,
        how=requests.measuring(shared, INSN.name),
    )
    found = dry_run.call_or_show_plan(hardcost.gate, preview, request, shared)
    if shared.report is not None and found.runs:
        (run,) = load_findings(shared.store, progress.monitor_of(shared.progress), *found.runs)
        finding.write_report(run, finding.Page(shared.report, shared.store))
    for file in files:  # also where stdout has no reader
        finding.put_gate(file, found)
    finding.show_gate(found, shared.format)
    if found.failed:
        raise click.exceptions.Exit(1)
