"""The workload `memory`: what the kernel takes for itself in a guest that was just booted.

The kernel says it in pages, so a difference of less than a page is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hardcost.errors import InputError, TrialError
from hardcost.instruments.instrument import Instrument
from hardcost.protocol.answers import Answer, ContentAnswer, answer_named
from hardcost.protocol.ask import read
from hardcost.protocol.requests import Request
from hardcost.units import Unit
from hardcost.workloads.kind import WorkloadKind
from hardcost.workloads.metric import MetricSamples
from hardcost.workloads.parameters import WorkloadParameters

_FILES = {"meminfo": "/proc/meminfo", "zoneinfo": "/proc/zoneinfo"}
_TAIL = 1 << 16  # bytes; both are shorter
_PAGE = 4096
_LINE = re.compile(r"^(\w+): +(\d+) kB$", re.MULTILINE)
_PAGES = re.compile(r"^ +(present|managed) +(\d+)$", re.MULTILINE)
_OF_MEMINFO = {"slab": "Slab", "page-tables": "PageTables"}


class Parameters(WorkloadParameters):
    """It has none."""

    def check(self, instrument: Instrument) -> None:
        """Refuse real machines, where slabs are mostly of what ran there before.

        Raises:
            InputError: The instrument reads a clock.
        """
        if not instrument.exact:
            raise InputError(
                "memory is the kernel's own in a guest that was just booted",
                hint="measure it by --instrument insn",
            )


def requests(parameters: Parameters, instrument: Instrument) -> list[Request]:  # noqa: ARG001  (the interface's)
    """Return the requests to the probe."""
    return [read(name, path, _TAIL) for name, path in _FILES.items()]


def read_metrics(
    parameters: Parameters,  # noqa: ARG001  (the interface's)
    answers: Sequence[Answer],
    instrument: Instrument,  # noqa: ARG001  (the same)
) -> tuple[MetricSamples, ...]:
    """Return three metrics in bytes: `static`, `slab` and `page-tables`.

    `static` is what the page allocator was never given: the kernel's image, and what it takes for
    itself as it starts, for each page and each processor.

    Raises:
        TrialError: The kernel does not say one of them.
    """
    said = {name: answer_named(answers, ContentAnswer, name).text or "" for name in _FILES}
    lines = dict(_LINE.findall(said["meminfo"]))
    pages = [(name, int(number)) for name, number in _PAGES.findall(said["zoneinfo"])]
    present, managed = (
        sum(number for name, number in pages if name == wanted) for wanted in ("present", "managed")
    )
    lacking = next((one for one in _OF_MEMINFO.values() if one not in lines), None)
    if lacking is not None or not 0 < managed < present:
        raise TrialError(f"the guest's kernel does not say its memory: {lacking or 'its zones'}")
    sizes = {"static": (present - managed) * _PAGE}
    sizes |= {metric: int(lines[name]) * 1024 for metric, name in _OF_MEMINFO.items()}
    return tuple(
        MetricSamples(metric=metric, unit=Unit.BYTES, samples=(float(size),))
        for metric, size in sizes.items()
    )


KIND = WorkloadKind(
    name="memory",
    title="the kernel's own memory in a guest that was just booted: static, slabs, page tables",
    parameters=Parameters,
    audit_note="slabs hold the rules, and the records that wait",
    guest="small",
    requests=requests,
    measured=read_metrics,
)
