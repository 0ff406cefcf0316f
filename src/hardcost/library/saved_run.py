"""Finished runs from a store, with notes on the state of their records."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from hardcost.analysis.finding_text import finding_from_text
from hardcost.errors import StoreError
from hardcost.measure.monitor import Monitor
from hardcost.model.finding.finding import Finding
from hardcost.store import rows
from hardcost.store.store import Store

_UNCHECKED = (
    "this result was saved by an older hardcost without a digest, and can't be checked for damage"
)


def load_findings(store: Path, monitor: Monitor, *names: str) -> tuple[Finding, ...]:
    """Return the findings of runs; a name may be a unique prefix, or `last`.

    Raises:
        InputError: There is no such store or run.
        StoreError: It can't be read, or the result is damaged.
    """
    with Store(store, read_only=True) as opened:
        found = tuple(_load_finding(opened, name) for name in names)
        for lost in opened.lost:
            monitor.note(f"left out: {lost}; {rows.SEE}")
    return found


def _load_finding(store: Store, name: str) -> Finding:
    run, text = store.finding(name)
    found = finding_from_text(text)
    if found.run != run.name:
        raise StoreError(
            f"the result of the run {run.name} in {store.path} is another run's", hint=rows.AGAIN
        )
    if run.unchecked:
        return dataclasses.replace(found, notes=(*found.notes, _UNCHECKED))
    return found
