"""Whatever a guest prints, it is a result or a failed trial, and never an error in hardcost."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardcost.errors import InputError, MachineError
from hardcost.measure.execute import execute
from hardcost.measure.prepare import Prepared, prepare
from hardcost.protocol.answers import Answer
from hardcost.protocol.boot import Boot
from hardcost.protocol.requests import (
    Audit,
    Command,
    MeasureCalls,
    Mount,
    Read,
    Request,
    RunProgram,
    StartService,
    Stop,
    Write,
)
from tests.fakes.machine import FakeMachine
from tests.protocol import trials
from tests.protocol.json_messages import typed

_TEXTS = (
    *("", "\n", "x", "7 7\n", "7", "1\n", "²", "9" * 5000, "9" * 5000 + " x\n", "-1\n", "0 \n"),
    *("none", "selinux", "capability,selinux", "apparmor", "Enforcing", "Permissive", "Y"),
    "enabled 1\npid 7\nlost 2\n",
    f"enabled 2\npid 7\nlost {'9' * 5000}\n",
    "records 9\nevents 3\nwhole yes\nbytes 900\n",
    "audit 3\nreceived 2\nlimited 1\nbeginnings 0\n",
    "audit 3\n",
    "There was an error in line 99 of /x\n",
    "There was an error in line 4 of /x\n",
    f"There was an error in line {'9' * 5000} of /x\n",
    "Allowed accesses: 7\nDenied accesses: 1\n",
    f"Allowed accesses: {'9' * 5000}\nDenied accesses: 1\n",
    "Com_select\t7\nCom_update\t1\n",
    "Com_select\n",
    "64\n",
    "d\nd\nd\n",
    '{"jobs": [{}]}',
    '{"jobs": [{"error": 0, "read": {"total_ios": 1e999}}]}',
    '{"test": "pipe", "operations": 1e999, "ticks": 1}',
    "[]",
    "System Benchmarks Index Score 9.9\n",
    "67108864\n",
    "12 avc: denied\n",
    "avc: denied\n",
    f"Complete requests: {'9' * 5000}\nNon-2xx responses: 3\n",
    "/home/hardcost-eicar: Hardcost.Eicar FOUND\n/srv/tree can't be written to\n",
)
_MEASURED = {"uid": 1000, "loginuid": 1000, "audit": {"by_key": {"k": 1}}}


def prepared() -> dict[str, Prepared]:
    with tempfile.TemporaryDirectory() as folder:
        every = trials.trials(Path(folder))
        return {name: prepare(one, trials.Nowhere()) for name, one in every.items()}


PREPARED = prepared()


def said(request: Request, text: str, other: str, status: int) -> list[dict[str, Any]]:  # noqa: PLR0911
    """Return the answers to a request in which programs print what they like."""
    match request:
        case RunProgram():
            size = {"stdout_bytes": len(text.encode()), "status": status, "ticks": 5}
            return [{"event": "ran", "name": request.name, "stdout": text, "stderr": other} | size]
        case StartService():
            return [{"event": "started", "name": request.name, "context": text or None}]
        case Stop():
            return [{"event": "stopped", "name": request.name, "logs": {other: text}}]
        case Read():
            return [{"event": "content", "name": request.name, "text": text}]
        case Write():
            return [{"event": "written", "path": request.path, "before": text, "after": other}]
        case Audit():
            return [{"event": "audit", "stderr": text, "exit": status, "loaded": len(other)}]
        case Mount():
            return [{"event": "mounted", "path": request.path, "options": text.split(",")}]
        case Command():
            done = {"event": "command", "stdout": text, "stderr": other, "status": status}
            return [done, done | {"period": 1, "interruptions": 2, "ticks": 7}]
        case MeasureCalls():
            plans = {one.name: [9] * one.samples for one in request.calls}
            rows = [{"event": "call", "name": n, "samples": each} for n, each in plans.items()]
            return [{"event": "clock"}, *(row | _MEASURED for row in rows)]
        case _:
            return []


@pytest.mark.parametrize("name", PREPARED)
@given(st.data())
@settings(deadline=None)
def test_whatever_programs_print_is_a_result_or_a_failed_trial(
    name: str, data: st.DataObject
) -> None:
    texts, statuses = st.sampled_from(_TEXTS), st.sampled_from([0, 0, 0, 1, 126])

    def answer(_boot: Boot, job: Sequence[Request]) -> list[Answer]:
        rows = [said(one, data.draw(texts), data.draw(texts), data.draw(statuses)) for one in job]
        return typed([{"event": "hello"}, *(one for row in rows for one in row)])

    machine = FakeMachine(answer)
    with contextlib.suppress(MachineError, InputError):
        asyncio.run(execute(PREPARED[name], machine, 60))
