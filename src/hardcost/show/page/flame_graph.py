"""Flame graphs for the page: frames with position and text, laid out here, drawn by CSS.

A frame is as wide as what both sides have in common, what the change added and what it took away,
so frames that are new or gone are as visible as any.

A list within a list for each frame needs no script to be seen, read aloud or printed. The page's
script zooms, searches and moves the focus.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

from hardcost.model.call_tree import FramePath
from hardcost.model.finding.calls import Calls, Hotspots, Stack
from hardcost.model.finding.study import StudyFinding
from hardcost.show.page.script import Script, script_of
from hardcost.show.sentences.hotspots import digits_of, function_name
from hardcost.show.text import number, percent, signed_number
from hardcost.units import count, visible

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

DEEPEST = 200
"""Most frames, one above another; what is deeper counts for the last of them."""


@dataclass(frozen=True)
class Flame:
    """A function under its callers, in instructions for one operation, with all that it calls.

    `grown` adds up by how much functions below it, and itself, execute more, `shrunk` by how much
    others execute less: `before + grown - shrunk == after`. `merged` is how many frames this one
    stands for, if they were too small to be shown; else 0.
    """

    name: str
    before: float
    after: float
    grown: float
    shrunk: float
    children: tuple[Flame, ...] = ()
    merged: int = 0

    @property
    def width(self) -> float:
        """Its width: the part common to both sides, and what either has beyond it."""
        return self.before + self.grown

    @property
    def change(self) -> str:
        """Whether it is `new` or `gone`; "" of what both sides have."""
        if not self.before:
            return "new"
        return "" if self.after else "gone"

    @property
    def shown(self) -> tuple[Flame, ...]:
        """The boxes that are drawn below it."""
        return tuple(child for child in self.children if child.width > 0)

    @property
    def frames(self) -> int:
        """How many frames there are from here on."""
        return self.merged or 1 + sum(child.frames for child in self.children)


@dataclass(frozen=True)
class Graph:
    """A flame graph, or one of subsystems, of a metric; `below` says what stands below what."""

    name: str
    title: str
    below: str
    root: Flame
    of: Hotspots
    digits: int

    @property
    def before(self) -> str:
        """The name of the side without the change."""
        return visible(self.of.before)

    @property
    def after(self) -> str:
        """The name of the side with the change."""
        return visible(self.of.after)

    def label(self, it: Flame) -> str:
        """Return the name of a frame as it is shown."""
        return count(it.merged, "smaller frame") if it.merged else function_name(it.name)

    def share(self, part: float, whole: float) -> str:
        """Return a width in per cent of another."""
        return f"{100 * part / whole:.4g}" if whole > 0 else "0"

    def moved(self, it: Flame) -> str:
        """Return the difference that is written after a frame's name."""
        moved = it.after - it.before
        shown = signed_number(moved, self.digits) if moved else ""
        return " ".join(filter(None, (shown, it.change)))

    def words(self, it: Flame) -> str:
        """Return all that is known of a frame, in words."""
        one, digits = self.of, self.digits
        moved = it.after - it.before
        more = f"{signed_number(moved, digits)} {visible(one.unit)}" if moved else "no difference"
        share = f", {percent(moved / one.cost)} of the whole difference" if one.cost else ""
        sides = (
            f"{number(it.before, digits)} under {self.before},"
            f" {number(it.after, digits)} under {self.after}"
        )
        change = f"; {it.change}" if it.change else ""
        return f"{self.label(it)}: {more}{share if moved else ''}; {sides}{change}"


@cache
def flame_script() -> Script:
    """Return the script that a page with flame graphs has."""
    return script_of((resources.files("hardcost.show.page") / "flames.js").read_text("utf-8"))


def graphs(finding: StudyFinding | Calls) -> Iterator[Graph]:
    """Yield a differential flame graph for each metric with hotspots, and one by subsystem."""
    for nth, one in enumerate(finding.hotspots, 1):
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
                of = f"{visible(one.after)}, " if isinstance(finding, StudyFinding) else ""
                yield Graph(
                    name=f"{name}-{nth}",
                    title=f"{of}{what}{_title(one)}",
                    below=below,
                    root=whole,
                    of=one,
                    digits=digits_of(one),
                )


def _title(one: Hotspots) -> str:
    digits, unit = digits_of(one), visible(one.unit)
    moved = f"{signed_number(one.cost, digits)} {unit}" if one.cost else "no difference"
    sides = f"{number(one.value, digits)} → {number(one.value + one.cost, digits)}"
    return f"{visible(one.metric)}: {moved} ({sides})"


def flame(stacks: Sequence[Stack], name: str = "all", *, least: float = 0.0) -> Flame:
    """Return the tree of stacks, whose root is `name`; of a function's callees the widest is first.

    Callees narrower than the share `least` of the whole are merged into one.
    """
    paths = [(one.functions[:DEEPEST], one.before, one.after) for one in stacks]
    root = _tree(name, paths)
    return _merge_narrow(root, least * root.width)


def _tree(name: str, stacks: Sequence[tuple[FramePath, float, float]]) -> Flame:
    below: dict[str, list[tuple[FramePath, float, float]]] = defaultdict(list)
    before = after = 0.0
    for path, one, other in stacks:
        if path:
            below[path[0]].append((path[1:], one, other))
        else:
            before += one
            after += other
    children = [_tree(function, paths) for function, paths in below.items()]
    children.sort(key=lambda child: (-child.width, child.name))
    own = Flame(name, before, after, max(0.0, after - before), max(0.0, before - after))
    return replace(_sum(own, *children), name=name, children=tuple(children))


def _merge_narrow(one: Flame, least: float) -> Flame:
    wide = tuple(_merge_narrow(child, least) for child in one.children if child.width >= least)
    small = [child for child in one.children if child.width < least]
    if small:
        wide += (replace(_sum(*small), merged=sum(child.frames for child in small)),)
    return replace(one, children=wide)


def _sum(*frames: Flame) -> Flame:
    return Flame(
        name="",
        before=math.fsum(one.before for one in frames),
        after=math.fsum(one.after for one in frames),
        grown=math.fsum(one.grown for one in frames),
        shrunk=math.fsum(one.shrunk for one in frames),
    )
