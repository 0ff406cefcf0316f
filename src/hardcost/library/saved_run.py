"""Finished runs out of a store, with what their reader has to know of how they were kept."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from hardcost.analysis.saved import unpacked
from hardcost.cli.console import note
from hardcost.errors import StoreError
from hardcost.store import rows
from hardcost.store.store import Store

if TYPE_CHECKING:
    from pathlib import Path

    from hardcost.analysis.finding import Finding

_UNCHECKED = (
    "this result was saved by an older hardcost without a digest, and can't be checked for damage"
)


def saved(store: Path, *names: str) -> tuple[Finding, ...]:
    """Return what runs found; a name may be a unique prefix, or `last`.

    Raises:
        InputError: There is no such store or run.
        StoreError: It can't be read, or the result is damaged.
    """
    with Store(store, read_only=True) as opened:
        found = tuple(_of(opened, name) for name in names)
        for lost in opened.lost:
            note(f"left out: {lost}; {rows.SEE}")
    return found


def _of(store: Store, name: str) -> Finding:
    run, text = store.finding(name)
    found = unpacked(text)
    if found.run != run.name:
        raise StoreError(
            f"the result of the run {run.name} in {store.path} is another run's", hint=rows.AGAIN
        )
    if run.unchecked:
        return dataclasses.replace(found, notes=(*found.notes, _UNCHECKED))
    return found
