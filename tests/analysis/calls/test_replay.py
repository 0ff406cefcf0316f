"""A trace on several processors: never shorter than it can be, and on one as it was."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from hardcost.analysis.calls.replay import (
    SLEEPING,
    ReplayTask,
    longest_chain,
    model_trace,
    schedule_tasks,
    tasks,
)
from hardcost.model.finding.trace import AccessAnswer, Piece, Traced, Wake
from hardcost.model.role import role_of
from hardcost.model.workload import Workload

NAMES = ("a", "b", "hardcost-idle")


def traced(
    pieces: tuple[Piece, ...], wakes: tuple[Wake, ...] = (), answers: tuple[AccessAnswer, ...] = ()
) -> Traced:
    length = pieces[-1].end
    return Traced(
        workload=Workload("w"),
        configuration=role_of("c"),
        metric="m",
        length=length,
        ticks=length,
        before=0,
        after=0,
        idle=0,
        processes=NAMES,
        pieces=pieces,
        wakes=wakes,
        answers=answers,
    )


@st.composite
def _found(draw: st.DrawFn) -> list[ReplayTask]:
    """Tasks as a trace of one processor has them, one after the other."""
    latest: dict[int, int] = {}
    found: list[ReplayTask] = []
    for number in range(draw(st.integers(1, 25))):
        process = draw(st.integers(0, 4))
        work = draw(st.integers(0, 50))
        after = tuple(draw(st.sets(st.integers(0, number - 1), max_size=3)) if number else ())
        found.append(ReplayTask(process, work, latest.get(process), after))
        latest[process] = number
    return found


def _needed(found: list[ReplayTask]) -> int:
    """Return the work of the last task and of all that it waits for."""
    wanted, needed = [len(found) - 1], set[int]()
    while wanted:
        number = wanted.pop()
        if number not in needed:
            needed.add(number)
            task = found[number]
            wanted += [*task.after, *([] if task.before is None else [task.before])]
    return sum(found[number].work for number in needed)


@given(_found(), st.integers(1, 6))
def test_no_number_of_processors_beats_the_work_or_the_longest_chain(
    found: list[ReplayTask], processors: int
) -> None:
    length, drained = schedule_tasks(found, processors)
    work = sum(task.work for task in found)
    limit, path = longest_chain(found)
    assert max(limit, -(-_needed(found) // processors)) <= length <= work
    assert sum(path.values()) == limit
    assert length <= drained <= work
    # Graham's bound: no order in which a free processor never waits is worse.
    assert length * processors <= work + (processors - 1) * limit


@given(_found())
def test_one_processor_takes_what_it_took_and_enough_take_the_longest_chain(
    found: list[ReplayTask],
) -> None:
    work = sum(task.work for task in found)
    assert schedule_tasks(found, 1) == (work, work)
    processes = len({task.process for task in found})
    assert schedule_tasks(found, processes) == schedule_tasks(found, processes + 3)
    assert schedule_tasks(found, processes)[0] == longest_chain(found)[0]


def test_who_is_woken_runs_beside_who_woke_him() -> None:
    pieces = (
        Piece(0, 0, 100, ("work",)),
        Piece(1, 100, 160, ("work",), woken_by=0, woken=30, stopped="f"),
        Piece(0, 160, 200, ("work",)),
    )
    trace = traced(pieces, (Wake(30, 0, 1),))
    one, two, eight = model_trace(trace, (1, 2, 8))
    assert one.length == one.work == trace.length
    assert two.length == eight.length == two.limit == 140  # a: 100 + 40, b: 30 + 60
    assert two.path == (("a", 140),)


def test_who_an_interrupt_woke_sleeps_as_long_as_it_did() -> None:
    pieces = (
        Piece(0, 0, 50, ("work",), stopped="timer"),
        Piece(2, 50, 120, ("nothing",)),
        Piece(0, 120, 130, ("work",), woken_by=None, woken=115),
        Piece(1, 130, 190, ("work",)),
    )
    found = tasks(traced(pieces, (Wake(115, None, 0),)))
    assert [task.work for task in found] == [50, 10, 60]
    one, two = model_trace(traced(pieces, (Wake(115, None, 0),)), (1, 2))
    assert (one.length, two.length) == (110, 60)
    assert two.path == (("b", 60),)


def test_who_waits_for_a_timer_waits_on_any_number_of_processors() -> None:
    pieces = (
        Piece(0, 0, 50, ("work",), stopped="timer"),
        Piece(2, 50, 120, ("nothing",)),
        Piece(0, 120, 130, ("work",), woken_by=None, woken=115),
    )
    (eight,) = model_trace(traced(pieces, (Wake(115, None, 0),)), (8,))
    assert (eight.length, eight.limit) == (130, 130)
    assert eight.path == ((SLEEPING, 70), ("a", 60))


def test_what_nobody_waits_for_goes_on_behind_the_end() -> None:
    pieces = (
        Piece(0, 0, 10, ("work",)),
        Piece(1, 10, 100, ("work",), woken_by=0, woken=10),
        Piece(0, 100, 110, ("work",)),
    )
    one, two = model_trace(traced(pieces, (Wake(10, 0, 1),)), (1, 2))
    assert (one.length, two.length) == (110, 20)
    assert (one.drained, two.drained) == (110, 100)
    assert two.busiest == ("b", 90)


def test_who_asks_goes_on_with_the_answer_though_he_never_slept() -> None:
    pieces = (
        Piece(0, 0, 100, ("openat",)),  # asks at 90, and is interrupted by who is asked
        Piece(1, 100, 160, ("decides",), woken_by=0, woken=95),
        Piece(0, 160, 200, ("openat",)),
    )
    wakes, answers = (Wake(95, 0, 1),), (AccessAnswer(150, by=1, process=0, asked=90),)
    (two,) = model_trace(traced(pieces, wakes, answers), (2,))
    assert two.length == two.limit == 185  # a 95, b 50 until it answers, a 40; 10 of b are beside
    assert two.path == (("a", 135), ("b", 50))
    assert two.drained == two.length
    (without,) = model_trace(traced(pieces, wakes), (2,))
    assert without.length == 140  # a alone: no process would wait for b


def test_nobody_answers_before_he_is_asked() -> None:
    pieces = (
        Piece(1, 0, 50, ("waits for questions",)),
        Piece(0, 50, 150, ("work",)),
        Piece(0, 150, 250, ("openat",)),  # asks at 250, and gives way
        Piece(1, 250, 300, ("decides",)),  # it had not slept, so no process woke it
        Piece(0, 300, 310, ("openat",)),
    )
    answers = (AccessAnswer(300, by=1, process=0, asked=250),)
    (two,) = model_trace(traced(pieces, answers=answers), (2,))
    assert two.length == 260  # 200 until it asks, 50 for the answer, 10


def test_who_answers_several_takes_one_after_the_other() -> None:
    pieces = (
        Piece(0, 0, 10, ("openat",)),  # asks at 10
        Piece(2, 10, 20, ("openat",)),  # asks at 20
        Piece(1, 20, 220, ("decides",)),  # answers the first at 120, the second at 220
        Piece(2, 220, 221, ("openat",)),
        Piece(0, 221, 222, ("openat",)),
    )
    names = ("a", "b", "c")
    answers = (AccessAnswer(120, 1, 0, 10), AccessAnswer(220, 1, 2, 20))
    trace = replace(traced(pieces, answers=answers), processes=names)
    found = tasks(trace)
    assert [(task.process, task.work) for task in found] == [
        *((0, 10), (2, 10), (1, 100), (1, 100), (2, 1), (0, 1))
    ]
    assert [task.after for task in found] == [(), (), (0,), (1,), (3,), (2,)]
    (three,) = model_trace(trace, (3,))
    # The last piece is the first asker's, which need not wait for the second answer.
    assert (three.length, three.drained) == (111, 211)
