"""What is asked of the probe, and so a trial's identity, is as it was: `jobs.jsonl` keeps it.

A change that is meant is kept by removing the file and running this test, which writes it again.
"""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import TypeAdapter

from hardcost.measure.prepare import prepare
from hardcost.protocol.requests import Request
from tests.protocol import trials

KEPT = Path(__file__).parent / "jobs.jsonl"
_REQUEST: TypeAdapter[Request] = TypeAdapter(Request)


def lines(folder: Path) -> list[str]:
    found: list[object] = []
    for name, trial in trials.trials(folder).items():
        prepared = prepare(trial, trials.Nowhere())
        if name not in trials.OUR_PROGRAM:
            found.append([name, {"identity": prepared.identity}])
        found += [[name, trials.kept(one.as_json())] for one in prepared.job]
    return [json.dumps(one) for one in found]


def test_jobs_are_the_same_bytes_as_before(tmp_path: Path) -> None:
    found = lines(tmp_path)
    if not KEPT.exists():
        KEPT.write_text("".join(f"{line}\n" for line in found))
    assert found == KEPT.read_text().splitlines()


def test_each_request_is_read_back_as_what_it_was(tmp_path: Path) -> None:
    jobs = [prepare(one, trials.Nowhere()).job for one in trials.trials(tmp_path).values()]
    requests = [request for job in jobs for request in job]
    assert len({type(request) for request in requests}) == 17
    for request in requests:
        assert _REQUEST.validate_json(json.dumps(request.as_json())) == request
