"""A trace is the part of a window that a call and its record take."""

from dataclasses import replace

import pytest

from hardcost.errors import TrialError
from hardcost.instruments.traces import Trace, check
from hardcost.instruments.tracing import traces
from hardcost.instruments.windows import Together, Windows
from hardcost.machines import fakeschedule
from hardcost.machines.noted import Note, Noted
from hardcost.machines.stacks import Stacks, Stretch

CALLER = "hardcost-caller"


def found(stretch: Stretch, caller: str | None = CALLER) -> Trace:
    stacks = Stacks(fakeschedule.PLACES, (stretch,))
    windows = (Windows("m", (stretch.total,)), Together("both", ("m",)))
    (trace,) = traces(stacks, windows, caller)
    check(trace)
    return trace


def test_a_recorded_call_ends_when_its_record_was_taken_and_it_has_returned() -> None:
    trace = found(fakeschedule.stretch(recorded=True))
    assert trace.begin == fakeschedule.BEFORE
    assert trace.end == trace.returned == trace.ticks - fakeschedule.AFTER
    assert trace.notes[0] == ("runs", trace.begin, 1, 0)
    assert [trace.processes[row[2] - 1] for row in trace.notes if row[0] == "runs"] == [
        CALLER,
        "kauditd",
        "init",
        CALLER,
    ]


def test_a_call_that_nobody_records_ends_when_it_returns() -> None:
    trace = found(fakeschedule.stretch(recorded=False))
    assert trace.end - trace.begin == fakeschedule.CALL


def test_without_a_caller_it_is_the_whole_window() -> None:
    trace = found(fakeschedule.stretch(recorded=True), None)
    assert (trace.begin, trace.end, trace.caller) == (0, trace.ticks, 0)


def test_a_record_may_be_taken_after_the_call_has_returned() -> None:
    early = fakeschedule.stretch(recorded=True)
    assert early.noted is not None
    notes = list(early.noted.notes)
    at = [note.kind for note in notes].index("wakes")
    notes.insert(at + 1, Note("reads", notes[at].when))
    late = replace(early, noted=replace(early.noted, notes=tuple(notes[:-1])))
    trace = found(late)
    assert trace.returned < trace.end < early.total - fakeschedule.AFTER


@pytest.mark.parametrize(
    ("noted", "reason"),
    [
        (None, "nothing was noted"),
        (Noted(("a",), (Note("runs", 0, 1),), is_cut=True), "more happened"),
        (Noted(("a",), (Note("runs", 0, 1),)), "did not make its call"),
    ],
)
def test_what_is_not_whole_fails(noted: Noted | None, reason: str) -> None:
    with pytest.raises(TrialError, match=reason):
        found(Stretch(5, 0, ((1, 5),), noted))


def test_a_damaged_trace_is_refused() -> None:
    trace = found(fakeschedule.stretch(recorded=True))
    for changes in (
        {"end": trace.ticks + 1},
        {"notes": ()},
        {"notes": (*trace.notes, ("runs", 0, 1, 0))},
        {"notes": (*trace.notes, ("runs", trace.end, 9, 0))},
        {"frames": (trace.frames[0].model_copy(update={"above": 5}),)},
    ):
        with pytest.raises(ValueError, match="trace"):
            check(trace.model_copy(update=changes))
