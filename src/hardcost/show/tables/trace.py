"""A trace on a terminal: who ran how long, and in which order, woken by whom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from rich.console import ConsoleRenderable

from hardcost.model.finding.trace import Piece, Traced, Traces
from hardcost.model.role import Baseline
from hardcost.show.sentences.hotspots import function_name
from hardcost.show.sentences.trace import LONGEST, name_of, process_purpose, title_of, trace_answer
from hardcost.show.tables.layout import (
    Column,
    ColumnGroup,
    Grid,
    GridText,
    Layout,
    Terms,
    TextLines,
)
from hardcost.show.tables.run import conditions_line, instrument_and_machine, note_lines
from hardcost.show.text import number, percent, shorten
from hardcost.units import count, visible

_TOP = 12  # processes
_ROWS = 24  # of the order, unless all are wanted
_LONGEST_ROUND = 6  # pieces of a round that repeats
TRACE_TERMS = (
    ("insn", "instructions that the process executes, in the kernel too"),
    ("ready", "instructions of other processes while it could run and waits for the processor"),
    ("asleep", "instructions of other processes while it waits to be woken, or has nothing to do"),
    ("begins", "instructions since the trace began"),
)


@dataclass(frozen=True)
class PieceGroup:
    """Pieces that are shown as one: `rounds` like this follow each other, with others between."""

    piece: Piece
    instructions: int
    rounds: int


def trace_table(finding: Traces, *, whole: bool = False) -> ConsoleRenderable:
    """Return a trace for a terminal: of the order as much as fits a screen, or the `whole`."""
    parts: list[ConsoleRenderable] = [TextLines(trace_answer(finding).sentences)]
    parts.append(
        TextLines(
            (
                f"{visible(finding.title)}; {instrument_and_machine(finding)}",
                *conditions_line(finding),
            )
        )
    )
    for one in shown_traces(finding):
        parts += [GridText(share_grid(one)), GridText(order_grid(one, whole=whole))]
        parts.append(TextLines((sum_line(one),)))
    if finding.notes:
        parts.append(TextLines(tuple(note_lines(finding))))
    parts.append(Terms(trace_terms(finding)))
    return Layout(tuple(parts))


def shown_traces(finding: Traces) -> list[Traced]:
    """Return the traces that are shown: of two that are compared, the one with the profile."""
    return [one for one in finding.traces if one.configuration != Baseline()] or [*finding.traces]


def trace_terms(finding: Traces) -> tuple[tuple[str, str], ...]:
    """Return the meanings of words and known processes of a trace."""
    names = dict.fromkeys(share.process for one in shown_traces(finding) for share in one.shares())
    known = [(name, process_purpose(name)) for name in names]
    lives = {what: name for name, what in reversed(known) if what is not None}
    return (*TRACE_TERMS, *((name, what) for what, name in reversed(lives.items())))


def share_grid(one: Traced) -> Grid:
    """Return each process's share of a trace; the instructions add up to its length."""
    shares = one.shares()
    top, rest = shares[:_TOP], shares[_TOP:]
    rows = [(function_name(it.process), it.ran, number(it.ready), number(it.slept)) for it in top]
    if rest:
        ran = sum(share.ran for share in rest)
        rows.append((count(len(rest), "other process", "other processes"), ran, "", ""))
    rows.append(("all", one.length, "", ""))
    names, ran_by, ready, slept = zip(*rows, strict=True)
    return Grid(
        title=f"{title_of(one)}, by process",
        labels=(Column("process", names, left=True),),
        groups=(
            ColumnGroup("", (Column("insn", tuple(map(number, ran_by))),)),
            ColumnGroup(
                "", (Column("share", tuple(percent(it / max(one.length, 1)) for it in ran_by)),)
            ),
            ColumnGroup("", (Column("ready", ready), Column("asleep", slept))),
        ),
        lines=frozenset({len(names) - 1}),
    )


def order_grid(one: Traced, *, whole: bool = False) -> Grid:
    """Return who ran after whom; pieces that repeat are one row, unless the `whole` is wanted."""
    single = (PieceGroup(it, it.instructions, 1) for it in one.pieces)
    rows = list(single if whole else islice(merge_rounds(one.pieces), _ROWS))
    cells = [_cells(one, row) for row in rows]
    begins, names, instructions, rounds, doing, woken, then = (
        zip(*cells, strict=True) if cells else ((),) * 7
    )
    left = len(one.pieces) - sum(row.rounds for row in rows)
    rest = number(one.length - sum(row.instructions for row in rows))
    return Grid(
        title="In order",
        labels=(Column("begins", begins), Column("process", names, left=True)),
        groups=(
            ColumnGroup("", (Column("insn", instructions), Column("times", rounds))),
            ColumnGroup("", (Column("does", doing, left=True),)),
            ColumnGroup("", (Column("woken by", woken, left=True),)),
            ColumnGroup("", (Column("then", then, left=True),)),
        ),
        notes=(f"{count(left, 'further piece')}, of {rest} insn: --all",) if left else (),
    )


def sum_line(one: Traced) -> str:
    """Return how a trace lies in the window that the instrument counted."""
    parts = [f"{number(one.length)} in the trace"]
    if one.before or one.after:
        parts += [f"{number(one.before)} before it", f"{number(one.after)} after it"]
    if one.idle:
        parts.append(f"{number(one.idle)} while the processor stood still")
    counted = f"The instrument counted {number(one.ticks)} instructions in the window"
    return f"{counted}: {', '.join(parts)}." if len(parts) > 1 else f"{counted}, as the trace has."


def merge_rounds(pieces: Sequence[Piece]) -> Iterator[PieceGroup]:
    """Yield pieces as rows; those of rounds that repeat, one after another, are one row each."""
    at = 0
    while at < len(pieces):
        length, rounds = _rounds(pieces, at)
        for offset in range(length):
            same = pieces[at + offset : at + length * rounds : length]
            yield PieceGroup(same[0], sum(piece.instructions for piece in same), rounds)
        at += length * rounds


def _rounds(pieces: Sequence[Piece], at: int) -> tuple[int, int]:
    """Return the length of the rounds that begin there, and how many there are, at most pieces."""
    best = (1, 1)
    for length in range(1, _LONGEST_ROUND + 1):
        first = [_alike(piece) for piece in pieces[at : at + length]]
        rounds = 1
        while [
            _alike(piece) for piece in pieces[at + length * rounds : at + length * (rounds + 1)]
        ] == first and len(first) == length:
            rounds += 1
        if rounds > 1 and length * rounds > best[0] * best[1]:
            best = (length, rounds)
    return best


def _alike(piece: Piece) -> tuple[object, ...]:
    """Return the key that pieces shown as one have in common."""
    deeds = tuple(deed.what for deed in piece.deeds)
    return (
        piece.process,
        frozenset(piece.doing),
        piece.woken_by,
        piece.woken is None,
        piece.stopped,
        deeds,
    )


def _cells(one: Traced, row: PieceGroup) -> tuple[str, ...]:
    piece = row.piece
    deeds = list(dict.fromkeys(deed.what for deed in piece.deeds))
    doing = shorten(visible(", ".join([*piece.doing, *deeds])), LONGEST)
    woken = "" if piece.woken is None else function_name(name_of(one, piece.woken_by))
    return (
        number(piece.begin),
        function_name(one.processes[piece.process]),
        number(row.instructions),
        f"x{row.rounds}" if row.rounds > 1 else "",
        doing,
        woken,
        "sleeps" if piece.stopped else "",
    )
