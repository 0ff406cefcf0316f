"""Rows of results as CSV and as Markdown; text that could act on a terminal is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, fields

from hardcost.show.exports import csv
from hardcost.show.exports.csv import visible_cell
from hardcost.show.exports.export import Export
from hardcost.show.exports.markdown import code, table
from hardcost.show.exports.rows import Row

COLUMNS = tuple(field.name for field in fields(Row))


def csv_text(rows: Iterable[Row], *, raw: bool = False) -> str:
    """Return rows as CSV with a header."""
    return csv.csv_text(COLUMNS, (astuple(row) for row in rows), raw=raw)


def markdown_text(rows: Iterable[Row]) -> str:
    """Return rows as a table in Markdown, without the columns that are empty in all of them."""
    values = [[visible_cell(value) for value in astuple(row)] for row in rows]
    used = [at for at in range(len(COLUMNS)) if any(row[at] for row in values)]
    numeric = [at for at in used if _is_numeric(COLUMNS[at])]
    body = [[row[at] if at in numeric else code(row[at]) for at in used] for row in values]
    right = [nth for nth, at in enumerate(used) if at in numeric]
    return table([COLUMNS[at] for at in used], body, right) + "\n"


def _is_numeric(column: str) -> bool:
    types = {field.name: str(field.type) for field in fields(Row)}
    return types[column].startswith(("int", "float"))


CSV_ROWS = Export("csv", csv_text)
MARKDOWN_ROWS = Export("markdown", markdown_text)
