"""A failed trial."""

from __future__ import annotations

from dataclasses import dataclass

from hardcost.model.role import Role
from hardcost.model.workload import Workload


@dataclass(frozen=True)
class Failure:
    """A failed trial: the reason, the remedy, and the tail of the guest's log.

    `log` is text from the guest, and as untrusted as all its output.
    """

    configuration: Role
    workload: Workload
    seed: int
    repetition: int
    reason: str
    hint: str | None = None
    log: str = ""
