"""UnixBench's work in a guest: exact, for each copy, slowed by audit where it should be."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardcost.errors import TrialError
from hardcost.protocol.ask import install, run
from hardcost.workloads import unixbench
from tests.vm.workload_runs import ENFORCING, work

pytestmark = [pytest.mark.vm, pytest.mark.slow]

RULES = (
    "auditctl -e 1 && for n in $(seq 1 40); do"
    " auditctl -a always,exit -F arch=b64 -S swapon -F auid=$n || exit; done"
)
SAMPLE = (Path(__file__).parents[1] / "workloads" / "unixbench-run.txt").read_text()


@pytest.mark.lengthy
def test_all_twelve_tests_run_under_selinux(cache_root: Path) -> None:
    found = work(cache_root, "unixbench", {}, words=ENFORCING)
    assert list(found) == list(unixbench.tests())
    assert found["copy-256"] > found["copy-1024"] > found["copy-4096"]
    assert found["shell-8"] > 4 * found["shell-1"] > found["execl"] > found["process"]


def test_counts_are_the_same_each_time(cache_root: Path) -> None:
    chosen = {"tests": "pipe+context-switch+process+execl+copy-256", "copies": "2"}
    first, second = (work(cache_root, "unixbench", chosen) for _ in range(2))
    assert first == second


def test_audit_rules_slow_system_calls_and_not_the_processor(cache_root: Path) -> None:
    chosen = {"tests": "dhrystone+whetstone+system-call"}
    free = work(cache_root, "unixbench", chosen)
    rules = run("rules", ["/bin/sh", "-c", RULES])
    audited = work(cache_root, "unixbench", chosen, before=[rules])
    assert audited["system-call"] > 1.5 * free["system-call"]
    for name in ("dhrystone", "whetstone"):
        assert audited[name] == pytest.approx(free[name], rel=0.005)


def test_by_time_there_is_an_index_where_all_ran(cache_root: Path) -> None:
    found = work(cache_root, "unixbench", {"seconds": "1"}, instrument="time")
    assert found["index"] > 0
    assert found["system-call"] > found["dhrystone"] > 0


@pytest.mark.lengthy
def test_unixbench_itself_is_run_and_its_table_read(cache_root: Path) -> None:
    script = f"#!/bin/sh\n[ \"$1 $2\" = '-c 1' ] && pwd >&2 && cat <<'X'\n{SAMPLE}X\n"
    place = "/home/user/UnixBench/Run"
    found = work(
        cache_root,
        "unixbench",
        {"program": place},
        instrument="time",
        before=[install(place, script, 0o755)],
    )
    assert found["index"] == 973.6
    assert len(found) == 13


def test_a_shell_that_does_something_else_is_a_failed_trial(cache_root: Path) -> None:
    other = run("other", ["/bin/sh", "-c", "printf '#!/bin/sh\\necho 0 0 0' > /usr/local/bin/wc"])
    mode = run("mode", ["chmod", "755", "/usr/local/bin/wc"])
    with pytest.raises(TrialError, match="wc counted 0 0 0"):
        work(cache_root, "unixbench", {"tests": "shell-1"}, before=[other, mode])
