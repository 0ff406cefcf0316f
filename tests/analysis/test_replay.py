"""A trace on several processors: never shorter than it can be, and on one as it was."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hardcost.analysis.replay import SLEEPING, Task, longest, modelled, scheduled, tasks
from hardcost.analysis.traced import Piece, Traced, Wake

NAMES = ("a", "b", "hardcost-idle")


def traced(pieces: tuple[Piece, ...], wakes: tuple[Wake, ...] = ()) -> Traced:
    length = pieces[-1].end
    return Traced("w", "c", "m", NAMES, pieces, wakes, length, length, 0, 0, 0)


@st.composite
def _found(draw: st.DrawFn) -> list[Task]:
    """Tasks as a trace of one processor has them, one after the other."""
    latest: dict[int, int] = {}
    found: list[Task] = []
    now = 0
    for number in range(draw(st.integers(1, 25))):
        process = draw(st.integers(0, 4))
        work = draw(st.integers(0, 50))
        after = draw(st.none() | st.integers(0, number - 1)) if number else None
        found.append(Task(process, work, now, latest.get(process), after))
        latest[process] = number
        now += work
    return found


def _needed(found: list[Task]) -> int:
    """Return the work of the last task and of all that it waits for."""
    wanted, needed = [len(found) - 1], set[int]()
    while wanted:
        number = wanted.pop()
        if number not in needed:
            needed.add(number)
            task = found[number]
            wanted += [one for one in (task.before, task.after) if one is not None]
    return sum(found[number].work for number in needed)


@given(_found(), st.integers(1, 6))
def test_no_number_of_processors_beats_the_work_or_the_longest_chain(
    found: list[Task], processors: int
) -> None:
    length, drained = scheduled(found, processors)
    work = sum(task.work for task in found)
    limit, path = longest(found)
    assert max(limit, -(-_needed(found) // processors)) <= length <= work
    assert sum(path.values()) == limit
    assert length <= drained <= work
    # Graham's bound: no order in which a free processor never waits is worse.
    assert length * processors <= work + (processors - 1) * limit


@given(_found())
def test_one_processor_takes_what_it_took_and_enough_take_the_longest_chain(
    found: list[Task],
) -> None:
    work = sum(task.work for task in found)
    assert scheduled(found, 1) == (work, work)
    processes = len({task.process for task in found})
    assert scheduled(found, processes) == scheduled(found, processes + 3)
    assert scheduled(found, processes)[0] == longest(found)[0]


def test_who_is_woken_runs_beside_who_woke_him() -> None:
    pieces = (
        Piece(0, 0, 100, "work"),
        Piece(1, 100, 160, "work", woken_by=0, woken=30, stopped="f"),
        Piece(0, 160, 200, "work"),
    )
    trace = traced(pieces, (Wake(30, 0, 1),))
    one, two, eight = modelled(trace, (1, 2, 8))
    assert one.length == one.work == trace.length
    assert two.length == eight.length == two.limit == 140  # a: 100 + 40, b: 30 + 60
    assert two.path == (("a", 140),)


def test_who_an_interrupt_woke_sleeps_as_long_as_it_did() -> None:
    pieces = (
        Piece(0, 0, 50, "work", stopped="timer"),
        Piece(2, 50, 120, "nothing"),
        Piece(0, 120, 130, "work", woken_by=None, woken=115),
        Piece(1, 130, 190, "work"),
    )
    found = tasks(traced(pieces, (Wake(115, None, 0),)))
    assert [task.work for task in found] == [50, 10, 60]
    one, two = modelled(traced(pieces, (Wake(115, None, 0),)), (1, 2))
    assert (one.length, two.length) == (110, 60)
    assert two.path == (("b", 60),)


def test_who_waits_for_a_timer_waits_on_any_number_of_processors() -> None:
    pieces = (
        Piece(0, 0, 50, "work", stopped="timer"),
        Piece(2, 50, 120, "nothing"),
        Piece(0, 120, 130, "work", woken_by=None, woken=115),
    )
    (eight,) = modelled(traced(pieces, (Wake(115, None, 0),)), (8,))
    assert (eight.length, eight.limit) == (130, 130)
    assert eight.path == ((SLEEPING, 70), ("a", 60))


def test_what_nobody_waits_for_goes_on_behind_the_end() -> None:
    pieces = (
        Piece(0, 0, 10, "work"),
        Piece(1, 10, 100, "work", woken_by=0, woken=10),
        Piece(0, 100, 110, "work"),
    )
    one, two = modelled(traced(pieces, (Wake(10, 0, 1),)), (1, 2))
    assert (one.length, two.length) == (110, 20)
    assert (one.drained, two.drained) == (110, 100)
    assert two.busiest == ("b", 90)
