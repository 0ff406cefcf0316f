"""Flame graphs for the page: frames with their place and their words, laid out here, drawn by CSS.

A list within a list for each frame needs no script to be seen, read aloud or printed. The page's
script zooms, searches and moves the focus.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from hardcost.analysis.flame import flame
from hardcost.report.page.script import script_of
from hardcost.report.sentences.profile_answer import digits_of, named
from hardcost.report.text import number, percent, signed, visible
from hardcost.units import count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hardcost.analysis.finding import Finding, Profiled
    from hardcost.analysis.flame import Flame
    from hardcost.report.page.script import Script

FLAMES_GUIDE = (
    "Each frame is a function, below the one that calls it, and as wide as the instructions that "
    "it executes with all that it calls. The second graph of a metric has the same instructions by "
    "place: subsystem of the kernel, file of its source, function. What is added is coloured, and "
    "so is what is taken away; both have their share of the width. Select a frame to enlarge it, "
    "with the mouse or with the arrow keys and Enter; Escape shows all."
)
"""How to read a flame graph."""

_LEAST = 0.001
"""The share of a graph's width below which frames are merged: one pixel of a wide window."""


@dataclass(frozen=True)
class Frame:
    """A frame as it is drawn: `share` is its width in per cent of the frame that calls it.

    `grown` and `shrunk` are how much of its own width, in per cent, the change added and took away.
    `change` is `new`, `gone` or nothing; `moved` is what is written behind the name; `words` say it
    all. `before` and `after` are instructions, for the script's sums.
    """

    name: str
    share: str
    grown: str
    shrunk: str
    change: str
    moved: str
    words: str
    before: float
    after: float
    below: tuple[Frame, ...]


@dataclass(frozen=True)
class Graph:
    """A flame graph, or one of subsystems; `before` and `after` are the names of the two sides.

    `below` says what stands below what.
    """

    name: str
    title: str
    below: str
    root: Frame
    before: str
    after: str


@cache
def flame_script() -> Script:
    """Return the script that a page with flame graphs has."""
    return script_of((resources.files("hardcost.report.page") / "flames.js").read_text("utf-8"))


def graphs(finding: Finding) -> Iterator[Graph]:
    """Yield a differential flame graph for each metric that was profiled, and one by subsystem."""
    for nth, one in enumerate(finding.profiles, 1):
        for name, what, below, stacks in (
            ("flames", "", "functions, each below the one that calls it", one.stacks),
            (
                "subsystems",
                "by subsystem, ",
                "functions below their file and subsystem",
                one.places,
            ),
        ):
            whole = flame(stacks, one.metric, least=_LEAST)
            if whole.width > 0:
                of = f"{visible(one.after)}, " if finding.levels else ""
                yield Graph(
                    name=f"{name}-{nth}",
                    title=f"{of}{what}{_title(one)}",
                    below=below,
                    root=_Drawn(one).frame(whole, whole.width),
                    before=visible(one.before),
                    after=visible(one.after),
                )


def _title(one: Profiled) -> str:
    digits, unit = digits_of(one), visible(one.unit)
    moved = f"{signed(one.cost, digits)} {unit}" if one.cost else "no difference"
    sides = f"{number(one.value, digits)} → {number(one.value + one.cost, digits)}"
    return f"{visible(one.metric)}: {moved} ({sides})"


class _Drawn:
    """What all frames of a graph have in common."""

    def __init__(self, one: Profiled) -> None:
        self._one = one
        self._digits = digits_of(one)

    def frame(self, it: Flame, above: float) -> Frame:
        """Return a frame below one that is `above` wide."""
        name = count(it.merged, "smaller frame") if it.merged else named(it.name)
        change = self._change(it)
        moved = it.after - it.before
        shown = signed(moved, self._digits)
        return Frame(
            name=name,
            share=_per_cent(it.width, above),
            grown=_per_cent(it.grown, it.width),
            shrunk=_per_cent(it.shrunk, it.width),
            change=change,
            moved=" ".join(filter(None, (shown if moved else "", change))),
            words=self._words(name, it, change),
            before=it.before,
            after=it.after,
            below=tuple(self.frame(child, it.width) for child in it.children if child.width > 0),
        )

    def _change(self, it: Flame) -> str:
        if not it.before:
            return "new"
        return "" if it.after else "gone"

    def _words(self, name: str, it: Flame, change: str) -> str:
        one, digits = self._one, self._digits
        moved = it.after - it.before
        more = f"{signed(moved, digits)} {visible(one.unit)}" if moved else "no difference"
        share = f", {percent(moved / one.cost)} of the whole difference" if one.cost else ""
        sides = (
            f"{number(it.before, digits)} under {visible(one.before)},"
            f" {number(it.after, digits)} under {visible(one.after)}"
        )
        return f"{name}: {more}{share if moved else ''}; {sides}{f'; {change}' if change else ''}"


def _per_cent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.4g}" if whole > 0 else "0"
