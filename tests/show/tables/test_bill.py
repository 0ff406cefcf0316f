from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import pytest

from hardcost.errors import InputError
from hardcost.model.finding.bill import Bill, Least
from hardcost.model.finding.study import StudyFinding
from hardcost.model.role import role_of
from hardcost.model.workload import MetricId
from hardcost.show.bill_rows import bill_size
from hardcost.show.tables.bill import bill_grids, bill_table, matrix_grid
from hardcost.show.tables.first_screen import bill_screen
from hardcost.show.tables.layout import Column, Grid, render
from hardcost.show.text import number


def value(cell: str) -> Decimal:
    return Decimal(cell.replace(",", ""))


def columns(grid: Grid) -> dict[tuple[str, str], Column]:
    return {(group.title, it.header): it for group in grid.groups for it in group.columns}


def test_each_metric_is_what_its_parts_add_up_to(bill: Bill) -> None:
    totals, _ = bill_grids(bill, top=20)
    by = {
        header: [value(cell) for cell in column.cells]
        for (_, header), column in columns(totals).items()
        if header not in {"by", "ratio"}
    }
    assert len(by["cost"]) == 1 + 28
    for without, with_profile, cost in zip(by["without"], by["with"], by["cost"], strict=True):
        assert with_profile - without == cost
    parts = zip(by["#1-#20"], by["+ 12 others"], by["+ interaction"], strict=True)
    assert [sum(part) for part in parts] == by["cost"]


@pytest.mark.parametrize("top", [0, 1, 20, 31, 32, 100])
def test_every_cost_column_adds_up_to_its_total(bill: Bill, top: int) -> None:
    _, items = bill_grids(bill, top)
    for (_, header), column in columns(items).items():
        if header == "cost":
            *parts, total = map(value, column.cells)
            assert sum(parts) == total


@pytest.mark.parametrize("width", [80, 120])
def test_the_text_itself_adds_up(bill: Bill, width: int) -> None:
    shown = render(bill_table(bill, metrics=("chmod",)), width)
    items = shown[shown.index("What each control costs") :]
    costs = [
        value(match[1])
        for match in re.finditer(r"^ *\d* +[\d,]* +([+-][\d,]+) +[\d.]+%", items, re.MULTILINE)
    ]
    assert len(costs) == 20 + 3
    assert sum(costs[:-1]) == costs[-1]
    assert max(map(len, shown.splitlines())) <= width


def test_a_control_has_its_place_its_firings_and_where_it_costs_more(bill: Bill) -> None:
    shown = render(bill_table(bill, top=3, metrics=("null",)), 80)
    assert re.search(r"^ ?1 +1,000 +\+19 ", shown, re.MULTILINE)
    assert "[30-sample.rules:" in shown
    assert re.search(r"more on \w+ \+21,304", shown)
    assert "29 others together" in shown


def test_few_metrics_have_all_their_columns(
    bill_of: Callable[[tuple[str, ...]], Bill],
) -> None:
    _, items = bill_grids(bill_of(("null", "chmod")), top=20)
    assert list(columns(items)) == [
        (metric, header)
        for metric in ("average call", "null", "chmod")
        for header in ("cost", "share", "alone")
    ]


def test_of_many_metrics_the_average_and_the_dearest_have_columns(bill: Bill) -> None:
    _, items = bill_grids(bill, top=20)
    first, *others = [group.title for group in items.groups]
    assert first == "average call"
    assert len(others) == 3
    assert items.notes == ("Each cost column adds up to its total.",)
    assert "by its cost on the average system call" in items.title


def test_the_users_call_has_the_first_column(bill: Bill) -> None:
    called = replace(bill, weights={MetricId("open"): 1.0})
    _, items = bill_grids(called, top=20)
    assert items.groups[0].title == "open"
    assert "by its cost on open" in items.title
    costs = [value(cell) for cell in items.groups[0].columns[0].cells[:20]]
    assert costs == sorted(costs, reverse=True)


def test_the_first_screen_has_ten_controls_and_a_line_on_the_rest(bill: Bill) -> None:
    shown = render(bill_screen(bill), 120)
    assert len(re.findall(r"^ *\+[\d,.]+ instructions  -", shown, re.MULTILINE)) == 10
    assert re.search(r"^The 22 others cost \+[\d,.]+ instructions together\.", shown, re.MULTILINE)
    assert shown.rstrip().endswith("hardcost report bill-1 --all")
    assert "average call" not in shown
    assert len(shown.splitlines()) <= 40


def test_words_are_explained(bill: Bill) -> None:
    shown = render(bill_table(bill), 120)
    for word in ("cost", "alone", "interaction", "fired"):
        assert re.search(rf"^{word} +\w", shown, re.MULTILINE)
    assert "rest" not in shown.split()


def test_a_rest_has_its_column_its_row_and_its_explanation(bill: Bill) -> None:
    rest = tuple(replace(part, cost=7.0) for part in bill.rest)
    less = tuple(replace(part, cost=part.cost - 7.0) for part in bill.interaction)
    shown = render(bill_table(replace(bill, rest=rest, interaction=less)), 120)
    assert "+ rest" in shown
    assert re.search(r"\+7\.0 +0\.\d% +\+7 +\+7 +\+7  rest$", shown, re.MULTILINE)
    assert "does not add up" not in shown


