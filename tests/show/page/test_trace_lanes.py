"""Lanes say what the trace says, and stay within their drawing."""

from __future__ import annotations

from dataclasses import replace

from hardcost.model.finding.trace import Piece, Traces
from hardcost.show.page.page import to_html
from hardcost.show.page.trace_lanes import WIDTH, lanes
from tests.show.exports.test_perfetto import HOSTILE, PIECES, TRACE


def test_each_process_has_a_lane_in_the_order_in_which_they_run() -> None:
    drawn = lanes(TRACE, "lanes-1")
    assert [lane.name for lane in drawn.lanes][1:] == ["kauditd", "init"]
    caller, kauditd, daemon = drawn.lanes
    assert [box.x for box in caller.runs] == [0, 967.74]
    assert abs(kauditd.ready[0].x + kauditd.ready[0].width - kauditd.runs[0].x) < 0.02  # rounded
    (line,) = drawn.lines  # an interrupt has no lane
    assert line.begin < line.end
    assert daemon.top > kauditd.top > caller.top
    assert drawn.scale[-1] == (100, "3,100")


def test_many_pieces_are_few_boxes() -> None:
    many = tuple(Piece(at % 2, at, at + 1, (f"call {at}",)) for at in range(50_000))
    drawn = lanes(replace(TRACE, pieces=many, length=50_000), "lanes-1")
    for lane in drawn.lanes:
        assert len(lane.runs) <= WIDTH
        assert all(0 <= box.x <= box.x + box.width <= WIDTH for box in lane.runs)


def test_a_page_shows_names_as_text() -> None:
    finding = Traces(
        run="r", study="s", title="Trace", instrument="insn", cells=(), traces=(TRACE,)
    )
    page = to_html(finding)
    assert "</script>" not in page
    assert HOSTILE not in page
    assert "\x1b" not in page
    assert page.count('class="runs"') == len(PIECES)
