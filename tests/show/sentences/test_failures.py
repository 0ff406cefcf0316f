from __future__ import annotations

from dataclasses import replace

from hardcost.model.finding.failure import Failure
from hardcost.model.role import role_of
from hardcost.model.workload import Workload, workload_of
from hardcost.show.sentences.failures import failure_lines, reasons
from hardcost.show.tables.layout import render
from hardcost.show.tables.matrix import upright_grid
from hardcost.show.tables.run import run_matrices, run_table
from tests.show.guests import cis, failed, filecopy


def test_a_run_without_failures_speaks_of_none() -> None:
    assert failure_lines(filecopy()) == []
    assert "fail" not in render(run_table(filecopy()), 100)


def test_trials_that_failed_alike_are_reported_together() -> None:
    one = reasons(failed(filecopy(), "audit", "the service auditd died: status 6"))
    assert [(len(it.trials), it.reason, it.hint) for it in one] == [
        (4, "the service auditd died: status 6", "start it by hand")
    ]
    two = failed(failed(filecopy(), "audit", "died"), "stig-full", "hung")
    assert [it.reason for it in reasons(two)] == ["died", "hung"]


def test_trials_of_one_reason_stand_together() -> None:
    lost = [
        Failure(role_of("audit"), workload_of(workload), 0, 0, "the guest hung")
        for workload in ("filecopy", "filecopy concurrency=2")
    ]
    (one,) = reasons(replace(filecopy(), failures=tuple(lost)))
    assert one.trials == ("audit, filecopy", "audit, filecopy concurrency=2")
    assert one.reason == "the guest hung"


def test_cells_of_a_failed_configuration_say_so_in_the_place_of_numbers() -> None:
    copy, *_ = map(upright_grid, run_matrices(failed(filecopy(), "audit")))
    assert copy.labels[0].cells == ("none", "reduced", "audit", "audit-syslog", "stig-full")
    for group in copy.groups:
        assert group.columns[0].cells[2] == "failed"
        assert [column.cells[2] for column in group.columns[1:]] == ["-", "-"]
    assert copy.notes == ("failed: the reasons are below",)


def test_a_failed_baseline_leaves_the_comparison_unknown_and_says_so() -> None:
    finding = failed(cis(), "audit-off")
    (table,) = map(upright_grid, run_matrices(finding))
    pipe = next(group for group in table.groups if group.title == "pipe")
    assert [column.cells for column in pipe.columns] == [
        ("failed", "1,418.8", "2,057.0"),
        ("-", "n/a", "n/a"),
        ("-", "n/a", "n/a"),
    ]
    assert table.notes[1] == (
        "the baseline audit-off failed, so differences and ratios are unknown"
    )
    shown = render(run_table(finding), 100)
    assert "cis-rules: without 12 metrics whose ratio is unknown" in shown


def test_where_everything_failed_there_still_is_a_table() -> None:
    finding = cis()
    for name in finding.levels:
        finding = failed(finding, str(name))
    (table,) = map(upright_grid, run_matrices(finding))
    assert table.labels[0].cells == ("audit-off", "auditd-no-rules", "cis-rules")
    assert table.groups[0].columns[0].cells == ("failed",) * 3
    assert "3 trials failed:" in render(run_table(finding), 80)


def test_one_of_several_trials_that_failed_is_noted() -> None:
    lost = Failure(role_of("cis-rules"), Workload("unixbench"), 2, 0, "the guest hung")
    finding = replace(cis(), failures=(lost,))
    (table,) = run_matrices(finding)
    assert table.notes == ("cis-rules: without 1 failed trial",)
    assert failure_lines(replace(finding, failures=(lost, replace(lost, seed=3))))[1:3] == [
        "  cis-rules, unixbench, seed 2, repetition 0",
        "  cis-rules, unixbench, seed 3, repetition 0",
    ]


def test_a_log_is_its_end_and_can_not_act() -> None:
    log = "\n".join(f"line {n}" for n in range(100)) + "\n\x1b[31mred\tend\r\n"
    (one,) = reasons(
        replace(cis(), failures=(Failure(role_of("c"), Workload("w"), 0, 0, "r\nr", None, log),))
    )
    assert one.log[-1] == r"\x1b[31mred    end"
    assert one.log[-2] == "line 99"
    assert len(one.log) == 60
    assert one.reason == r"r\nr"
