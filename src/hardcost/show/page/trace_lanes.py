"""A trace as lanes for the page: one for each process, with what it ran and who woke it.

It is laid out here and drawn as SVG without text, so that it fits any width; labels are HTML beside
it. Who can't see it has the tables below, which say the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hardcost.model.finding.trace import Traced, Traces
from hardcost.show.sentences.trace import LONGEST, process_purpose, title_of
from hardcost.show.text import number, percent, shorten
from hardcost.units import count, join_in_prose, visible

LANES_GUIDE = (
    "Each lane is a process, from left to right in instructions. Filled: it runs. Framed: it could "
    "run, and waits for the processor. Empty: it sleeps. A dashed line leads from who wakes a "
    "process to the moment at which that could run."
)
"""How to read the lanes."""

WIDTH, HEIGHT = 1000, 30
"""What a trace's length and a lane's height are in the drawing."""

_TOP, _BOTTOM = 14, 28  # of a lane's boxes
_MOST_LANES = 14
_MOST_WAKES = 80  # lines between lanes; where there are more, none is drawn
_LEAST = 1.2  # the width of the narrowest box
_NEAR = 0.7  # what is nearer than that to the box before is part of it
_SCALE = 4  # parts of the scale


@dataclass(frozen=True)
class Box:
    """From where to where a process ran, or could have run."""

    x: float
    width: float
    words: str


@dataclass(frozen=True)
class Lane:
    """A process: what it is called and had, and its boxes; `top` is where they begin."""

    name: str
    about: str
    top: int
    runs: tuple[Box, ...]
    ready: tuple[Box, ...]


@dataclass(frozen=True)
class WakeUp:
    """Who wakes whom: from one lane to another, at one moment."""

    x: float
    begin: int
    end: int


@dataclass(frozen=True)
class Lanes:
    """A drawing, its words, and its scale as (per cent of the width, instructions)."""

    name: str
    title: str
    words: str
    height: int
    lanes: tuple[Lane, ...]
    lines: tuple[WakeUp, ...]
    scale: tuple[tuple[int, str], ...]
    note: str = ""


def drawings(finding: Traces) -> Iterator[Lanes]:
    """Yield the lanes of each trace."""
    for number_, one in enumerate(finding.traces, 1):
        yield lanes(one, f"lanes-{number_}")


def lanes(one: Traced, name: str) -> Lanes:
    """Return a trace as lanes, in the order in which the processes run first."""
    most = {share.process for share in one.shares()[:_MOST_LANES]}
    first = dict.fromkeys(piece.process for piece in one.pieces)
    shown = [process for process in first if one.processes[process] in most][:_MOST_LANES]
    places = {process: at for at, process in enumerate(shown)}
    lines = tuple(_lines(one, places))
    shares = [f"{share.process} {number(share.ran)}" for share in one.shares()[:_MOST_LANES]]
    hidden = len(first) - len(shown)
    notes = (
        [f"{count(hidden, 'process', 'processes')} that ran least: see the table"] if hidden else []
    )
    if len(lines) > _MOST_WAKES:
        notes.append(f"{len(lines):,} wake-ups are not drawn")
    return Lanes(
        name=name,
        title=title_of(one),
        words=f"Who runs when, in {number(one.length)} instructions:"
        f" {visible(join_in_prose(shares))}",
        height=len(shown) * HEIGHT,
        lanes=tuple(_lane(one, process, at) for process, at in places.items()),
        lines=lines if len(lines) <= _MOST_WAKES else (),
        scale=tuple(
            (100 * part // _SCALE, number(one.length * part // _SCALE))
            for part in range(_SCALE + 1)
        ),
        note="; ".join(notes),
    )


def _lane(one: Traced, process: int, at: int) -> Lane:
    mine = [piece for piece in one.pieces if piece.process == process]
    ran = sum(piece.instructions for piece in mine)
    name = one.processes[process]
    known = process_purpose(name)
    said = f"{number(ran)} insn, {percent(ran / max(one.length, 1))}"
    waits = []
    last = None
    for piece in mine:
        if piece.woken is not None:
            waits.append((max(piece.woken, last.end if last else 0), piece.begin, ""))
        elif last is not None and last.stopped is None:
            waits.append((last.end, piece.begin, ""))
        last = piece
    if last is not None and last.stopped is None:
        waits.append((last.end, one.length, ""))
    runs = ((it.begin, it.end, f"{it.does}: {number(it.instructions)} insn") for it in mine)
    return Lane(
        name=shorten(visible(name), LONGEST),
        about=said if known is None else f"{said}; {known}",
        top=at * HEIGHT + _TOP,
        runs=tuple(_boxes(runs, one.length)),
        ready=tuple(_boxes(waits, one.length)),
    )


def _boxes(spans: Iterable[tuple[int, int, str]], length: int) -> Iterator[Box]:
    """Yield boxes; those that no reader could distinguish are one."""
    scale = WIDTH / max(length, 1)
    begin, end, words = 0.0, -1.0, ""
    for from_, to, said in spans:
        if to <= from_:
            continue
        x = from_ * scale
        if end < 0 or x - end > _NEAR:
            if end >= 0:
                yield _box(begin, end, words)
            begin, words = x, visible(said)
        elif visible(said) != words:
            words = f"{words.partition(' …')[0]} …"
        end = to * scale
    if end >= 0:
        yield _box(begin, end, words)


def _box(begin: float, end: float, words: str) -> Box:
    width = max(end - begin, _LEAST)
    return Box(round(min(begin, WIDTH - width), 2), round(width, 2), words)


def _lines(one: Traced, places: dict[int, int]) -> Iterator[WakeUp]:
    """Yield a line for each wake-up of a process that had slept, by another."""
    for piece in one.pieces:
        by = piece.woken_by
        if piece.woken is None or by not in places or piece.process not in places:
            continue
        middle = (_TOP + _BOTTOM) // 2
        begin, end = (places[it] * HEIGHT + middle for it in (by, piece.process))
        if begin != end:
            yield WakeUp(round(piece.woken * WIDTH / max(one.length, 1), 2), begin, end)
