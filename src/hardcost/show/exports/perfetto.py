"""A trace as Perfetto and Chrome's tracing read it: a lane for each process, arrows for wake-ups.

Source of the format: "Trace Event Format" of the Chromium project. Its times are microseconds; an
instruction is shown as a nanosecond.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from hardcost.model.finding.trace import Traced, Traces
from hardcost.show.exports.export import Export

_PER_MICROSECOND = 1000  # the format counts microseconds, and an instruction stands for 1 ns
_Event = dict[str, Any]


def perfetto(traces: Sequence[Traced]) -> bytes:
    """Return the JSON: each trace is a process of its own, with its processes as threads."""
    events = [event for number, one in enumerate(traces, 1) for event in _events(one, number)]
    document = {
        "traceEvents": events,
        "displayTimeUnit": "ns",
        "otherData": {"unit": "1 ns stands for 1 instruction", "exporter": "hardcost"},
    }
    return f"{json.dumps(document, indent=0)}\n".encode()


def _events(one: Traced, number: int) -> Iterator[_Event]:
    title = f"{one.workload}: {one.metric}, {one.configuration}"
    yield {"ph": "M", "pid": number, "tid": 0, "name": "process_name", "args": {"name": title}}
    for thread in dict.fromkeys(piece.process for piece in one.pieces):
        yield _name_event(number, thread, one.processes[thread])
    for piece in one.pieces:
        arguments: dict[str, Any] = {"instructions": piece.instructions}
        if piece.woken is not None:
            by = "an interrupt" if piece.woken_by is None else one.processes[piece.woken_by]
            arguments |= {"woken by": by, "woken": piece.woken}
        if piece.stopped is not None:
            arguments["sleeps in"] = piece.stopped
        lane = {"pid": number, "tid": piece.process + 1, "ts": _at(piece.begin)}
        yield {
            "ph": "X",
            **lane,
            "dur": _at(piece.instructions),
            "name": piece.does,
            "args": arguments,
        }
        for deed in piece.deeds:
            yield {"ph": "i", "s": "t", **lane, "ts": _at(deed.when), "name": deed.what}
    yield from _arrows(one, number)


def _name_event(number: int, thread: int, name: str) -> _Event:
    arguments = {"name": name}
    return {"ph": "M", "pid": number, "tid": thread + 1, "name": "thread_name", "args": arguments}


def _arrows(one: Traced, number: int) -> Iterator[_Event]:
    """Yield an arrow from each wake-up to the piece that it led to."""
    for at, piece in enumerate(one.pieces):
        if piece.woken is None or piece.woken_by is None:
            continue
        arrow = {
            "cat": "wakes",
            "name": "wakes",
            "id": f"{number}.{at}",
            "pid": number,
        }
        yield {"ph": "s", **arrow, "tid": piece.woken_by + 1, "ts": _at(piece.woken)}
        begin = {"tid": piece.process + 1, "ts": _at(piece.begin)}
        yield {"ph": "f", "bp": "e", **arrow, **begin}


def _at(instructions: int) -> float:
    return instructions / _PER_MICROSECOND


PERFETTO = Export[Traces]("perfetto", lambda found: perfetto(found.traces))
