"""The workload `syscalls-more`: calls that hardening restricts and `syscalls` does not make.

The calls are data, in `syscalls-more.toml`; they are measured as those of `syscalls` are.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from hardcost.workloads import syscalls
from hardcost.workloads.kind import WorkloadKind
from hardcost.workloads.parameters import JOINED, ONCE, one_of

_CallName = Annotated[str, one_of("calls", syscalls.more)]


class Parameters(syscalls.Parameters):
    """Which of the calls are measured, and beside how many."""

    calls: Annotated[tuple[_CallName, ...], JOINED, ONCE] = Field(
        default_factory=lambda: tuple(syscalls.more()),
        description="the calls to measure, joined by '+', such as ptrace+bind (default: all)",
    )


KIND = WorkloadKind(
    name=syscalls.MORE,
    title="the cost of single system calls that hardening restricts, such as ptrace",
    parameters=Parameters,
    audit_note=syscalls.AUDIT_NOTE,
    settings=(
        "a call of syscalls-more that is refused, to any user or by a setting, costs what the"
        " refusal takes: a setting that refuses a call may so seem to save something"
    ),
    guest="small",
    requests=syscalls.requests,
    perturbed=syscalls.requests,
    measured=syscalls.read_metrics,
    moves=syscalls.moves,
    windows=syscalls.windows,
    counted=syscalls.observe_counters,
)
