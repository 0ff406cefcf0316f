"""`hardcost report`: a run's table and HTML report again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.analysis.saved import unpacked
from hardcost.cli import options
from hardcost.cli.present import present
from hardcost.store.store import Store

if TYPE_CHECKING:
    from pathlib import Path


def report(
    run: str,
    report: Path | None,
    store: Path,
    format: str,  # noqa: A002
    *,
    raw: bool = False,
) -> None:
    """Show RUN again: its name, the beginning of it, or 'last'."""
    form = options.form_of(format, raw=raw)
    with Store(store, read_only=True) as opened:
        found, text = opened.finding(run)
    present(unpacked(text), form, report or store.parent / "reports" / f"{found.name}.html")
