"""A run's finding, shown: on a terminal or as JSON, and as a page."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hardcost.cli import dataout
from hardcost.cli.console import note, print_bytes, show
from hardcost.cli.lazy import imported
from hardcost.cli.scarce import apart
from hardcost.errors import StoreError
from hardcost.files import put, put_own
from hardcost.report.charts.svg import UndrawnError
from hardcost.report.jsonout import to_json
from hardcost.report.tables.bill_table import bill_table
from hardcost.report.tables.choice_table import choice_table
from hardcost.report.tables.first_screen import bill_screen
from hardcost.report.tables.layout import render
from hardcost.report.tables.profile_table import profile_table
from hardcost.report.tables.run_table import run_table
from hardcost.report.tables.several_table import several_screen, several_table
from hardcost.report.tables.trace_table import trace_table
from hardcost.store.storeplace import report_of
from hardcost.workloads.names import SaysSettings, workload

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rich.console import ConsoleRenderable

    from hardcost.analysis.finding import Finding
    from hardcost.store.record import Record

_WIDTH = 120  # columns of a text that goes to a file


@dataclass(frozen=True)
class Page:
    """Where an HTML report goes: the file that the user named, else beside the store."""

    named: Path | None
    store: Path


def notes_of(records: Sequence[Record]) -> tuple[str, ...]:
    """Return what a reader of these trials has to know, each remark once."""
    remarks = [note for record in records for note in record.notes]
    metrics = [(record, metric) for record in records for metric in record.measured]
    remarks += [
        f"{record.configuration}: audit lost {metric.lost} events during {metric.metric}"
        for record, metric in metrics
        if metric.lost
    ]
    workloads = [workload(record.workload.partition(" ")[0]) for record in records]
    remarks += [one.SETTINGS for one in workloads if isinstance(one, SaysSettings)]
    remarks += [
        workload(record.workload.partition(" ")[0]).AUDIT_NOTE
        for record, metric in metrics
        if metric.fired
    ]
    return tuple(dict.fromkeys(remarks))


def present(finding: Finding, form: str, report: Page | None, *, everything: bool = False) -> None:
    """Print a finding to stdout as `form` says, and write its HTML report.

    `everything` prints a whole bill as text, not its first screen.
    """
    try:
        if form == "json":
            print(to_json(finding))
        elif form in dataout.FORMS:
            dataout.show(finding, form)
        else:
            show(_table(finding, everything=everything))
    finally:  # also where the reader of what is printed has gone
        if report is not None:
            write_report(finding, report)


def put_or_print(
    content: bytes | None,
    output: Path | None,
    table: Callable[[], ConsoleRenderable],
    shown: Callable[[], None],
) -> None:
    """Write a result to a file, as its table if it has no other content; without a file, print it.

    `shown` prints what has no other content.

    Raises:
        StoreError: The file can't be written.
    """
    if output is not None:
        put(output, render(table(), _WIDTH).encode() if content is None else content)
    elif content is not None:
        print_bytes(content)
    else:
        shown()


def _table(finding: Finding, *, everything: bool) -> ConsoleRenderable:
    """Return a finding for a terminal: several bills, one, a profile, or a run."""
    if finding.together is not None:
        return several_table(finding) if everything else several_screen(finding)
    if finding.choice is not None:
        return choice_table(finding)
    if finding.traces:
        return trace_table(finding)
    if finding.profiles and not finding.levels:
        return profile_table(finding)
    if finding.bill is None:
        return run_table(finding)
    return bill_table(finding, top=sys.maxsize) if everything else bill_screen(finding)


def write_report(finding: Finding, page: Page) -> None:
    """Write the HTML report; no link is followed that the user did not name.

    Raises:
        StoreError: The file can't be written.
    """
    to_html = imported("hardcost.report.page.page:to_html")  # its charts take long to import
    path = page.named or report_of(page.store, finding.run)
    with contextlib.suppress(OSError):  # the file then can't be written, and the error says why
        path.parent.mkdir(parents=True, exist_ok=True)
    # Vega's engine reserves much of the address space, and ends the process where it gets none.
    data = apart(lambda: to_html(finding).encode(), "vl_convert", UndrawnError)
    if data is None:
        note("the report has no charts: what draws them failed; `ulimit -v` may bound its memory")
        data = to_html(finding, drawn=False).encode()
    remedy = "--report names another"
    if page.named is not None:
        put(path, data, "the report", remedy)
    else:
        try:
            put_own(path, data)
        except OSError as error:
            why = f"the report {path} can't be written: {error.strerror}"
            raise StoreError(why, hint=remedy) from error
    note(f"report: {path}")
