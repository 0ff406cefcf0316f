"""`hardcost compare`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

import hardcost
from auditrules.cli.options import format_option, takes
from auditrules.cli.verb import Verb
from hardcost.cli.input import completion
from hardcost.cli.input.options import RESULT_FORMATS, raw_option, store_option


@dataclass(frozen=True)
class _Options:
    """The options of `hardcost compare`."""

    store: Path = store_option()
    format: str = format_option(RESULT_FORMATS)
    raw: bool = raw_option()


@click.command(cls=Verb)
@click.argument("a", shell_complete=completion.runs_or_files)
@click.argument("b", shell_complete=completion.runs_or_files)
@takes("own", _Options)
def compare(a: str, b: str, own: _Options) -> None:
    """Show two runs side by side, or two answers of `hardcost here`.

    A and B are names of runs, their beginnings, or 'last'; `hardcost list runs` prints them. Counts
    that were taken with different versions of QEMU or processor models are not comparable: then a
    warning is printed. If only the kernels differ, the kernels are compared.

    If A and B are files, they are what `hardcost here --format json` printed earlier and later:
    what the hardening of a machine cost and costs, and what was added, removed or changed.

    \b
    Examples:  hardcost compare audit-rules-20260101-120000-ab12 last
               hardcost compare before.json after.json
    """
    from hardcost.cli.console import progress
    from hardcost.cli.input import requests
    from hardcost.cli.output import finding, two_answers

    form = requests.form_of(own.format, raw=own.raw)
    files = requests.two_files(a, b)
    if files is not None:
        found = hardcost.compare_here(hardcost.CompareHereRequest(*files))
        two_answers.show_answers(found, form)
        return
    request = hardcost.CompareRequest(a, b, store=own.store)
    finding.show_comparison(hardcost.compare(request, progress.monitor_of("auto")), form)
