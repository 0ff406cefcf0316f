from __future__ import annotations

from hardcost.model.accounts import Accounted
from hardcost.show.tables.accounting import accounting_line, kinds_grid, rules_grids

RULES = (
    Accounted("a", "Audit.", "high", ("CCE-1-1", "SRG-OS-1"), "priced", "audit", "", ("-w /a",)),
    Accounted("b", "B", "low", (), "no-run-time-cost", "banners", "it is text"),
    Accounted("c", "C", "low", (), "no-run-time-cost", "banners", "it is text"),
    Accounted("d", "D", "medium", (), "not-priced", "unknown kind", "not known"),
    Accounted("e", "\x1b<b>", "medium", (), "free", "sysctl", "so", ("k=1",)),
)


def test_the_sentence_has_numbers_that_add_up() -> None:
    assert accounting_line(RULES) == (
        "The benchmark's profile has 5 rules: 1 priced, 1 measured and not distinguishable from 0,"
        " 2 without a run-time cost, 1 not priced."
    )


def test_kinds_come_by_outcome_with_their_reason() -> None:
    grid = kinds_grid(RULES)
    assert [column.cells for column in grid.labels] == [
        ("1", "1", "2", "1"),
        ("priced", "measured, not distinguishable from 0", "no run-time cost", "not priced"),
    ]
    assert [(one.name, one.more) for one in grid.texts] == [
        ("audit", ""),
        ("sysctl", "so"),
        ("banners", "it is text"),
        ("unknown kind", "not known"),
    ]


def test_each_rule_has_one_row_with_its_names_and_what_carries_it_out() -> None:
    grids = rules_grids(RULES)
    assert [grid.title for grid in grids] == [
        "Rules: priced (1)",
        "Rules: measured, not distinguishable from 0 (1)",
        "Rules: no run-time cost (2)",
        "Rules: not priced (1)",
    ]
    names = [row.name for grid in grids for row in grid.texts]
    assert sorted(names) == ["a", "b", "c", "d", "e"]
    first = grids[0].texts[0]
    assert (first.place, first.more) == ("CCE-1-1", "Audit. carried out by -w /a")


def test_a_hostile_title_is_shown_escaped() -> None:
    row = rules_grids(RULES)[1].texts[0]
    assert "\x1b" not in row.more
    assert "\\x1b<b>" in row.more
