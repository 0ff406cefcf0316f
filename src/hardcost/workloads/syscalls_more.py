"""The workload `syscalls-more`: calls that hardening restricts and `syscalls` does not make.

The calls are data, in `syscalls-more.toml`; they are measured as those of `syscalls` are.
"""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from hardcost.workloads import syscalls
from hardcost.workloads.parameters import JOINED, ONCE, one_of

NAME = syscalls.MORE
TITLE = "the cost of one system call, for each of 12 calls that hardening restricts"
AUDIT_NOTE = syscalls.AUDIT_NOTE
SETTINGS = (
    "a call of syscalls-more that is refused, to any user or by a setting, costs what the refusal"
    " takes: a setting that refuses a call may so seem to save something"
)
GUEST: Final = "small"
PACKAGES: Final[tuple[str, ...]] = ()

_CallName = Annotated[str, one_of("calls", syscalls.more)]


class Parameters(syscalls.Parameters):
    """Which of the calls are measured, and beside how many."""

    calls: Annotated[tuple[_CallName, ...], JOINED, ONCE] = Field(
        default_factory=lambda: tuple(syscalls.more()),
        description="the calls to measure, joined by '+', such as ptrace+bind (default: all)",
    )


moves = syscalls.moves
requests = syscalls.requests
measured = syscalls.measured
windows = syscalls.windows
counted = syscalls.counted
