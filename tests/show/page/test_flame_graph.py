from __future__ import annotations

import base64
import hashlib
import math
import re
from dataclasses import replace
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from hardcost.model.finding.calls import (
    Calls,
    Hotspots,
    Moved,
    Process,
    SourceLine,
    SourceListing,
    Stack,
)
from hardcost.model.role import role_of
from hardcost.model.workload import Workload
from hardcost.show.page.flame_graph import DEEPEST, Flame, flame, flame_script, graphs
from hardcost.show.page.page import to_html
from tests.show.conftest import HOSTILE


class _Seen(HTMLParser):
    """The frames of a page, its scripts, and what its tags could do."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.frames: list[dict[str, str]] = []
        self.scripts: list[str] = []
        self.actions: list[str] = []
        self.policy = ""
        self._tag = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        words = {name: value or "" for name, value in attrs}
        self._tag = tag
        self.actions += [name for name in words if name.startswith("on") or name == "src"]
        if words.get("role") == "treeitem":
            self.frames.append(words)
        if tag == "script":
            self.scripts.append("")
        if words.get("http-equiv") == "Content-Security-Policy":
            self.policy = words["content"]

    def handle_data(self, data: str) -> None:
        if self._tag == "script" and self.scripts:
            self.scripts[-1] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == self._tag:
            self._tag = ""


def flamed(name: str = "audit_filter_syscall") -> Calls:
    stacks = (
        Stack(("program", "enter"), 100.0, 100.0),
        Stack(("program", "enter", name), 0.0, 50.0),
        Stack(("program", "enter", "old"), 20.0, 0.0),
    )
    moved = Moved(function=name, own_before=0.0, own_after=50.0, total_before=0.0, total_after=50.0)
    one = Hotspots(
        workload=Workload("syscalls"),
        metric="open",
        unit="insn/op",
        before=role_of("baseline"),
        after=role_of("profile"),
        value=120.0,
        cost=30.0,
        functions=(moved,),
        processes=(Process("program", 120.0, 150.0),),
        stacks=stacks,
    )
    return Calls(run="r", study="profile", title="t", instrument="insn", cells=(), hotspots=(one,))


def placed(name: str = "audit_filter_syscall") -> Calls:
    """Return the same with places and with the lines of a function."""
    places = (
        Stack(("programs", "program", "enter"), 100.0, 100.0),
        Stack(("kernel", "audit", "kernel/auditsc.c", name), 0.0, 50.0),
        Stack(("kernel", "mm", "mm/slub.c", "old"), 20.0, 0.0),
    )
    lines = (
        SourceLine("kernel/auditsc.c", 7, "\tif (found)"),
        SourceLine("kernel/auditsc.c", 8, f"    return {name};", 0.0, 30.0, 0.0, 40.0),
        SourceLine("kernel/auditsc.c", 90, "<b>bold</b>", 0.0, 20.0, 0.0, 20.0),
    )
    (one,) = flamed(name).hotspots
    return replace(
        flamed(name), hotspots=(replace(one, places=places, source=SourceListing(name, lines)),)
    )


def test_each_frame_says_its_numbers_and_what_became_of_it() -> None:
    seen = _Seen(to_html(flamed()))
    words = [frame["aria-label"] for frame in seen.frames]
    whole = "+30 insn/op, 100.0% of the whole difference; 120 under baseline, 150 under profile"
    more = "+50 insn/op, 166.7% of the whole difference; 0 under baseline, 50 under profile; new"
    less = "-20 insn/op, -66.7% of the whole difference; 20 under baseline, 0 under profile; gone"
    assert words == [
        *(f"{name}: {whole}" for name in ("open", "program", "enter")),
        f"audit_filter_syscall: {more}",
        f"old: {less}",
    ]


def test_frames_share_the_width_of_their_caller() -> None:
    (graph,) = graphs(flamed())
    (program,) = graph.root.shown
    (enter,) = program.shown
    assert [(one.name, graph.share(one.width, enter.width), one.change) for one in enter.shown] == [
        ("audit_filter_syscall", "29.41", "new"),
        ("old", "11.76", "gone"),
    ]
    shares = [graph.share(one, enter.width) for one in (enter.grown, enter.shrunk)]
    assert shares == ["29.41", "11.76"]


def test_only_one_frame_can_be_reached_by_tab() -> None:
    seen = _Seen(to_html(flamed()))
    assert [frame["tabindex"] for frame in seen.frames] == ["0", "-1", "-1", "-1", "-1"]


def test_the_page_runs_our_script_alone() -> None:
    seen = _Seen(to_html(flamed()))
    (script,) = seen.scripts
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in seen.policy
    assert script == flame_script().text
    assert "unsafe-inline" not in seen.policy.partition("script-src")[2].partition(";")[0]
    assert not seen.actions


def test_a_hostile_function_stays_text() -> None:
    html = to_html(flamed(HOSTILE))
    seen = _Seen(html)
    assert len(seen.scripts) == 1
    assert len(seen.frames) == 5
    assert not seen.actions
    assert not re.search(r"<(img|iframe|a href=\"javascript)", html)


def test_a_second_graph_has_the_same_instructions_by_subsystem() -> None:
    by_caller, by_place = graphs(placed())
    assert by_place.name != by_caller.name
    assert (by_place.root.before, by_place.root.after) == (120, 150)
    programs, kernel = by_place.root.shown
    assert [one.name for one in kernel.shown] == ["audit", "mm"]
    assert kernel.shown[0].shown[0].name == "kernel/auditsc.c"
    assert by_place.moved(programs) == ""


def test_a_listing_stays_text() -> None:
    html = to_html(placed(HOSTILE))
    assert "&lt;b&gt;bold&lt;/b&gt;" in html
    assert "<b>bold" not in html
    assert not _Seen(html).actions


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
