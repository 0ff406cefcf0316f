"""All CSV that hardcost writes. No text in a cell acts on a terminal or in a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from hardcost.units import visible

CsvCell = str | float | None

CSV, RAW = "csv", "csv --raw"
"""The format's name, and its name without the mark on texts that would act in a spreadsheet."""

_ACTIVE = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n", "'")  # noqa: RUF001  (meant)
"""What a cell begins with that spreadsheets don't take for text; and our own mark for those."""


def csv_text(header: Sequence[str], rows: Iterable[Sequence[CsvCell]], *, raw: bool = False) -> str:
    """Return rows as CSV: numbers with all their digits, nothing for None.

    A text that a spreadsheet would take for a formula gets an apostrophe unless it shall be `raw`.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow([_csv_cell(cell, raw=raw) for cell in row])
    return out.getvalue()


def mark_formula(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula, if need be behind an apostrophe.

    Blanks in front are looked through, as some spreadsheets do.
    """
    return f"'{text}" if text.lstrip(" ").startswith(_ACTIVE) else text


def visible_cell(cell: CsvCell) -> str:
    """Return a cell as text that can't act on a terminal."""
    if cell is None:
        return ""
    return visible(cell) if isinstance(cell, str) else repr(cell)


def _csv_cell(cell: CsvCell, *, raw: bool) -> str:
    text = visible_cell(cell)
    return mark_formula(text) if isinstance(cell, str) and not raw else text
