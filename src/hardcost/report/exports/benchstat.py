"""Cells in the format of Go's benchmarks, which benchstat and its like read.

Source: "Go Benchmark Data Format" (golang.org/design/14313-benchmark-format) and the package
golang.org/x/perf/benchfmt. A name's parts are `/key=value`; what may not stand in a name is written
as in a URL. Instructions are `assume=exact` where an exact instrument counted each once: benchstat
then compares single values.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from hardcost.instruments.names import INSTRUMENTS
from hardcost.report.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hardcost.analysis.finding import Cell, Finding

_SAFE = ":+,"
_PROCESSORS = re.compile(r"-(?=\d+$)")
_FACTS = ("kernel", "qemu", "cpu_model")


def benchstat(findings: Sequence[Finding]) -> str:
    """Return the cells of runs, one after the other; `run` tells them apart (`-col run`)."""
    return "".join(f"{line}\n" for finding in findings for line in _lines(finding))


def _lines(finding: Finding) -> Iterator[str]:
    facts = {
        "run": finding.run,
        "study": finding.study,
        "machine": finding.machine,
        "instrument": finding.instrument,
        **{name: finding.environment.get(name, "") for name in _FACTS},
    }
    for key, said in facts.items():
        yield f"{key.replace('_', '-')}: {visible(said)}"
    known = INSTRUMENTS.get(finding.instrument)
    varies = any(len(set(cell.each)) > 1 for cell in finding.cells)
    exact = known is not None and known.exact and not varies
    for unit in dict.fromkeys(str(cell.unit) for cell in finding.cells):
        better = "higher" if unit == "index" or unit.endswith("/s") else "lower"
        yield f"Unit {_part(unit, '/')} better={better}{' assume=exact' if exact else ''}"
    for cell in finding.cells:
        for value in cell.each or (cell.value,):
            if math.isfinite(value):
                yield f"{_name(cell)} 1 {value!r} {_part(str(cell.unit), '/')}"


def _name(cell: Cell) -> str:
    parts = {
        "workload": cell.workload,
        "configuration": cell.configuration,
        "metric": cell.metric,
    }
    said = "".join(f"/{key}={_part(value)}" for key, value in parts.items())
    # A number behind a dash at the end would be taken for the number of processors.
    return "BenchmarkHardcost" + _PROCESSORS.sub("%2D", said)


def _part(text: str, also: str = "") -> str:
    return quote(text, safe=_SAFE + also, errors="surrogateescape")
