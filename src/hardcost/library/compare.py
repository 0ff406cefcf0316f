"""Two runs side by side."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path

from hardcost.analysis.change.comparison import compare_runs
from hardcost.library.saved_run import load_findings
from hardcost.measure.monitor import Monitor, Silent
from hardcost.model.finding.comparison import Comparison
from hardcost.model.request import CheckedRequest
from hardcost.store.location import default_path


@dataclass(frozen=True)
class CompareRequest(CheckedRequest):
    """Two runs of a store: their names, the beginnings of these, or `last`."""

    a: str
    b: str
    _: KW_ONLY
    store: str | Path = field(default_factory=default_path)


def compare(request: CompareRequest, monitor: Monitor | None = None) -> Comparison:
    """Return the changes from one run to another.

    Raises:
        InputError: There is no such store or run.
        StoreError: It can't be read, or a result is damaged.
    """
    CompareRequest.expect(request)
    return compare_runs(
        *load_findings(Path(request.store), monitor or Silent(), request.a, request.b)
    )
