"""`hardcost report`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from auditrules.cli.options import FILE, format_option, option, takes
from auditrules.cli.verb import Verb
from hardcost.cli.input import completion
from hardcost.cli.input.options import RESULT_FORMATS, raw_option, store_option, whole_bill_option


@dataclass(frozen=True)
class _Options:
    """The options of `hardcost report`."""

    report: Path | None = option(
        "--report", type=FILE, help="The HTML report's file (default: beside the store)."
    )
    all: bool = whole_bill_option()
    store: Path = store_option()
    format: str = format_option(RESULT_FORMATS)
    raw: bool = raw_option()


@click.command(cls=Verb)
@click.argument("run", shell_complete=completion.runs)
@takes("own", _Options)
def report(run: str, own: _Options) -> None:
    """Show the result of an earlier run again, and write its HTML report.

    RUN is the name of a run, its beginning, or 'last'; `hardcost list runs` prints them.
    docs/data.md explains the columns of csv and parquet.

    \b
    Examples:  hardcost report last --format json
               hardcost report last --format parquet > last.parquet
    """
    from hardcost.cli.console import progress
    from hardcost.cli.input import requests
    from hardcost.cli.output.finding import Page, print_and_report
    from hardcost.library.saved_run import load_findings

    form = requests.form_of(own.format, raw=own.raw)
    (found,) = load_findings(own.store, progress.monitor_of("auto"), run)
    print_and_report(found, form, Page(own.report, own.store), everything=own.all)