def test_a_cost_that_may_be_chance_is_marked_and_the_least_is_shown(bill: Bill) -> None:
    first = bill.totals[0]
    least = tuple(Least(one.metric, 12.0, 8) for one in bill.totals)
    totals = (
        replace(first, cost=7.0, with_profile=first.baseline + 7, least=12.0),
        *bill.totals[1:],
    )
    marked = replace(bill, totals=totals, least=least)
    shown = render(bill_table(marked), 160)
    assert re.search(r"\+7 \(~0\) +12 ", shown)
    assert "8 placebos" in shown
    assert "(~0)" not in render(bill_table(bill), 160)
    assert "no placebos were measured" in render(bill_table(bill), 160)


def test_an_interaction_that_is_none_has_neither_column_nor_row(bill: Bill) -> None:
    none = tuple(replace(part, cost=0.0) for part in bill.interaction)
    shown = render(bill_table(replace(bill, rest=bill.interaction, interaction=none)), 120)
    assert "interaction" not in shown
    assert "does not add up" not in shown


def test_a_bill_that_does_not_add_up_does_not_claim_to(bill: Bill) -> None:
    shown = render(bill_table(replace(bill, interaction=())), 120)
    assert "The bill does not add up on null: its parts miss the total by 377." in shown
    assert "Each cost column" not in shown


def test_intervals_of_costs_are_shown(bill: Bill) -> None:
    items = tuple(replace(item, low=item.cost - 2, high=item.cost + 2) for item in bill.items)
    assert "+19 +/-2" in render(bill_table(replace(bill, items=items)), 120)


def test_the_matrix_holds_every_cost(bill: Bill) -> None:
    grid = matrix_grid(bill)
    assert len(grid.groups) == 28
    assert grid.rows == 32 + 2
    for group in grid.groups:
        *parts, total = map(value, group.columns[0].cells)
        assert sum(parts) == total


def test_a_stacked_bill_says_each_rule_once(bill: Bill) -> None:
    names = tuple(str(total.metric) for total in bill.totals)
    shown = render(bill_table(bill, top=32, metrics=names), 80)
    assert shown.count("30-sample.rules:17]") == 1
    assert shown.count("  total") > 1


def test_a_metric_that_the_bill_has_not_is_refused(bill: Bill) -> None:
    with pytest.raises(InputError, match="no metric 'nonsense'"):
        bill_table(bill, metrics=("null", "nonsense"))


def test_an_empty_profile_has_an_empty_bill(bill: Bill) -> None:
    empty = replace(bill, items=(), totals=(), rest=(), interaction=())
    assert "0 controls" in render(bill_table(empty), 80)


def test_a_bill_by_search_counts_its_culprits(bill: Bill) -> None:
    culprits = len({item.control for item in bill.items})
    assert bill_size(bill, searched=True) == f"{culprits} culprits"
    assert bill_size(replace(bill, items=()), searched=True) == "no culprit found"


def test_no_name_acts_on_the_terminal(hostile_bill: Bill) -> None:
    shown = render(bill_table(hostile_bill), 100)
    assert "\x1b" not in shown
    assert shown.isascii()
    assert "<script>alert(1)</script>" in shown


def test_what_was_predicted_and_what_lint_found_stand_beside_a_rule(bill: Bill) -> None:
    first = bill.items[0]
    items = tuple(
        replace(item, predicted=7.0, findings=("catch-all",)) if item == first else item
        for item in bill.items
    )
    known = replace(bill, items=items)
    _, grid = bill_grids(known, 32, (str(first.metric),))
    at = next(n for n, text in enumerate(grid.texts) if text.name == first.control)
    assert columns(grid)[str(first.metric), "predicted"].cells[at] == "+7"
    assert "lint: catch-all" in grid.texts[at].more
    assert "predicted" not in render(bill_table(bill), 120)


def test_a_bill_says_what_it_is_compared_with_and_shows_audit_off_beside(
    bill: Bill, run: StudyFinding
) -> None:
    null = next(cell for cell in run.cells if cell.metric == "null")
    off = replace(null, configuration=role_of("audit-off"), value=bill.totals[0].with_profile / 2)
    told = replace(bill, compared_with="audit on, no rules", cells=(off,))
    shown = render(bill_table(told), 160)
    assert "controls; compared with: audit on, no rules; instrument insn" in shown
    assert re.search(r"^without +audit on, no rules$", shown, re.MULTILINE)
    totals, _ = bill_grids(told, top=20)
    assert "without: audit on, no rules; audit off: audit=0" in totals.title
    column = columns(totals)["", "audit off"]
    assert totals.labels[0].cells[1] == str(bill.totals[0].metric) == "null"
    assert column.cells[1] == number(off.value)
    assert {column.cells[0], *column.cells[2:]} == {"-"}
    assert "audit off" not in render(bill_table(replace(told, cells=())), 160)
