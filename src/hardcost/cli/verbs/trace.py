"""`hardcost trace`."""

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
from hardcost.show.exports.formats import TRACES


@dataclass(frozen=True)
class _Options:
    """The options of `hardcost trace` alone."""

    call: str | None = option(
        "--call",
        metavar="NAME",
        help="Trace one system call of the workload syscalls, such as open or chmod.",
    )
    whole: bool = option("--all", is_flag=True, help="Print every step, not only the first screen.")
    output: Path | None = output_option()
    scap_profile: str | None = scap_profile_option()


@click.command(cls=ProfileTaker)
@click.argument("name", metavar="[PROFILE]", required=False, shell_complete=completion.profiles)
@takes("own", _Options)
@takes("added", SettingOptions)
@measures((*FORMATS, *TRACES))
def trace(name: str | None, own: _Options, added: SettingOptions, shared: MeasuringOptions) -> None:
    """Show which process runs when, from a system call to its audit record in the log.

    With --call, one call is followed from its entry until the audit daemon has its records, or has
    written them: which process runs when, what woke it, for how many instructions, and where it
    waits. With --workload, such as filecopy, everything that is measured is traced.

    PROFILE is what `hardcost bill` takes. The steps follow each other without a gap, their
    instructions add up exactly to the count in a bill, and every trace of the same call is the
    same.

    The HTML report draws a lane for each process. --format perfetto writes a file for
    https://ui.perfetto.dev, with a nanosecond for each instruction.

    \b
    Examples:  hardcost trace audit-samples --call chmod
               hardcost trace rules.d --call open --all
               hardcost trace stig-full --workload 'filecopy files=10'
               hardcost trace audit-samples --call chmod --format perfetto -o chmod.json
    """
    from auditrules.library.files import check_put
    from hardcost.cli.input import requests
    from hardcost.cli.output import dry_run, finding
    from hardcost.instruments.insn import INSN
    from hardcost.library.trace import preview

    settings = requests.settings(added)
    how = requests.measuring(shared, INSN.name)
    if (own.call is None) == (how.workloads is None):
        raise click.UsageError("Name a --call, such as chmod, or a --workload, such as filecopy.")
    names = () if name is None else (name,)
    if own.output is not None:
        check_put(own.output, "-o")
    requests.check_named(names, settings)
    request = hardcost.TraceRequest(
        names,
        settings=settings,
        scap_profile=own.scap_profile,
        call=own.call,
        how=how,
    )
    found = dry_run.call_or_show_plan(hardcost.trace, preview, request, shared)
    finding.put_trace(found, shared.format, own.output, whole=own.whole)
    finding.write_report(found, finding.Page(shared.report, shared.store))
