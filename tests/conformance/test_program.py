"""How a guest does a job of the program, and what becomes of its answers."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from conformance.program import answers_in, requests_of
from hardcost.errors import TrialError
from tests.protocol.json_messages import as_sent, typed

HELLO: dict[str, Any] = {"event": "hello"}


def content(text: str | None) -> dict[str, object]:
    return {"event": "content", "name": "conformance", "text": text}


def test_a_guest_writes_runs_and_reads_what_it_knows_nothing_of() -> None:
    job: dict[str, object] = {"calls": []}
    program, written, run, read = as_sent(requests_of(job, b"\x7fELF", 9.0))
    assert [one["do"] for one in (program, written, run, read)] == ["install"] * 2 + ["run", "read"]
    assert json.loads(base64.b64decode(written["base64"])) == job
    assert run["argv"] == [program["path"], "job", written["path"], read["path"]]
    assert program["mode"] == 0o755
    assert run["limit"] == 9.0


def test_each_line_is_an_answer() -> None:
    (first, second) = answers_in(typed([HELLO, content('{"event":"files"}\n{"event":"set"}\n')]))
    assert (first["event"], second["event"]) == ("files", "set")


@pytest.mark.parametrize("text", [None, "", '{"event":', "told"])
def test_no_answers_and_what_is_no_json_fail_the_trial(text: str | None) -> None:
    with pytest.raises(TrialError, match="guest's program"):
        answers_in(typed([HELLO, content(text)]))


def test_a_guest_that_read_nothing_fails_the_trial() -> None:
    with pytest.raises(TrialError, match="left no answers"):
        answers_in(typed([HELLO]))
