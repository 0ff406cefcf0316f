from __future__ import annotations

from conformance.calls import ArgumentWords, Call, Data, Space, Text, Worker, file
from conformance.files_and_workers import FIXTURE, PATHS, WORKERS
from conformance.repertoire import CALLS


def test_a_call_is_written_as_the_program_takes_it() -> None:
    words = ArgumentWords((Text("noop"), 0))
    call = Call(
        "execve",
        1,
        "b32",
        11,
        (Text("/x"), words, Data(b"\0\xff"), Space(8), -1),
        before=(file("/f"),),
    )
    assert call.as_json() == {
        "worker": 1,
        "arch": "b32",
        "number": 11,
        "arguments": [
            {"text": "/x"},
            {"words": [{"text": "noop"}, 0]},
            {"bytes": [0, 255]},
            {"space": 8},
            -1,
        ],
        "child": False,
        "closes": False,
        "before": [{"step": "file", "path": "/f", "mode": 0o644, "owner": (0, 0)}],
        "after": [],
    }
    assert str(call) == "b32 execve('/x', ['noop', 0], 00ff, [8 bytes], -1) by worker 1"


def test_what_a_worker_has_not_is_not_written() -> None:
    assert "auid" not in Worker(500, "/p").as_json()
    assert Worker(500, "/p", auid=0).as_json()["auid"] == 0


def test_no_two_calls_without_memory_look_the_same() -> None:
    marks = [
        (call.arch, call.number, call.arguments)
        for call in CALLS
        if all(isinstance(argument, int) for argument in call.arguments[:4])
    ]
    assert len(set(marks)) == len(marks)


def test_calls_come_by_both_gates_from_every_worker() -> None:
    assert {call.arch for call in CALLS} == {"b64", "b32"}
    assert {call.worker for call in CALLS} == set(range(len(WORKERS)))
    assert len({worker.pid for worker in WORKERS}) == len(WORKERS)


def test_what_calls_replace_is_nothing_that_rules_name() -> None:
    touched = {step.path for call in CALLS for step in (*call.before, *call.after)}
    named = {*PATHS, *(step.path for step in FIXTURE)}
    assert not touched & named
