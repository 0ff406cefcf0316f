"""Whether what is asked for can be profiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.errors import InputError
from hardcost.instruments.insn import INSN
from hardcost.report.text import listed
from hardcost.workloads.names import WORKLOADS, HasWindows
from hardcost.workloads.names import workload as workload_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.design.plan import Workload


def check(
    instrument: str | None, record: Sequence[str] | None, workloads: Sequence[Workload]
) -> None:
    """Check that the functions of these workloads can be watched.

    Raises:
        InputError: They can't, or something else is to be measured beside them.
    """
    if instrument not in {None, INSN.name}:
        raise InputError("a profile counts instructions: leave --instrument out")
    if record:
        raise InputError("a profile has no recorders beside it: leave --record out")
    for one in workloads:
        if not isinstance(workload_named(one.name), HasWindows):
            able = [name for name in WORKLOADS if isinstance(workload_named(name), HasWindows)]
            raise InputError(
                f"--workload: {one.name} can't be profiled yet", hint=f"{listed(able)} can"
            )
