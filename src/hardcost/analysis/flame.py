"""Stacks as a tree: what each function executed under its callers, before a change and after it.

A differential flame graph is drawn from it. A frame is as wide as what both sides have in common,
what the change added and what it took away, so frames that are new or gone are as visible as any.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.analysis.finding import Stack

Path = tuple[str, ...]

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
        """What is common to both sides, and what either has beside that."""
        return self.before + self.grown

    @property
    def frames(self) -> int:
        """How many frames there are from here on."""
        return self.merged or 1 + sum(child.frames for child in self.children)


def flame(stacks: Sequence[Stack], name: str = "all", *, least: float = 0.0) -> Flame:
    """Return the tree of stacks, whose root is `name`; of a function's callees the widest is first.

    Callees narrower than the share `least` of the whole are merged into one.
    """
    paths = [(one.functions[:DEEPEST], one.before, one.after) for one in stacks]
    root = _tree(name, paths)
    return _merged(root, least * root.width)


def _tree(name: str, stacks: Sequence[tuple[Path, float, float]]) -> Flame:
    below: dict[str, list[tuple[Path, float, float]]] = defaultdict(list)
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


def _merged(one: Flame, least: float) -> Flame:
    wide = tuple(_merged(child, least) for child in one.children if child.width >= least)
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
