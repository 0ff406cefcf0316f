from __future__ import annotations

from base64 import b64encode

import pytest

from hardcost.errors import Problem
from hardcost.mechanisms.service import SERVICES, Service
from hardcost.profiles.control_tables import ControlsTable
from hardcost.toml.read import parse, validated
from tests.protocol.json_messages import as_sent


def problems_of(text: str) -> list[Problem]:
    problems: list[Problem] = []
    validated(parse(text.encode(), "f.toml"), ControlsTable, problems)
    return problems


def test_a_unit_is_asked_for_with_its_files() -> None:
    stopped = Service("rsyslog.service", running=False)
    with_file = Service("app.service", files=(("/etc/app.conf", "x = 1\n"),))
    assert as_sent(SERVICES.requests((stopped, with_file))) == (
        {"do": "unit", "name": "rsyslog.service", "active": False, "files": {}},
        {
            "do": "unit",
            "name": "app.service",
            "active": True,
            "files": {"/etc/app.conf": b64encode(b"x = 1\n").decode()},
        },
    )


def test_a_unit_and_its_state_have_one_name() -> None:
    assert Service("a.timer").name == "a.timer running"
    assert Service("a.timer", running=False).name == "a.timer stopped"
    assert Service("a.timer").slot == Service("a.timer", running=False).slot


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ('"a.service" = "restarted"', '"running", "stopped" or a table'),
        ('"a.mount" = "stopped"', "not a valid name"),
        ('"a.service" = { files = { "etc/x" = "" } }', "files"),
    ],
)
def test_what_no_unit_can_be_is_refused_at_its_line(written: str, message: str) -> None:
    (problem,) = problems_of(f"[service]\n{written}\n")
    assert message in problem.message
    assert problem.place is not None
    assert problem.place.line == 2
