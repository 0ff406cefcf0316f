"""Answers of a guest are hostile bytes until they are parsed."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardcost.errors import TrialError
from hardcost.protocol import answer_lines
from tests.protocol.json_messages import typed

HELLO = {"event": "hello", "protocol": 1, "probe": "1", "kernel": "6.1", "gap": None}
END = {"event": "end"}
FAILED = {"event": "error", "request": 0, "message": "no", "logs": {}}


def write(path: Path, *lines: object) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_answers_are_what_stands_between_hello_and_end(tmp_path: Path) -> None:
    done = {"event": "installed", "path": "/x", "bytes": 3}
    path = write(tmp_path / "a", {"event": "ready"}, HELLO, done, END, {"event": "late"})
    assert answer_lines.read(path) == tuple(typed([HELLO, done]))


def test_the_first_place_that_is_not_empty_holds_the_answers(tmp_path: Path) -> None:
    empty, other = write(tmp_path / "a"), write(tmp_path / "b", HELLO, END)
    assert answer_lines.read(empty, other) == tuple(typed([HELLO]))
    assert answer_lines.read(other, empty) == tuple(typed([HELLO]))
    half = write(tmp_path / "c", HELLO)
    with pytest.raises(TrialError, match="ended before"):
        answer_lines.read(half, other)
    with pytest.raises(TrialError, match="ended before"):
        answer_lines.read(empty, empty)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "ended before"),
        ([HELLO], "ended before"),
        ([END], "hello"),
        ([HELLO | {"protocol": 9}, END], "speaks protocol 9"),
        ([HELLO, FAILED | {"message": "EPERM at x"}, END], "EPERM at x"),
        ([HELLO, ["event"], END], "invalid answer"),
        ([HELLO, {"event": 7}, END], "invalid answer"),
        ([HELLO, {"event": "late"}, END], "invalid answer"),
        ([{"event": "hello", "protocol": 1}, END], "'hello' has a wrong field, probe: Field req"),
        ([HELLO | {"gap": -1}, END], "'hello' has a wrong field, gap"),
        ([HELLO | {"gap": 2**64}, END], "'hello' has a wrong field, gap"),
        ([HELLO | {"gap": "3"}, END], "'hello' has a wrong field, gap"),
        ([HELLO | {"gap": True}, END], "'hello' has a wrong field, gap"),
        ([HELLO | {"more": 1}, END], "'hello' has a wrong field, more"),
    ],
)
def test_what_makes_no_sense_fails_the_trial(
    lines: list[object], message: str, tmp_path: Path
) -> None:
    with pytest.raises(TrialError, match=message):
        answer_lines.read(write(tmp_path / "a", *lines))


@pytest.mark.parametrize("value", ["NaN", "-Infinity", "[" * 100_000, "9" * 5000])
def test_what_is_no_number_of_json_fails_the_trial(value: str, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text(f'{{"event": "ran", "ticks": {value}}}\n')
    with pytest.raises(TrialError, match=r"invalid answer|wrong field"):
        answer_lines.read(path)


def test_the_logs_of_an_error_are_what_the_trials_console_holds(tmp_path: Path) -> None:
    logs = {"/run/hardcost/web.log": "no room\n\n", "/var/log/web": "", "x": "y"}
    lines = (HELLO, FAILED | {"message": "the service web died", "logs": logs}, END)
    with pytest.raises(TrialError, match="web died") as caught:
        answer_lines.read(write(tmp_path / "a", *lines))
    assert caught.value.console == "== /run/hardcost/web.log\nno room\n== x\ny\n"


@given(st.binary(max_size=200))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_bytes_raise_anything_but_a_trial_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a"
    path.write_bytes(content)
    with pytest.raises(TrialError):
        answer_lines.read(path)
