"""What is shown of a run's events on stderr."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from hardcost.cli.console import console
from hardcost.cli.console.progress import Bars, making_text, monitor_of
from hardcost.errors import InputError
from hardcost.measure.expected_time import Span, Stage
from hardcost.measure.monitor import Expected, Failed, Monitor
from hardcost.supply.progress import BuildProgress, ImageProgress

SLOW = Stage("trials", 3, 3, Span(60, 60), "a guess")


@pytest.fixture(autouse=True)
def _form() -> Iterator[None]:
    yield
    console.choose_form("auto")


def happen(monitor: Monitor) -> None:
    monitor.hear(Expected((SLOW,)))
    with monitor.stage("trials", 2, 60.0) as advance:
        advance()
        monitor.hear(Failed("a, syscalls: it died\nof this", "a", "syscalls"))
        advance()
    monitor.underway(BuildProgress("lean", 100, None, 5))
    monitor.underway(None)
    monitor.note("done")


def test_plain_lines_hold_notes_failures_and_how_long_it_takes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    happen(monitor_of("plain"))
    assert capsys.readouterr().err.splitlines() == [
        "expected time: about 60 s; trials (3): about 60 s",
        "failed: a, syscalls: it died",
        "building lean: 100 steps, 5 s",
        "done",
    ]


def test_json_lines_are_an_object_for_each_event(capsys: pytest.CaptureFixture[str]) -> None:
    console.choose_form("json")
    happen(monitor_of("json"))
    console.note("a note of the command line")
    console.complain(InputError("it is wrong", hint="mend it"))
    said = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [one["event"] for one in said] == [
        *("expected", "stage", "advance", "failed", "advance", "stage-end"),
        *("setup", "setup", "note", "note", "error"),
    ]
    assert said[0]["stages"][0]["low_seconds"] == 60
    assert said[2] == {"event": "advance", "name": "trials", "done": 1, "total": 2}
    assert said[3]["configuration"] == "a"
    assert (said[-1]["message"], said[-1]["hint"]) == ("it is wrong", "mend it")


def test_none_prints_errors_alone(capsys: pytest.CaptureFixture[str]) -> None:
    console.choose_form("none")
    happen(monitor_of("none"))
    console.note("a note")
    console.complain(InputError("it is wrong"))
    assert capsys.readouterr().err == "error: it is wrong\n"


def test_an_image_is_not_said_to_be_usual_when_it_takes_longer() -> None:
    assert "90 s, usually 60 to 300 s" in making_text(ImageProgress("Debian", "unpacking", 90))
    late = making_text(ImageProgress("Debian", "unpacking", 390))
    assert "390 s, longer than usual" in late
    assert "60 to" not in late


def interrupted(bars: Bars) -> None:
    with bars.stage("trials", 2, 60.0) as advance:
        advance()
        assert bars._bar is not None
        assert bars._bar.tasks[0].completed == 1
        bars.note("meanwhile")
        raise KeyboardInterrupt


def test_a_bar_is_there_as_long_as_its_stage_and_notes_are_not_lost(
    capsys: pytest.CaptureFixture[str],
) -> None:
    bars = Bars()
    with pytest.raises(KeyboardInterrupt):
        interrupted(bars)
    assert bars._bar is None
    assert "meanwhile" in capsys.readouterr().err
