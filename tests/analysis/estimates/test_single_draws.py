from __future__ import annotations

from dataclasses import replace

from hardcost.analysis.estimates.single_draws import with_resolutions
from hardcost.model.finding.bill import Bill, Item, Itemised, Total
from hardcost.model.finding.cell import Cell
from hardcost.model.finding.study import StudyFinding
from hardcost.model.role import role_of
from hardcost.model.workload import MetricId, workload_of
from hardcost.workloads.names import all_workloads, resolutions
from tests.show.bill_findings import billed

RESOLUTIONS = {"mariadb": 0.01}


def cell(workload: str, trials: int = 1) -> Cell:
    return Cell(
        configuration=role_of("a"),
        workload=workload_of(workload),
        metric="all",
        unit="insn",
        value=5e8,
        low=5e8,
        high=5e8,
        minimum=5e8,
        trials=trials,
        baseline=role_of("b"),
        difference=5e6,
        ratio=1.01,
        ratio_low=1.0,
        ratio_high=1.02,
    )


def finding(*cells: Cell, instrument: str = "insn") -> StudyFinding:
    return StudyFinding(run="r", study="s", title="t", instrument=instrument, cells=cells)


def test_one_draw_has_its_workloads_resolution() -> None:
    drawn = with_resolutions(finding(cell("mariadb threads=1"), cell("syscalls")), RESOLUTIONS)
    assert [one.resolution for one in drawn.cells] == [0.01, 0.0]


def test_what_has_an_interval_of_its_own_needs_none() -> None:
    several = finding(cell("mariadb", trials=3))
    timed = finding(cell("mariadb"), instrument="time")
    assert with_resolutions(several, RESOLUTIONS) == several
    assert with_resolutions(timed, RESOLUTIONS) == timed


def test_a_bills_small_cost_is_not_distinguishable_from_0() -> None:
    def item(cost: float, caveat: str = "") -> Item:
        made = Item("x", MetricId("all"), "insn", cost, cost, cost, 0, cost, None)
        return replace(made, caveat=caveat)

    items = (item(4.9e6, "why"), item(5.1e6), item(-1.0))
    bill = Itemised(
        profile="p",
        profile_title="p",
        totals=(Total(MetricId("all"), "insn", 5e8, 6e8, 1e8),),
        items=items,
        rest=(),
        interaction=(),
    )
    made = with_resolutions(billed(bill, cells=[cell("mariadb")]), RESOLUTIONS)
    assert isinstance(made, Bill)
    small, large, negative = (one.caveat for one in made.items)
    assert small.startswith("why; less than 1 % of the baseline")
    assert "not distinguishable from 0" in negative
    assert large == ""


def test_workloads_of_a_whole_system_and_no_others_are_one_draw() -> None:
    whole = {name for name, kind in all_workloads().items() if kind.guest == "debian"}
    assert set(resolutions()) == whole
    assert all(0.002 <= resolution <= 0.02 for resolution in resolutions().values())
