"""Hardware counters of a machine: which the probe could read, and why it could not read others."""

from __future__ import annotations

import errno
from collections.abc import Sequence

from hardcost.protocol.answers import CountersAnswer
from hardcost.protocol.requests import Counters

WHOLE = ("cycles", "instructions:u", "instructions:k")
"""The events counted where nothing forbids it; `:u` is in programs, `:k` in the kernel."""

OF_PROGRAMS = ("cycles:u", "instructions:u")
"""The events counted where the kernel's own work is not to be seen."""

_FORBIDDEN = frozenset({errno.EACCES, errno.EPERM})
_ABSENT = frozenset({errno.ENOENT, errno.EOPNOTSUPP, errno.ENODEV})
_LONGEST = 12  # characters of the setting's value that are shown


def counter_questions() -> tuple[Counters, ...]:
    """Return the questions to a probe: whether it can count each of the two sets at once."""
    return (Counters(names=WHOLE), Counters(names=OF_PROGRAMS))


def read_counters(
    answers: Sequence[CountersAnswer], paranoid: str, *, virtual: bool
) -> tuple[tuple[str, ...], str]:
    """Return the counters that work on a machine, and why the others do not; "" if all do.

    `paranoid` is its `kernel.perf_event_paranoid`.
    """
    refused = {one.names: one.refused for one in answers}
    if not refused.keys() >= {WHOLE, OF_PROGRAMS}:
        return (), "the probe was not asked"
    if refused[WHOLE] is None:
        return WHOLE, ""
    setting = f"kernel.perf_event_paranoid is {paranoid[:_LONGEST] or 'not known'}"
    if refused[OF_PROGRAMS] is None:
        return OF_PROGRAMS, f"the kernel's own are counted only for root ({setting})"
    return (), _why(refused[OF_PROGRAMS] or 0, setting, virtual=virtual)


def _why(number: int, setting: str, *, virtual: bool) -> str:
    if number in _ABSENT:
        owner = "this virtual machine" if virtual else "this machine"
        lacking = "its hypervisor gives it none" if virtual else "or the kernel does not know them"
        return f"{owner} has no counters of instructions and cycles, {lacking}"
    if number in _FORBIDDEN:
        return f"the kernel lets only root count ({setting})"
    if number == errno.ENOSYS:
        return "the kernel has no perf_event_open"
    name = errno.errorcode.get(number, str(number))
    return f"the kernel refuses to count ({name})"
