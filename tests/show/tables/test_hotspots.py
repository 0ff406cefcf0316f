"""Hotspots of several processors: each has a row."""

from hardcost.model.finding.calls import Hotspots, OfProcessor, Own
from hardcost.model.role import role_of
from hardcost.model.workload import Workload
from hardcost.show.tables.hotspots import hotspot_grids


def test_each_of_several_processors_has_a_row_with_its_functions() -> None:
    many = tuple(Own(f"f{number}", 10.0 - number) for number in range(7))
    one = Hotspots(
        Workload("build"),
        "wall",
        "insn",
        role_of("baseline"),
        role_of("profile"),
        value=3000,
        cost=49,
        functions=(),
        processes=(),
        stacks=(),
        processors=(
            OfProcessor(1, 2000, 2049, 10, 20, many),
            OfProcessor(2, 1000, 1000, 1010, 1020, ()),
        ),
    )
    *_, grid = hotspot_grids(one)
    assert grid.title.endswith(", by processor")
    assert [column.cells for column in grid.labels] == [("1", "2")]
    cells = [[column.cells for column in group.columns] for group in grid.groups]
    assert cells == [
        [("2,000", "1,000"), ("2,049", "1,000")],
        [("10", "1,010"), ("20", "1,020")],
    ]
    assert [text.more for text in grid.texts] == [
        "f0 +10, f1 +9, f2 +8, f3 +7, f4 +6, 2 others +9",
        "",
    ]
