"""The JSON that Perfetto reads, read back: lanes without a gap, arrows that have both ends."""

from __future__ import annotations

import json
from collections import defaultdict

from hardcost.model.finding.trace import Deed, Piece, Traced, Wake
from hardcost.model.role import role_of
from hardcost.model.workload import workload_of
from hardcost.show.exports.perfetto import perfetto

HOSTILE = 'two\nlines"</script>\x1b[31m'
PIECES = (
    Piece(0, 0, 1500, ("chmod",)),
    Piece(1, 1500, 2100, ("kauditd_thread",), woken_by=0, woken=750, stopped="kauditd_thread"),
    Piece(2, 2100, 3000, ("recvfrom",), None, 1800, "do_sys_poll", (Deed(2500, "takes a record"),)),
    Piece(0, 3000, 3100, ("chmod",)),
)
TRACE = Traced(
    workload=workload_of("onecall call=chmod"),
    configuration=role_of("profile"),
    metric="onecall",
    processes=(HOSTILE, "kauditd", "init"),
    pieces=PIECES,
    wakes=(Wake(750, 0, 1), Wake(1800, None, 2)),
    length=3100,
    ticks=5000,
    before=1000,
    after=900,
    idle=0,
)
KEYS = {
    "M": {"name", "args"},
    "X": {"name", "ts", "dur", "args"},
    "i": {"name", "ts", "s"},
    "s": {"id", "cat", "name", "ts"},
    "f": {"id", "cat", "name", "ts", "bp"},
}
"""What each kind of event has to have by the format, beside `pid` and `tid`."""


def test_it_is_read_back() -> None:
    text = perfetto((TRACE, TRACE))
    assert text.isascii()
    events = json.loads(text)["traceEvents"]
    lanes: dict[tuple[int, int], str] = {}
    spent: dict[tuple[int, int], float] = defaultdict(float)
    arrows: dict[str, list[str]] = defaultdict(list)
    for event in events:
        assert KEYS[event["ph"]] | {"ph", "pid", "tid"} == set(event)
        lane = (event["pid"], event["tid"])
        if event["name"] == "thread_name":
            lanes[lane] = event["args"]["name"]
        elif event["ph"] == "X":
            spent[lane] += event["dur"] * 1000
        elif event["ph"] in "sf":
            arrows[event["id"]].append(event["ph"])
    assert {lanes[lane]: round(spent[lane]) for lane in lanes if lane[0] == 1} == {
        HOSTILE: 1600,
        "kauditd": 600,
        "init": 900,
    }
    assert [*arrows.values()] == [["s", "f"]] * 2
