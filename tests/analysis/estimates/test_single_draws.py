from __future__ import annotations

from dataclasses import replace

from hardcost.analysis.coarse import coarse
from hardcost.analysis.finding import Bill, Cell, Finding, Item, Total
from hardcost.workloads.names import WORKLOADS, resolutions

RESOLUTIONS = {"mariadb": 0.01}


def cell(workload: str, trials: int = 1) -> Cell:
    return Cell("a", workload, "all", "insn", 5e8, 5e8, 5e8, 5e8, trials, "b", 5e6, 1.01, 1.0, 1.02)


def finding(*cells: Cell, instrument: str = "insn") -> Finding:
    return Finding(run="r", study="s", title="t", instrument=instrument, cells=cells)


def test_one_draw_has_its_workloads_resolution() -> None:
    drawn = coarse(finding(cell("mariadb threads=1"), cell("syscalls")), RESOLUTIONS)
    assert [one.resolution for one in drawn.cells] == [0.01, 0.0]


def test_what_has_an_interval_of_its_own_needs_none() -> None:
    several = finding(cell("mariadb", trials=3))
    timed = finding(cell("mariadb"), instrument="time")
    assert coarse(several, RESOLUTIONS) == several
    assert coarse(timed, RESOLUTIONS) == timed


def test_a_bills_small_cost_is_not_distinguishable_from_0() -> None:
    def item(cost: float, caveat: str = "") -> Item:
        made = Item("x", "all", "insn", cost, cost, cost, 0, cost, None)
        return replace(made, caveat=caveat)

    items = (item(4.9e6, "why"), item(5.1e6), item(-1.0))
    bill = Bill("p", "p", (Total("all", "insn", 5e8, 6e8, 1e8),), items, (), ())
    made = coarse(replace(finding(cell("mariadb")), bill=bill), RESOLUTIONS).bill
    assert made is not None
    small, large, negative = (one.caveat for one in made.items)
    assert small.startswith("why; less than 1 % of the baseline")
    assert "not distinguishable from 0" in negative
    assert large == ""


def test_workloads_of_a_whole_system_and_no_others_are_one_draw() -> None:
    whole = {name for name, module in WORKLOADS.items() if module.GUEST == "debian"}
    assert set(resolutions()) == whole
    assert all(0.002 <= resolution <= 0.02 for resolution in resolutions().values())
