"""What to give up for a budget, in words."""

from __future__ import annotations

import pytest

from hardcost.analysis.advised import Abandoned, Choice, Costs
from hardcost.report.sentences.choicewords import choice_sentences, given_up_lines


def chosen(ids: tuple[str, ...] = (), proposals: int = 0, put_back: int = 0) -> Choice:
    """Return a choice that gives up two of three controls."""
    given_up = tuple(
        Abandoned(name, ids, "medium", 5.0, "open", "insn/op", 500.0, 40.0, 39.0, 41.0)
        for name in ("one", "two")
    )
    return Choice(
        profile="mine",
        controls=3,
        given_up=given_up,
        before=(Costs("open", "insn/op", 500.0, 90.0, 50.0),),
        after=(Costs("open", "insn/op", 500.0, 10.0, 50.0),),
        value=0.5,
        worth="1 for each",
        found=True,
        proposals=proposals,
        put_back=put_back,
        error=0.0,
        budget=0.1,
    )


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "[+40 instructions per operation on open; medium]"), (2, "medium; id0, id1]")],
)
def test_few_ids_of_a_control_are_all_named(number: int, words: str) -> None:
    assert words in given_up_lines(chosen(tuple(f"id{at}" for at in range(number))))[0]


def test_of_many_ids_the_first_two_are_named_and_the_rest_counted() -> None:
    lines = given_up_lines(chosen(tuple(f"id{at}" for at in range(20))))
    assert lines[0].endswith("medium; id0, id1 and 18 more ids]")


def test_how_many_choices_had_to_be_measured_is_said_where_there_were_any() -> None:
    assert "1 more choice had to be measured to find it" in choice_sentences(chosen(proposals=1))[1]
    assert "After the bill" not in choice_sentences(chosen())[1]


def test_how_many_were_measured_back_in_is_said() -> None:
    assert choice_sentences(chosen(put_back=1))[2].startswith("1 of them was measured back in")
    assert choice_sentences(chosen(put_back=2))[2].startswith("Each was measured back in")
