"""Results printed or written as data: CSV, Parquet, Markdown, the format of Go's benchmarks."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING

from hardcost.cli.console import print_bytes
from hardcost.errors import InputError
from hardcost.files import put
from hardcost.report.exports import csvtext, parquet
from hardcost.report.exports.benchstat import benchstat
from hardcost.report.exports.datarows import compared_rows, rows
from hardcost.report.exports.datatexts import csv_text, markdown_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from hardcost.analysis.finding import Finding
    from hardcost.report.exports.datarows import Row

PARQUET, BENCHSTAT = "parquet", "benchstat"
_TEXTS: dict[str, Callable[[Iterable[Row]], str]] = {
    csvtext.CSV: csv_text,
    csvtext.RAW: functools.partial(csv_text, raw=True),
    "markdown": markdown_text,
}
FORMS = (*_TEXTS, PARQUET, BENCHSTAT)


def check(form: str, *, to_stdout: bool = True) -> None:
    """Check, before anything is measured, that a result can be printed in a format.

    Raises:
        InputError: It is binary, and stdout is a terminal.
        MachineError: A library that it needs is not installed.
    """
    if form == PARQUET:
        parquet.check()
        if to_stdout and sys.stdout.isatty():
            raise InputError("Parquet is binary: no terminal shows it", hint="write > FILE behind")


def show(finding: Finding, form: str) -> None:
    """Print a run or bill to stdout as data."""
    _show(form, rows(finding), (finding,))


def show_compared(a: Finding, b: Finding, form: str) -> None:
    """Print two runs side by side to stdout as data."""
    _show(form, compared_rows(a, b), (a, b))


def content(form: str, found: Iterable[Row]) -> bytes:
    """Return rows as the content of a file."""
    if form == PARQUET:
        return parquet.parquet(found)
    return _TEXTS[form](found).encode()


def write(path: Path, data: bytes) -> None:
    """Write a file, or stdout where its name is `-`.

    Raises:
        StoreError: It can't be written.
    """
    if str(path) == "-":
        print_bytes(data)
    else:
        put(path, data)


def _show(form: str, found: Iterable[Row], findings: tuple[Finding, ...]) -> None:
    check(form)
    print_bytes(benchstat(findings).encode() if form == BENCHSTAT else content(form, found))
