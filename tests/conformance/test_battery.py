from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from auditrules.kernel.event import FileId
from auditrules.tables.lookup import Release
from conformance.battery import FIELD_SITE, WantedRules, job_of, prepared, read, release_of
from conformance.calls import Call
from conformance.files_and_workers import PATHS
from hardcost.errors import TrialError
from hardcost.protocol.ask import install

CALLS = (Call("getppid", 0, "b64", 110, (0, 0, 0, 1)),)
SYSCALL = (
    "arch=c000003e syscall=110 success=yes exit=1 a0=0 a1=0 a2=0 a3=1 items=0 ppid=1 pid=501 "
    "auid=4294967295 uid=0 gid=0 euid=0 suid=0 fsuid=0 egid=0 sgid=0 fsgid=0 tty=(none) "
    'ses=4294967295 comm="p" exe="/field" subj=? key=(null)'
)


def answers(**changes: object) -> list[dict[str, Any]]:
    first = {"file": [0, 24, 1], "entry": [0, 2, 7], "kind": 5}
    result = {
        "event": "set",
        "set": 0,
        "complaints": "There was an error in line 3 of /run/hardcost.rules\n",
        "loaded": 1,
        "lost": 0,
        "listing": None,
        "keys": ['"k"'],
        "recorded": [[0, 0]],
        "changed": [],
    }
    return [
        {"event": "files", "files": [None, first, *[None] * (len(PATHS) - 2)]},
        {"event": "learned", "call": 0, "result": 1, "records": [[1300, SYSCALL]]},
        {**result, **changes},
    ]


def test_answers_are_read() -> None:
    battery = read(answers(), [WantedRules("x")], CALLS)
    assert battery.files == {PATHS[1]: FileId(0, 2, 7)}
    assert battery.events[0].call == 110
    (only,) = battery.sets
    assert (only.recorded, only.made, only.loaded) == ({0: "k"}, (0,), 1)
    assert only.refused == {2}
    assert not only.unsteady


def test_events_are_of_the_kernel_s_release() -> None:
    battery = read(answers(), [WantedRules("x")], CALLS, FIELD_SITE, "7.3")
    assert (battery.release, battery.events[0].release) == ("7.3", "7.3")


def test_a_call_with_another_result_or_two_records_is_unsteady() -> None:
    changed = read(answers(changed=[[0, -1]]), [WantedRules("x")], CALLS)
    twice = read(answers(recorded=[[0, 0], [0, 0]]), [WantedRules("x")], CALLS)
    assert changed.sets[0].unsteady == twice.sets[0].unsteady == {0}


def test_lost_records_and_missing_answers_are_errors() -> None:
    with pytest.raises(TrialError, match="lost 3"):
        read(answers(lost=3), [WantedRules("x")], CALLS)
    with pytest.raises(TrialError, match="not those"):
        read(answers()[:-1], [WantedRules("x")], CALLS)


def test_a_job_says_what_to_make_under_which_rules() -> None:
    job = job_of([WantedRules("-w /x", (0,), listed=True)], CALLS)
    assert job["sets"] == [{"rules": "-w /x", "calls": [0], "list": True}]
    assert [one["number"] for one in job["calls"]] == [110]
    assert [one["pid"] for one in job["workers"]] == [501, 502, 503, 504, 505]


def test_what_a_site_asks_for_comes_before_all_else() -> None:
    first = install("/x", "")
    asked = prepared(replace(FIELD_SITE, first=(first,)))
    assert asked[0] == first
    assert {one.do for one in asked[1:]} == {"write"}


@pytest.mark.parametrize(
    ("version", "release"),
    [
        ("6.1.0-56-amd64", "6.1"),
        ("Linux 6.1.192, lean", "6.1"),
        ("6.12.117+deb12-amd64", "6.12"),
        ("6.6.30", "6.1"),
        ("7.2.12", "7.2"),
        ("7.3.4+deb13-amd64", "7.3"),
        ("7.10.1", "7.3"),
        ("8.0", "7.3"),
        ("5.10", "6.1"),
        ("", "6.1"),
    ],
)
def test_a_kernel_is_of_the_newest_release_that_it_is_not_before(
    version: str, release: Release
) -> None:
    assert release_of(version) == release
