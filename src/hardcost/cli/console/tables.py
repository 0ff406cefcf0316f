"""Rows of texts as tables on stdout. Drawing them takes rich, which takes long to import."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.markup import escape
from rich.table import Column, Table

from auditrules.cli import results
from hardcost.cli.console.console import LIST_WIDTH
from hardcost.units import visible


def show_rows(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows of texts to stdout as a table; a name, in the first column, is never folded."""
    table = Table()
    for nth, name in enumerate(columns):
        table.add_column(name, overflow="fold", no_wrap=name == "name" and nth == 0)
    for row in rows:
        table.add_row(*map(visible, row))
    results.show(table)


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Print rows of equally many texts to stdout, the first as their head, in 100 columns.

    A text that is too long continues below itself. A terminal has its own width.
    """
    table = Table(*(Column(name, overflow="fold") for name in rows[0]))
    for row in rows[1:]:
        table.add_row(*map(escape, row))
    if sys.stdout.isatty():
        results.show(table)
        return
    for line in results.lines(results.without_boxes(table), LIST_WIDTH):
        print(line.rstrip())
    sys.stdout.flush()  # before any note that follows on stderr
