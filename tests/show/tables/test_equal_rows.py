from __future__ import annotations

from hardcost.show.tables.equal_rows import share_numbers
from hardcost.show.tables.layout import Column, ColumnGroup, Grid, RowText


def grid(costs: str, controls: int) -> Grid:
    """Return a table with a cost for each letter; the first rows are controls."""
    rows = range(len(costs))
    numbers = Column("#", tuple(str(nth) if nth < controls else "" for nth in rows))
    amounts = Column("cost", tuple(costs), bars=(0.5,) * len(costs))
    return Grid(
        "t",
        (numbers,),
        (ColumnGroup("m", (amounts,)),),
        tuple(RowText(f"row {nth}", sum=nth >= controls) for nth in rows),
        lines=frozenset({len(costs) - 1}),
        anchors=tuple(f"control-{nth}" if nth < controls else "" for nth in rows),
    )


def test_neighbours_with_equal_numbers_have_them_once_above_their_names() -> None:
    shared = share_numbers(grid("abbbbbcc", 6))
    (costs,), (numbers,) = shared.columns, shared.labels
    assert list(costs.cells) == ["a", "b", "", "", "", "", "", "c", "c"]
    assert list(costs.bars) == [0.5, 0.5, 0, 0, 0, 0, 0, 0.5, 0.5]
    assert list(numbers.cells) == ["0", "", "1", "2", "3", "4", "5", "", ""]
    names = [text.name for text in shared.texts]
    assert names[:3] == ["row 0", "each of the 5 controls below", "row 1"]
    anchors = ["control-0", "", *(f"control-{n}" for n in range(1, 6)), "", ""]
    assert list(shared.anchors) == anchors
    assert shared.lines == {8}
    assert [shared.is_bare(row) for row in range(shared.rows)].count(True) == 5


def test_few_neighbours_and_sums_stay_as_they_are() -> None:
    few, sums = grid("abbbbc", 6), grid("bbbbbbbb", 2)
    assert share_numbers(few) == few
    assert share_numbers(sums) == sums
