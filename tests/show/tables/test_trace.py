"""Pieces that repeat are one row; nothing is lost by that."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hardcost.model.finding.trace import Piece
from hardcost.show.tables.trace import merge_rounds


@given(st.lists(st.integers(0, 2), max_size=40))
def test_rows_hold_every_instruction_in_the_order_of_their_first_pieces(names: list[int]) -> None:
    pieces = [Piece(name, 10 * at, 10 * at + 10, ("work",)) for at, name in enumerate(names)]
    rows = list(merge_rounds(pieces))
    assert sum(row.instructions for row in rows) == 10 * len(names)
    assert sum(row.rounds for row in rows) == len(names)
    begins = [row.piece.begin for row in rows]
    assert begins == sorted(begins)


def test_rounds_become_a_row_for_each_of_their_pieces() -> None:
    pieces = [Piece(at % 3, 10 * at, 10 * at + 10, ("work",)) for at in range(15)]
    rows = list(merge_rounds([*pieces, Piece(0, 150, 160, ("work",))]))
    assert [(row.piece.process, row.rounds) for row in rows] == [(0, 5), (1, 5), (2, 5), (0, 1)]
    assert len(list(merge_rounds(pieces[:3]))) == 3
