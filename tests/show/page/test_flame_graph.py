from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser

from tests.report.conftest import HOSTILE

from hardcost.analysis.finding import Finding, Line, Moved, Process, Profiled, Source, Stack
from hardcost.report.page.flames import flame_script, graphs
from hardcost.report.page.page import to_html


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


def flamed(name: str = "audit_filter_syscall") -> Finding:
    stacks = (
        Stack(("program", "enter"), 100.0, 100.0),
        Stack(("program", "enter", name), 0.0, 50.0),
        Stack(("program", "enter", "old"), 20.0, 0.0),
    )
    moved = Moved(function=name, own_before=0.0, own_after=50.0, total_before=0.0, total_after=50.0)
    one = Profiled(
        workload="syscalls",
        metric="open",
        unit="insn/op",
        before="baseline",
        after="profile",
        value=120.0,
        cost=30.0,
        functions=(moved,),
        processes=(Process("program", 120.0, 150.0),),
        stacks=stacks,
    )
    return Finding(
        run="r", study="profile", title="t", instrument="insn", cells=(), profiles=(one,)
    )


def placed(name: str = "audit_filter_syscall") -> Finding:
    """Return the same with places and with the lines of a function."""
    places = (
        Stack(("programs", "program", "enter"), 100.0, 100.0),
        Stack(("kernel", "audit", "kernel/auditsc.c", name), 0.0, 50.0),
        Stack(("kernel", "mm", "mm/slub.c", "old"), 20.0, 0.0),
    )
    lines = (
        Line("kernel/auditsc.c", 7, "\tif (found)"),
        Line("kernel/auditsc.c", 8, f"    return {name};", 0.0, 30.0, 0.0, 40.0),
        Line("kernel/auditsc.c", 90, "<b>bold</b>", 0.0, 20.0, 0.0, 20.0),
    )
    (one,) = flamed(name).profiles
    return replace(
        flamed(name), profiles=(replace(one, places=places, source=Source(name, lines)),)
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
    (program,) = graph.root.below
    (enter,) = program.below
    assert [(one.name, one.share, one.change) for one in enter.below] == [
        ("audit_filter_syscall", "29.41", "new"),
        ("old", "11.76", "gone"),
    ]
    assert (enter.grown, enter.shrunk) == ("29.41", "11.76")


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
    programs, kernel = by_place.root.below
    assert [one.name for one in kernel.below] == ["audit", "mm"]
    assert kernel.below[0].below[0].name == "kernel/auditsc.c"
    assert programs.moved == ""


def test_a_listing_stays_text() -> None:
    html = to_html(placed(HOSTILE))
    assert "&lt;b&gt;bold&lt;/b&gt;" in html
    assert "<b>bold" not in html
    assert not _Seen(html).actions
