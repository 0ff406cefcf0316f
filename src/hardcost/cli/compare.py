"""`hardcost compare`: two runs side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.cli import dataout, options
from hardcost.cli.console import show
from hardcost.cli.savedrun import saved
from hardcost.report.jsonout import compare_json
from hardcost.report.tables.compare_table import compare_table

if TYPE_CHECKING:
    from pathlib import Path


def compare(a: str, b: str, store: Path, format: str, *, raw: bool = False) -> None:  # noqa: A002
    """Put the runs A and B side by side."""
    form = options.form_of(format, raw=raw)
    first, second = saved(store, a, b)
    if form == "json":
        print(compare_json(first, second))
    elif form in dataout.FORMS:
        dataout.show_compared(first, second, form)
    else:
        show(compare_table(first, second))
