"""`hardcost compare`: two runs side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hardcost.cli.console import show
from hardcost.cli.finding import unpacked
from hardcost.cli.options import format_option, store_option
from hardcost.report.compare_table import compare_table
from hardcost.report.jsonout import compare_json
from hardcost.store.store import Store

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.argument("a")
@click.argument("b")
@store_option()
@format_option()
def compare(a: str, b: str, store: Path, format: str) -> None:  # noqa: A002
    """Put the runs A and B side by side.

    Each is a run's name, the beginning of it, or 'last'. Says where the two were measured with
    another QEMU, kernel or processor model, whose counts can't be compared.

    \b
    Example:  hardcost compare audit-rules-20260101-120000-ab12 last
    """
    with Store(store) as opened:
        first, second = (unpacked(opened.finding(name)[1]) for name in (a, b))
    if format == "json":
        print(compare_json(first, second))
    else:
        show(compare_table(first, second))
