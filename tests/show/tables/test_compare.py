from __future__ import annotations

from dataclasses import replace

from hardcost.analysis.change.comparison import compare_runs
from hardcost.model.finding.finding import Finding
from hardcost.model.finding.study import StudyFinding
from hardcost.show.tables.compare import compare_table
from hardcost.show.tables.layout import render


def changed(run: StudyFinding) -> Finding:
    cells = tuple(
        replace(cell, value=it, low=it, high=it)
        for cell in run.cells
        for it in [cell.value + (7 if cell.metric == "open" else 0)]
    )
    return replace(run, run="second", cells=cells)


def test_what_changed_is_listed_and_what_did_not_is_counted(run: StudyFinding) -> None:
    shown = render(compare_table(compare_runs(run, changed(run))), 100)
    row = next(line for line in shown.splitlines() if line.startswith("rules=160 "))
    assert row.split()[:7] == ["rules=160", "open", "insn/op", "7,400", "7,407", "+7", "x1.001"]
    assert " null " not in shown
    assert "37 numbers changed, 999 the same to the last digit, 0 only in the first run" in shown
    assert "WARNING" not in shown


def test_every_cell_is_listed_on_request(run: StudyFinding) -> None:
    shown = render(compare_table(compare_runs(run, changed(run)), every=True), 100)
    assert sum(" null " in line for line in shown.splitlines()) == 37


def test_cells_of_one_run_only_are_listed(run: StudyFinding) -> None:
    shown = render(compare_table(compare_runs(run, replace(run, cells=run.cells[5:]))), 100)
    only = shown[shown.index("Only in the first run: instrument insn, machine vm") :]
    assert only.count("audit-off") == 5
    assert "In both runs" not in shown


def test_runs_that_can_not_be_compared_are_compared_under_a_warning(run: StudyFinding) -> None:
    other = replace(changed(run), environment=run.environment | {"qemu": "10"}, machine="local")
    shown = render(compare_table(compare_runs(run, other)), 200)
    assert "WARNING: not comparable as they stand: the QEMU differs: 7.2.22, then 10" in shown
    assert "instrument insn, machine vm, then instrument insn, machine local" in shown


def test_runs_of_two_kernels_are_compared_without_a_warning(run: StudyFinding) -> None:
    other = replace(changed(run), environment=run.environment | {"kernel": "7.3"})
    shown = render(compare_table(compare_runs(run, other)), 200)
    assert shown.startswith("The kernels differ, 6.1.192, then 7.3: what changed is their work.")
    assert "WARNING" not in shown


def test_no_name_acts_on_the_terminal(run: StudyFinding, hostile: StudyFinding) -> None:
    shown = render(compare_table(compare_runs(run, hostile)), 120)
    assert "\x1b" not in shown
    assert shown.isascii()
