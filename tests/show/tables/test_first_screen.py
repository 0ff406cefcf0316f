from __future__ import annotations

from hardcost.show.sentences.statement import Ranked, Statement
from hardcost.show.tables.first_screen import first_screen
from hardcost.show.tables.layout import Layout, render

RULES = ("-w /etc/a -k a", "-w /etc/b -k b", "-w /etc/c -k c", "-w /etc/d -k d")


def lines(said: Statement) -> list[str]:
    return [line for line in render(Layout(tuple(first_screen(said))), 200).splitlines() if line]


def answer(dear: int, free: int) -> Statement:
    return Statement(
        ("It costs.",),
        "The most expensive controls",
        tuple(
            Ranked(rule, f"+{10 - at} instructions on open", 1.0) for at, rule in enumerate(RULES)
        )[:dear],
        "Free",
        tuple(enumerate(RULES))[:free],
        "The others cost little.",
    )


def test_the_most_expensive_controls_are_named_with_their_costs() -> None:
    assert lines(answer(4, 0)) == [
        "It costs.",
        "The most expensive controls:",
        "+10 instructions on open  -w /etc/a -k a",
        " +9 instructions on open  -w /etc/b -k b",
        " +8 instructions on open  -w /etc/c -k c",
        " +7 instructions on open  -w /etc/d -k d",
        "The others cost little.",
    ]


def test_ten_free_controls_are_named_and_the_others_counted() -> None:
    assert lines(answer(1, 4))[-1] == f"Free: {'; '.join(RULES[:4])}"
    many = tuple((number, f"-w /etc/{number}") for number in range(12))
    said = Statement(("It costs.",), "Most", (Ranked("x", "+1", 1.0),), "Free", many)
    assert lines(said)[-1].endswith("-w /etc/9; and 2 more")
    assert lines(answer(1, 1))[-1] == f"Free: {RULES[0]}"


def test_where_nothing_costs_anything_the_sentence_says_it_all() -> None:
    assert lines(answer(0, 4)) == ["It costs."]


def test_a_long_name_is_cut() -> None:
    long = "-w /" + "x" * 200
    said = Statement(("It costs.",), "Most", (Ranked(long, "+1", 1.0),), "Free", ((1, long),))
    shown = lines(said)
    assert shown[-2] == f"+1  {long[:75]}..."
    assert shown[-1] == f"Free: {long[:39]}..."
