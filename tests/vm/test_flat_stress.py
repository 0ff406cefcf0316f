"""The audit filter under stress: a short storm, and how its console is read."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BENCH = Path(__file__).resolve().parents[2] / "linux-audit/bench/stress.py"
LIMIT_SECONDS = 600
DONE = (
    "calls by 32-bit entry",
    "calls with numbers beyond the table",
    "records of numbered calls, each exactly once",
    "rules added",
    "rules deleted",
    "watched directories removed",
    "file systems with watched directories unmounted",
    "decisions compared",
)


def stress() -> Any:  # noqa: ANN401  (a module that mypy does not see)
    spec = importlib.util.spec_from_file_location("stress", BENCH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["stress"] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "line",
    [
        "[    3.141592] BUG: KASAN: use-after-free in audit_filter_rules+0x1/0x2",
        "[    3.141592][  T123] WARNING: possible circular locking dependency detected",
        "[    3.141592] kernel/audit_index.c:12 suspicious RCU usage",
        "[    3.141592] INFO: task audit_prune_tree blocked for more than 120 seconds.",
        "[    3.141592] general protection fault, probably for non-canonical address",
        "storm: FAULT: numbered caller 3: after 7 came 9",
    ],
)
def test_a_line_that_begins_a_report_is_reported_with_what_follows(line: str) -> None:
    storm = stress().Storm()
    for one in ("storm: policy: true", line, "[    3.2] RIP: somewhere", "storm: end"):
        storm.read_line(one)
    ((first, second),) = storm.reports
    assert first.endswith(line.removeprefix("[    3.141592]").removeprefix("[  T123]").strip())
    assert second == "RIP: somewhere"


def test_what_is_known_of_the_stock_kernel_is_reported_of_another() -> None:
    storm = stress().Storm()
    storm.read_line("storm: FAULT: audit_n_rules is 3 with no rule loaded")
    assert not storm.unknown(stock=True)
    assert storm.unknown(stock=False) == storm.reports
    assert len(storm.reports) == 1


def test_a_report_is_known_of_the_stock_kernel_by_all_that_it_says() -> None:
    storm = stress().Storm()
    for where in ("audit_free_rule_rcu", "somewhere_else"):
        storm.read_line("[ 1.0] BUG: KASAN: double-free in kfree+0xcb/0x150")
        storm.read_line(f"[ 1.0]  {where}+0x177/0x2d0")
    assert [one[1].strip() for one in storm.unknown(stock=True)] == ["somewhere_else+0x177/0x2d0"]


def test_ordinary_lines_are_no_reports_and_counts_are_summed() -> None:
    storm = stress().Storm()
    for line in ("[ 1.0] tsc: Marking", "storm: count rules added: 7", "storm: count faults: 0"):
        storm.read_line(line)
    assert not storm.reports
    assert storm.counts == {"rules added": 7, "faults": 0}


@pytest.mark.vm
@pytest.mark.slow
@pytest.mark.lengthy
def test_rules_that_come_and_go_on_two_processors_break_nothing() -> None:
    words = ("--plain", "--first", "plenty", "--seconds", "10", "--minutes", "5")
    done = subprocess.run(
        [sys.executable, str(BENCH), *words],
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    counts = dict(line.rsplit(maxsplit=1) for line in done.stdout.splitlines() if "  " in line)
    assert not [what for what in DONE if not int(counts.get(what, 0))], done.stdout
    assert counts["faults"] == "0"
