from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from hardcost.analysis.finding import Stack
from hardcost.analysis.flame import DEEPEST, Flame, flame

_NAMES = st.sampled_from(["a", "b", "c"])
_COUNTS = st.integers(0, 1000).map(float)
STACKS = st.dictionaries(
    st.lists(_NAMES, min_size=1, max_size=5).map(tuple), st.tuples(_COUNTS, _COUNTS), max_size=20
).map(lambda found: [Stack(path, *sides) for path, sides in found.items()])


def _check(one: Flame) -> None:
    below = one.children
    assert one.before + one.grown - one.shrunk == one.after
    assert sum(child.width for child in below) <= one.width
    for name in ("before", "after", "grown", "shrunk"):
        assert sum(getattr(child, name) for child in below) <= getattr(one, name)
    for child in below:
        _check(child)


@given(STACKS, st.sampled_from([0.0, 0.01, 0.2]))
def test_the_root_has_what_all_stacks_have_and_no_frame_more_than_its_caller(
    stacks: list[Stack], least: float
) -> None:
    root = flame(stacks, least=least)
    assert root.before == sum(one.before for one in stacks)
    assert root.after == sum(one.after for one in stacks)
    assert root.grown == sum(max(0.0, one.after - one.before) for one in stacks)
    _check(root)
    assert root.frames == flame(stacks).frames


def test_a_frame_that_is_gone_is_as_wide_as_it_was() -> None:
    root = flame([Stack(("a",), 30.0, 40.0), Stack(("a", "old"), 60.0, 0.0)])
    (a,) = root.children
    (old,) = a.children
    assert (a.width, a.grown, a.shrunk) == (100.0, 10.0, 60.0)
    assert (old.width, old.after) == (60.0, 0.0)


def test_frames_that_are_too_narrow_become_one_that_says_how_many() -> None:
    stacks = [Stack(("a", name), 1.0, 1.0) for name in ("x", "y")]
    root = flame([*stacks, Stack(("a",), 98.0, 98.0)], least=0.015)
    (rest,) = root.children[0].children
    assert (rest.name, rest.merged, rest.width) == ("", 2, 2.0)


def test_the_widest_callee_is_first() -> None:
    root = flame([Stack(("a",), 1.0, 1.0), Stack(("b",), 0.0, 5.0), Stack(("c",), 1.0, 1.0)])
    assert [child.name for child in root.children] == ["b", "a", "c"]


def test_a_stack_that_is_very_deep_is_cut_and_loses_no_instruction() -> None:
    deep = ("f",) * 5000
    root = flame([Stack(deep, 3.0, 5.0), Stack(deep[:-1], 1.0, 1.0)])
    assert (root.before, root.after) == (4.0, 6.0)
    assert root.frames == DEEPEST + 1
    assert math.isclose(root.width, 6.0)
