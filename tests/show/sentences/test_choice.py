"""What to give up for a budget, in words."""

from __future__ import annotations

import dataclasses

import pytest

from hardcost.model.finding.choice import Abandoned, Choice, Costs, Offer, Unkeepable
from hardcost.model.workload import MetricId
from hardcost.show.sentences.choice import choice_sentences, given_up_lines, kept_lines


def chosen(ids: tuple[str, ...] = (), proposals: int = 0, put_back: int = 0) -> Choice:
    """Return a choice that gives up two of three controls."""
    given_up = tuple(
        Abandoned(name, ids, "medium", 5.0, MetricId("open"), "insn/op", 500.0, 40.0, 39.0, 41.0)
        for name in ("one", "two")
    )
    return Choice(
        profile="mine",
        controls=3,
        given_up=given_up,
        before=(Costs(MetricId("open"), "insn/op", 500.0, 90.0, 50.0),),
        after=(Costs(MetricId("open"), "insn/op", 500.0, 10.0, 50.0),),
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


def test_what_was_measured_back_in_is_said() -> None:
    one, both = (choice_sentences(chosen(put_back=number))[1] for number in (1, 2))
    assert one.endswith("; adding any of 1 of them back would exceed that.")
    assert both.endswith("; adding any of them back would exceed that.")
    assert "back" not in choice_sentences(chosen())[1]


def test_worth_is_said_where_controls_are_not_worth_the_same() -> None:
    same = dataclasses.replace(chosen(), value=1 / 3)
    assert "worth" not in choice_sentences(same)[0]
    other = dataclasses.replace(chosen(), value=0.5)
    assert choice_sentences(other)[0].endswith("; 50.0% of what the controls are worth is kept.")


def test_what_is_kept_is_listed_where_it_is_little() -> None:
    assert kept_lines(chosen(), ("one", "two", "three")) == ["  keep     three"]
    assert kept_lines(chosen(), ("one", *map(str, range(30)))) == []


def test_what_all_rules_together_save_beside_their_costs_is_said_in_a_sentence() -> None:
    fixed = (
        Costs(MetricId("open"), "insn/op", 500.0, 400.0),
        Costs(MetricId("null"), "insn/op", 500.0, 300.0),
    )
    price = "the price of having any audit rule (+400 instructions per operation, 80.0% of open)"
    paid = dataclasses.replace(chosen(), fixed=fixed)
    some = dataclasses.replace(paid, rules=("one", "two", "three"))
    assert choice_sentences(some)[-1] == (
        "The price of having any audit rule at all is +400 instructions per operation, 80.0% of"
        " open; only giving up all 3 rules would save that."
    )
    every = dataclasses.replace(paid, rules=("one", "two"))
    assert choice_sentences(every)[-1] == (
        f"As all 2 rules are given up, {price} is saved as well."
    )
    only = dataclasses.replace(paid, rules=("one",))
    assert choice_sentences(only)[-1] == (f"What giving up the only rule saves contains {price}.")
    assert choice_sentences(dataclasses.replace(some, fixed=()))[-1].startswith("That was measured")


def impossible(kind: str = "audit rule") -> Choice:
    """Return a choice where no rule fits, but another control does."""
    offers = tuple(
        Offer(
            None,
            {"open": share},
            kept,
            (Costs(MetricId("open"), "insn/op", 500.0, cost),),
            measured=True,
        )
        for share, kept, cost in (
            (0.287, ("one", "three"), 143.0),
            (0.3, ("one", "two", "three"), 148.0),
        )
    )
    return dataclasses.replace(
        chosen(),
        after=(Costs(MetricId("open"), "insn/op", 500.0, 0.0, 25.0),),
        budget=None,
        budgets={"open": 0.05},
        unkeepable=Unkeepable(kind, ("one", "two"), offers),
    )


def test_where_no_rule_fits_the_least_budget_and_what_a_round_one_keeps_are_said() -> None:
    assert choice_sentences(impossible()) == [
        (
            "No audit rule can be kept within 5.0% on open: the least budget that keeps one is"
            " 28.7% on open."
        ),
        "Within 5.0% on open, 1 of 3 controls can be kept: 0.0% on open (measured).",
        "Within 28.7% on open, 2 of 3 controls can be kept: +28.6% on open (measured).",
        "Within 30.0% on open, 3 of 3 controls can be kept: +29.6% on open (measured).",
    ]


def test_what_cannot_be_kept_is_not_given_up_by_choice() -> None:
    assert given_up_lines(impossible()) == []
    assert kept_lines(impossible(), ()) == ["  keep  one", "  keep  two", "  keep  three"]


def test_what_has_to_be_kept_has_a_least_budget() -> None:
    assert choice_sentences(impossible("required control"))[0] == (
        "Not within 5.0% on open: the least budget that keeps what has to be kept is 28.7% on open."
    )


def test_what_saves_nothing_by_itself_is_said_to() -> None:
    free = dataclasses.replace(chosen().given_up[0], cost=0.0, low=-1.0, high=1.0)
    lines = given_up_lines(dataclasses.replace(chosen(), given_up=(free,)))
    assert "[saves nothing by itself on open; medium]" in lines[0]
