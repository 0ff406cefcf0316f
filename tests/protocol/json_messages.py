"""Requests and answers of the probe as JSON, which is how tests write them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from hardcost.protocol.answers import Answer, read_answer
from hardcost.protocol.requests import Request

_ENDED = {
    "status": 0,
    "signal": None,
    "ticks": None,
    "user": 0,
    "system": 0,
    "stdout": "",
    "stdout_bytes": 0,
    "stderr": "",
    "stderr_bytes": 0,
    "audit": None,
}
_WHEN = {"begin": None, "end": None}
_USUAL: Mapping[str, Mapping[str, Any]] = {
    "hello": {"protocol": 1, "probe": "0.1.0", "kernel": "6.1.0", "gap": None},
    "made": {"directories": 0, "files": 0, "inodes": {}},
    "audit": {"exit": 0, "stdout": "", "stderr": "", "loaded": 0},
    "clock": {"clock": "tsc", "overhead": [0]},
    "call": {
        "clock": "tsc",
        "batch": 1,
        "samples": [],
        "uid": 1000,
        "loginuid": None,
        "audit": None,
        "output": "",
    },
    "command": _ENDED | {"ticks": 0, "interruptions": 0, "period": 0},
    "ran": _ENDED | _WHEN,
    "started": {"pid": 7, "ticks": 0, "attempts": 1, "context": None, **_WHEN},
    "stopped": {"status": 0, "signal": None, "forced": False, "logs": {}},
    "content": {"path": "/x", "text": None, "bytes": None},
    "error": {"request": 0, "message": "", "logs": {}},
}


def typed(answers: Iterable[dict[str, Any]]) -> list[Answer]:
    """Return answers as the machine hands them on; fields that are left out are as usual."""
    return [_typed(one) for one in answers]


def as_sent(requests: Iterable[Request]) -> tuple[dict[str, Any], ...]:
    """Return requests as they are sent."""
    return tuple(one.as_json() for one in requests)


def plain(answers: Iterable[Answer]) -> list[dict[str, Any]]:
    """Return answers as JSON has them."""
    return [one.model_dump(mode="json") for one in answers]


def _typed(answer: dict[str, Any]) -> Answer:
    whole = {**_USUAL.get(answer["event"], {}), **answer}
    if isinstance(whole.get("audit"), dict) and answer["event"] != "watched":
        whole["audit"] = {"records": 0, "lost": 0, "by_key": {}, **whole["audit"]}
    return read_answer(json.dumps(whole).encode())
