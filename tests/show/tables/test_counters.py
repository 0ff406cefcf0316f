"""What the processor counted: a table beside the times, with what is missing said."""

from __future__ import annotations

import json
from dataclasses import replace

from hardcost.analysis.recorders.counters import counts_by_call
from hardcost.model.finding.observation import ObservedIn, seen_in
from hardcost.model.finding.study import StudyFinding
from hardcost.model.observation import Observed
from hardcost.model.role import role_of
from hardcost.model.workload import workload_of
from hardcost.show.json import to_json
from hardcost.show.tables.counters import counter_grids
from hardcost.show.tables.layout import Grid, render
from hardcost.show.tables.run import run_table
from tests.show.guests import filecopy

CALLS = "syscalls calls=null+open"


def trial(configuration: str, repetition: int, totals: dict[str, float]) -> ObservedIn:
    seen = Observed(instrument="counters", unit_of_totals="count/op", totals=totals)
    return seen_in(role_of(configuration), workload_of(CALLS), 0, repetition, seen)


def finding(*trials: ObservedIn) -> StudyFinding:
    return replace(filecopy(), observed=trials)


def whole(call: str, kernel: float, programs: float, cycles: float) -> dict[str, float]:
    return {
        f"{call} instructions:k": kernel,
        f"{call} instructions:u": programs,
        f"{call} cycles": cycles,
    }


def cells(grid: Grid) -> dict[str, tuple[str, ...]]:
    columns = [*grid.labels, *(column for group in grid.groups for column in group.columns)]
    return {column.header: column.cells for column in columns}


BOTH = whole("null", 90, 10, 200) | whole("open", 2000, 10, 1005)


def test_medians_of_trials_stand_by_configuration_and_call() -> None:
    trials = [trial("none", n, whole("null", 90 + n, 10, 200)) for n in (0, 1, 20)]
    (grid,) = counter_grids(finding(*trials, trial("rules", 0, BOTH)))
    assert grid.title == "syscalls calls=null+open: counted by the processor, for an operation"
    assert cells(grid) == {
        "configuration": ("none", "rules", "rules"),
        "call": ("null", "null", "open"),
        "insn in the kernel": ("91", "90", "2,000"),
        "insn in programs": ("10", "10", "10"),
        "cycles": ("200", "200", "1,005"),
        "insn/cycle": ("0.50", "0.50", "2.00"),
    }
    assert len(grid.notes) == 1


def test_where_only_programs_are_counted_it_is_said() -> None:
    (grid,) = counter_grids(
        finding(trial("none", 0, {"null instructions:u": 10, "null cycles:u": 20}))
    )
    assert cells(grid)["cycles in programs"] == ("20",)
    assert cells(grid)["insn/cycle"] == ("0.50",)
    assert "insn in the kernel" not in cells(grid)
    assert "perf_event_paranoid" in grid.notes[1]


def test_what_was_not_counted_all_the_while_is_left_out_and_said() -> None:
    trials = [trial("none", n, whole("null", 90, 10, 200)) for n in range(2)]
    lost = [trial("none", 2, {"null shared": 0.5}), trial("rules", 0, {"null shared": 0.0})]
    none, rules = counts_by_call(finding(*trials, *lost))
    assert (none.trials, none.left_out, none.counts["cycles"]) == (2, 1, 200)
    assert (rules.trials, rules.left_out, dict(rules.counts)) == (0, 1, {})
    (grid,) = counter_grids(finding(*trials, *lost))
    assert cells(grid)["cycles"] == ("200", "-")
    assert grid.notes[1].startswith("up to 1 trial of a configuration lack a call")


def test_without_counters_there_is_no_table() -> None:
    assert counter_grids(filecopy()) == []


def test_they_are_in_the_report_and_the_json() -> None:
    found = finding(trial("none", 0, BOTH))
    (entry,) = json.loads(to_json(found))["observed"]
    assert (entry["instrument"], entry["unit"], entry["totals"]) == ("counters", "count/op", BOTH)
    assert "insn in the kernel" in render(run_table(found), 200)
