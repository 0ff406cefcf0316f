from __future__ import annotations

from io import StringIO

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from hardcost.show.tables.layout import (
    Column,
    ColumnGroup,
    Grid,
    GridText,
    Layout,
    Prose,
    RowText,
    Terms,
    TextLines,
    render,
)
from hardcost.show.text import TIMES


def grid(groups: int, cells: tuple[str, ...] = ("1,234", "5"), **more: object) -> Grid:
    columns = tuple(
        ColumnGroup(f"metric{n}", (Column("value", cells), Column("diff", cells)))
        for n in range(groups)
    )
    labels = (Column("configuration", ("rules=0", "rules=160"), left=True),)
    return Grid("title", labels, columns, **more)  # type: ignore[arg-type]


def test_columns_that_fit_stand_side_by_side() -> None:
    lines = render(GridText(grid(2)), 80).splitlines()
    assert lines == [
        "title",
        "               - metric0 --  - metric1 --",
        "configuration  value   diff  value   diff",
        "-----------------------------------------",
        "rules=0        1,234  1,234  1,234  1,234",
        "rules=160          5      5      5      5",
    ]


def test_columns_that_do_not_fit_are_stacked_with_their_labels() -> None:
    shown = render(GridText(grid(28)), 80)
    assert all(f" metric{n} " in shown for n in range(28))
    assert shown.count("rules=160") > 3
    assert max(map(len, shown.splitlines())) <= 80


@settings(deadline=None)
@given(st.integers(1, 12), st.integers(40, 160), st.integers(1000, 10**12))
def test_no_number_is_ever_cut(groups: int, width: int, value: int) -> None:
    cell = f"{value:,}"
    shown = render(GridText(grid(groups, (cell, "x"))), width)
    assert shown.split().count(cell) == 2 * groups
    assert max(map(len, shown.splitlines())) <= width


def test_optional_columns_give_way_before_a_table_is_split() -> None:
    columns = (Column("value", ("1",)), Column("ratio", ("x2",), optional=True))
    groups = tuple(ColumnGroup(f"metric{n}", columns) for n in range(5))
    wide = GridText(Grid("", (), groups))
    assert "ratio" in render(wide, 120)
    narrow = render(wide, 44)
    assert "ratio" not in narrow
    assert narrow.count("value") == 5


def test_words_stand_beside_numbers_where_there_is_room_and_below_where_not() -> None:
    texts = (RowText("a control", "file:1"), RowText("total", sum=True))
    labels = (Column("#", ("1", "")),)
    group = ColumnGroup("", (Column("cost", ("+19", "+19")),))
    it = GridText(Grid("", labels, (group,), texts, "control", frozenset({1})))
    assert "1   +19  a control  [file:1]" in render(it, 60)
    narrow = render(it, 20)
    assert "1   +19\n     a control\n     [file:1]\n" in narrow
    assert "    +19  total\n" in narrow


def test_an_option_is_not_parted_from_its_value() -> None:
    rule = "-a always,exit -F arch=b64 -S open,openat -F auid>=1000 -F key=access"
    group = ColumnGroup("", (Column("cost", ("+19",)),))
    for width in range(30, 75):
        shown = render(GridText(Grid("", (), (group,), (RowText(rule),))), width)
        assert not any(line.rstrip().endswith((" -F", " -S", " -a")) for line in shown.splitlines())
        assert " ".join(shown.split()).endswith(rule)


def test_markup_in_names_is_text() -> None:
    name = "[bold red]x[/bold red] :smile: [link=http://a.invalid]"
    column = Column(name, (name, name), left=True)
    it = Layout(
        (
            GridText(Grid(name, (column,), (ColumnGroup(name, (column, column)),), notes=(name,))),
            Prose(name),
            TextLines((name,)),
            Terms(((name, name),)),
        )
    )
    assert render(it, 400).count(name) == 16


def test_a_pipe_gets_ascii() -> None:
    column = Column("ratio", (f"{TIMES}2", "±é"))
    it = Layout(
        (GridText(Grid("é", (), (ColumnGroup("é", (column,)),))), Prose("…"), Terms((("é", "é"),)))
    )
    assert render(it, 80).isascii()


def test_a_terminal_gets_symbols() -> None:
    out = StringIO()
    console = Console(file=out, width=80, force_terminal=True, _environ={"TERM": "xterm"})
    console.print(GridText(Grid("", (), (ColumnGroup("", (Column("ratio", (f"{TIMES}2",)),)),))))
    assert f"{TIMES}2" in out.getvalue()
    assert "─" in out.getvalue()


def test_wide_characters_keep_columns_apart() -> None:
    out = StringIO()
    console = Console(file=out, width=80, force_terminal=True, color_system=None, _environ={})
    labels = (Column("name", ("規則", "rule"), left=True),)
    console.print(GridText(Grid("", labels, (ColumnGroup("", (Column("cost", ("1", "2")),)),))))
    rows = out.getvalue().splitlines()[-2:]
    assert len({cell_len(row.rstrip()) for row in rows}) == 1
