"""What each Linux hardening setting costs: the calls of the library, and what they take and return.

Each call takes a request and returns what was found; nothing is printed. What happens meanwhile is
heard by a `Monitor`. Nothing is imported before it is used.

Beside the folders are the files that all of them may use:

- `files.py`: reads and writes a user's file, whole or not at all; the same in our own folders; the
  hash of our own code
- `errors.py`: the errors that are raised, each with its exit status
- `units.py`: units, bytes and lists in words, and invisible characters made visible
- `decompress.py`: gzip, xz and zstd, unpacked in parts
- `kind_files.py`: imports the files of a folder's list, for mechanisms and workloads
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from auditrules.library.histogram import histogram
    from hardcost.analysis.bill.budget import Budget
    from hardcost.errors import HardcostError, InputError
    from hardcost.library.advise import AdviseRequest, advise
    from hardcost.library.bill import BillRequest, bill
    from hardcost.library.compare import CompareRequest, compare
    from hardcost.library.compare_here import CompareHereRequest, compare_here
    from hardcost.library.gate import GateRequest, gate
    from hardcost.library.here import HereRequest, here
    from hardcost.library.here_policy import here_policy
    from hardcost.library.hotspots import HotspotsRequest, hotspots
    from hardcost.library.measurement import Measuring, workloads_of
    from hardcost.library.percentages import budget, limits
    from hardcost.library.price import PriceRequest, price
    from hardcost.library.run import RunRequest, run
    from hardcost.library.trace import TraceRequest, trace
    from hardcost.machines.options import MachineOptions
    from hardcost.measure.monitor import Monitor
    from hardcost.measure.workers.lab import Lab, lab_at
    from hardcost.model.finding.bill import Bill, Bills
    from hardcost.model.finding.calls import Calls
    from hardcost.model.finding.change import Gate
    from hardcost.model.finding.choice import Advised
    from hardcost.model.finding.comparison import Comparison
    from hardcost.model.finding.here import HereFinding
    from hardcost.model.finding.here_comparison import HereComparison
    from hardcost.model.finding.price import ControlPrices
    from hardcost.model.finding.study import StudyFinding
    from hardcost.model.finding.trace import Traces
    from hardcost.profiles.settings import Settings
    from hardcost.show.exports.rows import rows
    from hardcost.show.json import to_json

__all__ = [
    "AdviseRequest",
    "Advised",
    "Bill",
    "BillRequest",
    "Bills",
    "Budget",
    "Calls",
    "CompareHereRequest",
    "CompareRequest",
    "Comparison",
    "ControlPrices",
    "Gate",
    "GateRequest",
    "HardcostError",
    "HereComparison",
    "HereFinding",
    "HereRequest",
    "HotspotsRequest",
    "InputError",
    "Lab",
    "MachineOptions",
    "Measuring",
    "Monitor",
    "PriceRequest",
    "RunRequest",
    "Settings",
    "StudyFinding",
    "TraceRequest",
    "Traces",
    "advise",
    "bill",
    "budget",
    "compare",
    "compare_here",
    "gate",
    "here",
    "here_policy",
    "histogram",
    "hotspots",
    "lab_at",
    "limits",
    "price",
    "rows",
    "run",
    "to_json",
    "trace",
    "workloads_of",
]

_HOMES = {
    "model.finding.comparison": ("Comparison",),
    "model.finding.bill": ("Bill", "Bills"),
    "model.finding.calls": ("Calls",),
    "model.finding.change": ("Gate",),
    "model.finding.choice": ("Advised",),
    "model.finding.here": ("HereFinding",),
    "model.finding.here_comparison": ("HereComparison",),
    "model.finding.price": ("ControlPrices",),
    "model.finding.study": ("StudyFinding",),
    "model.finding.trace": ("Traces",),
    "errors": ("HardcostError", "InputError"),
    "library.advise": ("AdviseRequest", "advise"),
    "library.bill": ("BillRequest", "bill"),
    "library.compare": ("CompareRequest", "compare"),
    "library.compare_here": ("CompareHereRequest", "compare_here"),
    "library.gate": ("GateRequest", "gate"),
    "library.here": ("HereRequest", "here"),
    "library.here_policy": ("here_policy",),
    "library.hotspots": ("HotspotsRequest", "hotspots"),
    "library.measurement": ("Measuring", "workloads_of"),
    "analysis.bill.budget": ("Budget",),
    "library.percentages": ("budget", "limits"),
    "machines.options": ("MachineOptions",),
    "measure.workers.lab": ("Lab", "lab_at"),
    "profiles.settings": ("Settings",),
    "library.price": ("PriceRequest", "price"),
    "library.run": ("RunRequest", "run"),
    "library.trace": ("TraceRequest", "trace"),
    "measure.monitor": ("Monitor",),
    "show.exports.rows": ("rows",),
    "show.json": ("to_json",),
}
_HOME = {name: f"hardcost.{home}" for home, names in _HOMES.items() for name in names}
_HOME["histogram"] = "auditrules.library.histogram"

logging.getLogger(__name__).addHandler(logging.NullHandler())  # whoever wants notes takes them


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(_HOME[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """Return the names, as a notebook completes them."""
    return sorted({*globals(), *__all__})
