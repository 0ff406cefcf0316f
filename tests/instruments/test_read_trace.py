"""A trace is the part of a window that a call and its record take."""

from dataclasses import replace

import pytest

from hardcost.errors import TrialError
from hardcost.instruments.read_trace import traces
from hardcost.instruments.traces import Trace, check
from hardcost.instruments.windows import Together, Windows
from hardcost.protocol.plugin.schedule import Schedule, ScheduleNote
from hardcost.protocol.plugin.stacks import CountedWindow, Stacks
from tests.fakes import schedule

CALLER = "hardcost-caller"


def found(counted: CountedWindow, caller: str | None = CALLER) -> Trace:
    stacks = Stacks(schedule.FRAMES, (counted,))
    windows = (Windows("m", (counted.total,)), Together("both", ("m",)))
    (trace,) = traces(stacks, windows, caller)
    check(trace)
    return trace


def test_a_recorded_call_ends_when_its_record_was_taken_and_it_has_returned() -> None:
    trace = found(schedule.window(recorded=True))
    assert trace.begin == schedule.BEFORE
    assert trace.end == trace.returned == trace.ticks - schedule.AFTER
    assert trace.notes[0] == ("runs", trace.begin, 1, 0)
    assert [trace.processes[row[2] - 1] for row in trace.notes if row[0] == "runs"] == [
        CALLER,
        "kauditd",
        "init",
        CALLER,
    ]


def test_a_call_that_nobody_records_ends_when_it_returns() -> None:
    trace = found(schedule.window(recorded=False))
    assert trace.end - trace.begin == schedule.CALL


def test_without_a_caller_it_is_the_whole_window() -> None:
    trace = found(schedule.window(recorded=True), None)
    assert (trace.begin, trace.end, trace.caller) == (0, trace.ticks, 0)


def test_a_record_may_be_taken_after_the_call_has_returned() -> None:
    early = schedule.window(recorded=True)
    assert early.schedule is not None
    notes = list(early.schedule.notes)
    at = [note.kind for note in notes].index("wakes")
    notes.insert(at + 1, ScheduleNote("reads", notes[at].when))
    late = replace(early, schedule=replace(early.schedule, notes=tuple(notes[:-1])))
    trace = found(late)
    assert trace.returned < trace.end < early.total - schedule.AFTER


@pytest.mark.parametrize(
    ("noted", "reason"),
    [
        (None, "nothing was noted"),
        (Schedule(("a",), (ScheduleNote("runs", 0, 1),), is_cut=True), "more happened"),
        (Schedule(("a",), (ScheduleNote("runs", 0, 1),)), "did not make its call"),
    ],
)
def test_what_is_not_whole_fails(noted: Schedule | None, reason: str) -> None:
    with pytest.raises(TrialError, match=reason):
        found(CountedWindow(5, 0, ((1, 5),), noted))


def test_a_damaged_trace_is_refused() -> None:
    trace = found(schedule.window(recorded=True))
    for changes in (
        {"end": trace.ticks + 1},
        {"notes": ()},
        {"notes": (*trace.notes, ("runs", 0, 1, 0))},
        {"notes": (*trace.notes, ("runs", trace.end, 9, 0))},
        {"frames": (replace(trace.frames[0], above=5),)},
    ):
        with pytest.raises(ValueError, match=r"trace|tree"):
            check(trace.model_copy(update=changes))
