"""Segments become windows only where they are what the instrument counted."""

import pytest

from hardcost.errors import TrialError
from hardcost.instruments.call_trees import call_tree
from hardcost.instruments.windows import Together, Windows
from hardcost.model.call_tree import CallTree, Frame, Sampled, check
from hardcost.protocol.plugin.stacks import CountedWindow, Stacks

PLACES = (
    Frame(0, "process", "p"),
    Frame(1, "kernel", "never"),
    Frame(1, "kernel", "f"),
    Frame(3, "kernel", "__x86_indirect_thunk_rax"),
    Frame(4, "kernel", "__x86_indirect_thunk_rax"),
    Frame(5, "kernel", "g"),
)


def counted(*counts: tuple[int, int], idle: int = 0) -> CountedWindow:
    return CountedWindow(sum(count for _, count in counts), idle, counts)


def seen(*counted_windows: CountedWindow) -> Stacks:
    return Stacks(PLACES, counted_windows)


def test_windows_follow_each_other_after_those_that_are_no_samples() -> None:
    odd, even, other = (
        counted((3, 5)),
        counted((3, 2), (6, 4)),
        counted((1, 99)),
    )
    all_of = seen(other, counted((1, 3)), other, odd, odd, even, odd)
    windows = (Windows(None, (3,)), Windows("m", (5, 6, 5), before=1, operations=2))
    found = call_tree(all_of, windows)
    (metric,) = found.metrics
    assert (metric.metric, metric.operations, metric.ticks) == ("m", 2, (5, 6, 5))
    assert metric.samples == (0, 1, 0)
    check(found)
    names = [frame.name for frame in found.frames]
    assert "never" not in names
    assert names.count("__x86_indirect_thunk_rax") == 1
    by_name = {found.frames[number - 1].name: count for number, count in metric.windows[1].items()}
    assert by_name == {"f": 2, "g": 4}


def test_the_first_run_is_no_sample() -> None:
    found = call_tree(seen(counted((3, 9)), counted((3, 7))), (Windows("m", (9, 7), dropped=1),))
    assert found.metrics[0].ticks == (7,)


def test_an_instruction_too_few_or_too_many_fails_the_trial() -> None:
    for count in (6, 8):
        with pytest.raises(TrialError, match="is not what the instrument counted"):
            call_tree(seen(counted((3, count))), (Windows("m", (7,)),))
    with pytest.raises(TrialError, match="is not what the instrument counted"):
        call_tree(seen(), (Windows("m", (7,)),))


def test_waiting_takes_ticks_and_executes_nothing() -> None:
    found = call_tree(seen(counted((3, 6), idle=2)), (Windows("m", (10,)),))
    (window,) = found.metrics[0].windows
    assert {found.frames[number - 1].name: count for number, count in window.items()} == {
        "f": 6,
        "[waiting]": 4,
    }
    with pytest.raises(TrialError):
        call_tree(seen(counted((3, 11), idle=2)), (Windows("m", (10,)),))


def test_a_damaged_call_tree_is_refused() -> None:
    whole = call_tree(seen(counted((3, 6))), (Windows("m", (6,)),))
    check(whole)
    (metric,) = whole.metrics
    for damaged in (
        metric.model_copy(update={"ticks": (7,)}),
        metric.model_copy(update={"samples": (1,)}),
        metric.model_copy(update={"samples": ()}),
        metric.model_copy(update={"windows": ({9: 6},)}),
        metric.model_copy(update={"windows": ({2: 7, 1: -1},)}),
    ):
        with pytest.raises(ValueError, match="call tree"):
            check(whole.model_copy(update={"metrics": (damaged,)}))
    with pytest.raises(ValueError, match="no tree"):
        check(CallTree(frames=(Frame(above=1, kind="user", name="f"),), metrics=()))


def test_of_several_processors_those_that_are_measured_are_samples() -> None:
    processors = (((1, 50),), (), ((3, 5), (6, 1)), ((6, 2),))
    window = CountedWindow(58, 0, (), processors=processors)
    parts = (Windows("a", (58,)), Windows("b", (58,)), Together("both", ("a", "b")))
    found = call_tree(seen(window, window), parts)
    check(found)
    one, _, both = found.metrics
    assert (one.ticks, both.ticks) == ((8,), (16,))
    named = [
        [{found.frames[it - 1].name: count for it, count in each.items()} for each in processors]
        for (processors,) in (one.processors, both.processors)
    ]
    assert named == [[{"f": 5, "g": 1}, {"g": 2}], [{"f": 10, "g": 2}, {"g": 4}]]
    with pytest.raises(ValueError, match="do not add up"):
        check(found.model_copy(update={"metrics": (_with(one, processors=(({1: 8}, {}),)),)}))


def _with(one: Sampled, **fields: object) -> Sampled:
    return one.model_copy(update=fields)
