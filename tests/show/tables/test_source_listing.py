"""A listing's lines add up, and show where lines are left out."""

from hardcost.show.tables.source_listing import listings
from tests.show.page.test_flame_graph import placed


def test_each_line_has_its_counts_beside_its_text() -> None:
    (one,) = listings(placed("f"))
    assert one.title == "f, open, insn/op, line by line"
    assert one.lines == (
        "own  before  after  total  line  source",
        "kernel/auditsc.c:",
        "                              7  \\tif (found)",
        "+30       0     30    +40     8      return f;",
        "                              …",
        "+20       0     20    +20    90  <b>bold</b>",
        "+50       0     50               in all",
    )
