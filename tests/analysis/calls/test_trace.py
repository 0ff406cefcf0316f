"""A trace's pieces follow each other without a gap and add up to the whole."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hardcost.analysis.calls.trace import OWN_CODE, trace_by_pieces
from hardcost.instruments.read_trace import traces
from hardcost.instruments.traces import TAKES, Trace
from hardcost.instruments.windows import Windows
from hardcost.model.call_tree import Frame
from hardcost.model.finding.trace import AccessAnswer, Deed
from hardcost.model.role import role_of
from hardcost.model.workload import Workload, workload_of
from hardcost.protocol.plugin.stacks import Stacks
from tests.fakes import schedule

NAMES = ("a", "b", "c")
FRAMES = (
    Frame(above=0, kind="process", name="a"),
    Frame(above=1, kind="kernel", name="do_syscall_64"),
    Frame(above=2, kind="kernel", name="__x64_sys_read"),
    Frame(above=3, kind="kernel", name="schedule"),
    Frame(above=1, kind="kernel", name="asm_sysvec_apic_timer_interrupt"),
    Frame(above=3, kind="kernel", name="preempt_schedule_common"),
    Frame(above=3, kind="kernel", name="fanotify_handle_event"),
)


def recorded() -> Trace:
    counted = schedule.window(recorded=True)
    windows = (Windows("m", (counted.total,)),)
    return traces(Stacks(schedule.FRAMES, (counted,)), windows, "hardcost-caller")[0]


@st.composite
def _any(draw: st.DrawFn) -> Trace:
    kinds = st.sampled_from(("runs", "wakes", "answers", "begins", "leaves"))
    whens = sorted(draw(st.lists(st.integers(5, 90), max_size=30)))
    rows = [
        (draw(kinds), when, draw(st.integers(0, len(NAMES))), draw(st.integers(0, len(FRAMES))))
        for when in whens
    ]
    notes = (("runs", 5, 1, 0), *rows)
    return Trace(
        metric="m", ticks=100, begin=5, end=90, processes=NAMES, frames=FRAMES, notes=notes
    )


@given(_any())
def test_pieces_add_up_and_so_do_the_shares(trace: Trace) -> None:
    found = trace_by_pieces(trace, Workload("w"), role_of("c"))
    assert found.length == 85
    assert sum(piece.instructions for piece in found.pieces) == found.length
    moments = [0, *(piece.end for piece in found.pieces)]
    assert [piece.begin for piece in found.pieces] == moments[:-1]
    assert found.before + found.length + found.after + found.idle == found.ticks
    shares = found.shares()
    assert sum(share.ran for share in shares) == found.length
    for share in shares:
        assert share.ran + share.ready + share.slept == found.length
        assert share.ready >= 0 <= share.slept


def test_a_recorded_call_goes_from_the_program_to_kauditd_to_the_daemon() -> None:
    found = trace_by_pieces(recorded(), workload_of("onecall call=chmod"), role_of("profile"))
    names = [found.processes[piece.process] for piece in found.pieces]
    assert names == ["hardcost-caller", "kauditd", "init", "hardcost-caller"]
    caller, kauditd, daemon, rest = found.pieces
    assert (caller.does, rest.does) == ("fake", "fake")
    assert (caller.stopped, caller.woken) == (None, None)  # it could have gone on
    assert kauditd.does == "kauditd_thread"
    assert (kauditd.woken_by, daemon.woken_by) == (caller.process, kauditd.process)
    (taken,) = daemon.deeds
    assert taken == Deed(found.arrived or 0, TAKES)
    assert daemon.begin < taken.when < daemon.end < (found.returned or 0) == found.length
    assert daemon.stopped is not None


def test_threads_of_one_name_are_numbered() -> None:
    trace = recorded().model_copy(update={"processes": ("auditd", "kauditd", "auditd")})
    assert trace_by_pieces(trace, Workload("w"), role_of("c")).processes[:3] == (
        "auditd",
        "kauditd",
        "auditd (2)",
    )


def test_an_interrupt_wakes_in_nobodys_name() -> None:
    rows = (("runs", 0, 1, 0), ("wakes", 3, 2, 5), ("runs", 7, 2, 6))
    trace = Trace(metric="m", ticks=10, begin=0, end=10, processes=NAMES, frames=FRAMES, notes=rows)
    found = trace_by_pieces(trace, Workload("w"), role_of("c"))
    (wake,) = found.wakes
    assert wake.by is None
    first, second = found.pieces
    assert (second.woken_by, second.woken, second.does) == (None, 3, OWN_CODE)
    assert first.stopped is None  # it was interrupted


def test_of_several_wakes_the_first_ends_the_sleep() -> None:
    rows = (
        *(("runs", 0, 1, 0), ("runs", 2, 2, 4), ("wakes", 4, 1, 6)),
        *(("wakes", 6, 1, 6), ("runs", 8, 1, 6)),
    )
    trace = Trace(metric="m", ticks=10, begin=0, end=10, processes=NAMES, frames=FRAMES, notes=rows)
    assert trace_by_pieces(trace, Workload("w"), role_of("c")).pieces[-1].woken == 4


def test_an_answer_is_to_the_latest_question() -> None:
    rows = (
        *(("runs", 5, 1, 0), ("begins", 6, 0, 7), ("begins", 9, 0, 7)),
        *(("runs", 10, 2, 7), ("answers", 12, 1, 3), ("answers", 13, 3, 3), ("answers", 14, 0, 3)),
        ("answers", 15, 1, 3),
    )
    trace = Trace(metric="m", ticks=20, begin=5, end=20, processes=NAMES, frames=FRAMES, notes=rows)
    # The second answers no question, no process read the third, and the last has no question left.
    assert trace_by_pieces(trace, Workload("w"), role_of("c")).answers == (
        AccessAnswer(7, 1, 0, 4),
    )
