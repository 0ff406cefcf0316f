"""A run's finding, shown: on a terminal or as JSON, and as a page."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import ConsoleRenderable

from auditrules.cli.results import as_text, print_bytes, show, write
from auditrules.library.files import put
from auditrules.show.github import is_github_job, make_harmless
from hardcost.cli.console.console import note
from hardcost.cli.console.data import FORMS, show_found
from hardcost.cli.input.options import MeasuringOptions
from hardcost.cli.input.requests import OutputFile, form_of
from hardcost.cli.process import run_apart
from hardcost.controls.control import Profile
from hardcost.errors import StoreError
from hardcost.files import put_own
from hardcost.model.finding.bill import Bill, Bills
from hardcost.model.finding.calls import Calls
from hardcost.model.finding.change import Gate
from hardcost.model.finding.choice import Advised
from hardcost.model.finding.comparison import Comparison
from hardcost.model.finding.finding import Finding
from hardcost.model.finding.study import StudyFinding
from hardcost.model.finding.trace import Traces
from hardcost.show.charts.svg import UndrawnError
from hardcost.show.exports.annotations import github
from hardcost.show.exports.decision import decision
from hardcost.show.exports.export import export
from hardcost.show.exports.formats import CALLS, GATES, TRACES
from hardcost.show.json import to_json
from hardcost.show.tables.bill import bill_table
from hardcost.show.tables.choice import choice_table
from hardcost.show.tables.compare import compare_table
from hardcost.show.tables.first_screen import bill_screen
from hardcost.show.tables.gate import gate_table
from hardcost.show.tables.hotspots import hotspots_table
from hardcost.show.tables.layout import render
from hardcost.show.tables.run import run_table
from hardcost.show.tables.several import several_screen, several_table
from hardcost.show.tables.trace import trace_table
from hardcost.store.location import report_of, store_words

_WIDTH = 120  # columns of a text that goes to a file


@dataclass(frozen=True)
class Page:
    """Where an HTML report goes: the file that the user named, else beside the store."""

    named: Path | None
    store: Path


def print_and_report(
    finding: Finding, form: str, report: Page | None, *, everything: bool = False
) -> None:
    """Print a finding to stdout as `form` says, and write its HTML report.

    `everything` prints a whole bill as text, not its first screen.
    """
    try:
        if form == "json":
            print(to_json(finding))
        elif form in FORMS:
            show_found(finding, form)
        else:
            store = "" if report is None else store_words(report.store)
            show(_table(finding, store, everything=everything))
    finally:  # also where the reader of what is printed has gone
        if report is not None:
            write_report(finding, report)


def show_finding(finding: Finding, shared: MeasuringOptions, *, everything: bool = False) -> None:
    """Print a finding as the options say, and write its report."""
    page = Page(shared.report, shared.store)
    form = form_of(shared.format, raw=bool(shared.raw))
    print_and_report(finding, form, page, everything=everything)


def show_comparison(found: Comparison, form: str) -> None:
    """Print two runs side by side as `form` says."""
    if form == "json":
        print(to_json(found))
    elif form in FORMS:
        show_found(found, form)
    else:
        show(compare_table(found))


def put_hotspots(found: Calls, form: str, output: Path | None) -> None:
    """Print hotspots in a format, or write them to a file.

    Raises:
        StoreError: The file can't be written.
    """
    content = _bytes_in_format(found, form, CALLS)
    _put_or_print(
        content, output, lambda: hotspots_table(found), lambda: print_and_report(found, form, None)
    )


def put_trace(found: Traces, form: str, output: Path | None, *, whole: bool) -> None:
    """Print a trace in a format, or write it to a file; `whole`: every step of it.

    Raises:
        StoreError: The file can't be written.
    """
    content = _bytes_in_format(found, form, TRACES)
    table = trace_table(found, whole=whole)
    _put_or_print(content, output, lambda: table, lambda: show(table))


def _bytes_in_format(found: Calls | Traces, form: str, files: Mapping[str, str]) -> bytes | None:
    """Return a finding in a format of `files`, or as JSON; None as text."""
    if form == "json":
        return f"{to_json(found)}\n".encode()
    return export(files, form).to_bytes(found) if form in files else None


def _put_or_print(
    content: bytes | None,
    output: Path | None,
    table: Callable[[], ConsoleRenderable],
    shown: Callable[[], None],
) -> None:
    """Write a result to a file, as its table if it has no other content; without a file, print it.

    `show_finding` prints what has no other content.
    """
    if output is not None:
        put(output, render(table(), _WIDTH).encode() if content is None else content)
    elif content is not None:
        print_bytes(content)
    else:
        shown()


def _table(finding: Finding, store: str, *, everything: bool) -> ConsoleRenderable:
    """Return a finding for a terminal: several bills, one, a profile, or a run.

    `store` are the words that name the store, if it is not the default one.
    """
    match finding:
        case Bills():
            return several_table(finding) if everything else several_screen(finding, store)
        case Advised():
            return choice_table(finding)
        case Bill():
            whole = everything
            return bill_table(finding, sys.maxsize) if whole else bill_screen(finding, store)
        case Calls():
            return hotspots_table(finding)
        case Traces():
            return trace_table(finding)
        case StudyFinding():
            return run_table(finding)


def put_decision(out: Path, kept: Profile, found: Advised) -> None:
    """Write the decision of an advice to a file, if it keeps anything.

    Raises:
        InputError: A control can't be written.
    """
    if not kept.controls:
        note(f"{out} is not written: nothing is kept")
        return
    write(out, decision(kept, found).encode())
    note(f"decision: {out}")


def show_gate(found: Gate, form: str) -> None:
    """Print the answer; in a job on GitHub, its annotations, too."""
    if form != "text":
        print(_gate_text(found, form).removesuffix("\n"))
    elif is_github_job():
        print(make_harmless(as_text(gate_table(found))))
    else:
        show(gate_table(found))
    if is_github_job() and form != "github":
        click.echo(github(found), err=form != "text")


def _gate_text(found: Gate, form: str) -> str:
    """Return the result in a format, as a file holds it."""
    if form == "text":
        return as_text(gate_table(found))
    return to_json(found) if form == "json" else export(GATES, form).to_bytes(found).decode()


def put_gate(file: OutputFile, found: Gate) -> None:
    """Write the answer to a file.

    Raises:
        StoreError: It can't be written.
    """
    text = _gate_text(found, file.form)
    whole = text if text.endswith("\n") else f"{text}\n"
    put(file.path, whole.encode(), "the result", f"{file.option} names the file")
    note(f"written: {file.path}")


def write_report(finding: Finding, page: Page) -> None:
    """Write the HTML report; no link is followed that the user did not name.

    Raises:
        StoreError: The file can't be written.
    """
    from hardcost.show.page.page import to_html  # noqa: PLC0415  (its charts take long to import)

    path = page.named or report_of(page.store, finding.run)
    with contextlib.suppress(OSError):  # the file then can't be written, and the error says why
        path.parent.mkdir(parents=True, exist_ok=True)
    # Vega's engine reserves much of the address space, and ends the process where it gets none.
    data = run_apart(lambda: to_html(finding).encode(), "vl_convert", UndrawnError)
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
