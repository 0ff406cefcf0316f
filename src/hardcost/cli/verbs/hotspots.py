"""`hardcost hotspots`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

import hardcost
from auditrules.cli.options import FORMATS, option, takes
from hardcost.cli.input import completion
from hardcost.cli.input.options import (
    MeasuringOptions,
    SettingOptions,
    measures,
    output_option,
    scap_profile_option,
)
from hardcost.cli.verb import ProfileTaker
from hardcost.show.exports.formats import CALLS

_FORMATS = (*FORMATS, *CALLS)


@dataclass(frozen=True)
class _Options:
    """The options of `hardcost hotspots` alone."""

    metric: tuple[str, ...] = option(
        "--metric",
        multiple=True,
        metavar="NAME",
        help="Show only this metric, such as open; may be repeated (default: all).",
    )
    by_control: bool = option(
        "--by-control",
        is_flag=True,
        help="Also say for each control in which functions its cost arises; takes two trials for"
        " each.",
    )
    lines: str | None = option(
        "--lines",
        metavar="FUNCTION",
        help="Also print the source of this kernel function, with the instructions of each line."
        " Works for kernels that hardcost builds; the kernel is built once more, with debug data.",
    )
    output: Path | None = output_option()
    scap_profile: str | None = scap_profile_option()


@click.command(cls=ProfileTaker)
@click.argument("name", metavar="[PROFILE]", required=False, shell_complete=completion.profiles)
@takes("own", _Options)
@takes("added", SettingOptions)
@measures(_FORMATS)
def hotspots(
    name: str | None, own: _Options, added: SettingOptions, shared: MeasuringOptions
) -> None:
    """Say in which functions the cost of PROFILE arises.

    PROFILE is what `hardcost bill` takes. The workload runs without PROFILE and with it, and each
    instruction is counted for the function that executes it, and for that function's callers. The
    differences add up exactly to the cost in the bill. Workloads in a Debian guest are also shown
    by process. The HTML report has a differential flame graph for each metric.

    Counting by function does not change the counts: the same trials also run without it, and any
    difference is an error.

    --format also writes files for other tools: folded (stacks with PROFILE) and folded-diff
    (without and with it, in two columns) for flame graphs; speedscope; and pprof.

    \b
    Examples:  hardcost hotspots audit-samples --workload 'syscalls calls=null+open'
               hardcost hotspots rules.d --metric open --format json
               hardcost hotspots rules.d --metric open --by-control
               hardcost hotspots stig-full --workload filecopy --repetitions 1 --metric wall
               hardcost hotspots --boot init_on_alloc=1 --workload 'command file=./program'
               hardcost hotspots rules.toml --metric open --lines audit_filter_rules
               hardcost hotspots audit-samples --format pprof -o audit.pb.gz
    """
    from auditrules.library.files import check_put
    from hardcost.cli.input import requests
    from hardcost.cli.output import dry_run, finding
    from hardcost.instruments.insn import INSN
    from hardcost.library.hotspots import preview

    settings = requests.settings(added)
    how = requests.measuring(shared, INSN.name)
    names = () if name is None else (name,)
    if own.output is not None:
        check_put(own.output, "-o")
    requests.check_named(names, settings)
    request = hardcost.HotspotsRequest(
        names,
        settings=settings,
        scap_profile=own.scap_profile,
        metrics=own.metric,
        by_control=own.by_control,
        lines=own.lines,
        how=how,
    )
    found = dry_run.call_or_show_plan(hardcost.hotspots, preview, request, shared)
    finding.put_hotspots(found, shared.format, own.output)
    finding.write_report(found, finding.Page(shared.report, shared.store))
