"""Results printed or written as data: CSV, Parquet, Markdown."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from auditrules.cli.results import print_bytes
from hardcost.errors import InputError
from hardcost.model.finding.comparison import Comparison
from hardcost.model.finding.head import Found
from hardcost.show.exports import csv
from hardcost.show.exports.export import export
from hardcost.show.exports.formats import RESULTS
from hardcost.show.exports.rows import Row, rows
from hardcost.show.exports.rows_text import csv_text

FORMS = (*RESULTS, csv.RAW)


def check(form: str, *, to_stdout: bool = True) -> None:
    """Check, before anything is measured, that a result can be printed in a format.

    Raises:
        InputError: It is binary, and stdout is a terminal.
        MachineError: A library that it needs is not installed.
    """
    if form not in RESULTS:
        return
    found = export(RESULTS, form)
    found.check()
    if found.binary and to_stdout and sys.stdout.isatty():
        raise InputError(f"{form} is binary: no terminal shows it", hint="write > FILE behind")


def show_found(found: Found | Comparison, form: str) -> None:
    """Print a finding, or two runs side by side, to stdout as data."""
    check(form)
    print_bytes(content_of_rows(form, rows(found)))


def content_of_rows(form: str, found: Iterable[Row]) -> bytes:
    """Return rows as the content of a file."""
    if form == csv.RAW:
        return csv_text(found, raw=True).encode()
    return export(RESULTS, form).to_bytes(found)
