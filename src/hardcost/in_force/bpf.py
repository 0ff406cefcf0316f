"""Loaded BPF programs that look at events or decide about them, by the process that holds them.

Those that count and filter packets and devices for systemd's units are the distribution's, and
left out.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from pydantic import BaseModel, TypeAdapter, ValidationError

from hardcost.errors import MachineError
from hardcost.in_force.files import MachineFiles
from hardcost.in_force.found import InForce, Survey
from hardcost.units import visible

_WHAT = "loaded BPF programs"
_KIND = "BPF programs"
_WORDS = ("bpftool", "-j", "prog", "show")
_TYPES = frozenset(
    {
        *("kprobe", "tracepoint", "raw_tracepoint", "raw_tracepoint_writable"),
        *("perf_event", "tracing", "lsm"),
    }
)
_PINNED = "no process"  # which holds it: it is pinned or attached
_OWN = "bpftool"  # loads one to find out who holds the others


class _Holder(BaseModel):
    """A process that holds a program, as bpftool prints it."""

    comm: str


class _Program(BaseModel):
    """A program, as bpftool prints it; what else it prints is left out."""

    type: str
    pids: tuple[_Holder, ...] = ()


def read(files: MachineFiles) -> Survey:
    """Return who has such programs loaded; files do not say it."""
    if not files.live:
        return Survey()
    if not files.is_root:
        return Survey(unseen=(f"{_WHAT}: only root may ask for them",))
    try:
        said = files.output(*_WORDS)
        if said is None:
            return Survey(unseen=(f"{_WHAT}: bpftool is not installed",))
        programs = TypeAdapter(list[_Program]).validate_json(said)
    except MachineError as error:
        return Survey(unseen=(f"{_WHAT}: {error}",))
    except ValidationError:
        return Survey(unseen=(f"{_WHAT}: what bpftool prints can't be read",))
    by_owner: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for owner, kind in _held(programs):
        by_owner[owner][kind] += 1
    return Survey(
        tuple(
            InForce(
                _KIND,
                f"{_KIND} of {owner}",
                note=", ".join(f"{number} {kind}" for kind, number in sorted(types.items())),
            )
            for owner, types in sorted(by_owner.items())
        )
    )


def _held(programs: Iterable[_Program]) -> Iterator[tuple[str, str]]:
    """Yield the processes that hold a program of these types, and its type."""
    for one in programs:
        if one.type in _TYPES:
            owners = {visible(holder.comm) for holder in one.pids} or {_PINNED}
            for owner in sorted(owners - {_OWN}):
                yield owner, one.type
