"""`hardcost report`: a run's table and HTML report again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.cli import options
from hardcost.cli.present import Page, present
from hardcost.cli.savedrun import saved

if TYPE_CHECKING:
    from pathlib import Path


def report(  # noqa: PLR0913  (click's options)
    run: str,
    report: Path | None,
    store: Path,
    format: str,  # noqa: A002
    *,
    raw: bool = False,
    all: bool = False,  # noqa: A002
) -> None:
    """Show RUN again: its name, the beginning of it, or 'last'."""
    form = options.form_of(format, raw=raw)
    (found,) = saved(store, run)
    present(found, form, Page(report, store), everything=all)
