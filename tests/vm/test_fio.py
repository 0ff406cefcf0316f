"""fio and dd work on the guest's disk, on a full one not, and wait for one that is slow."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardcost.errors import TrialError
from hardcost.protocol.ask import run
from tests.vm.workload_runs import ENFORCING, work

pytestmark = [pytest.mark.vm, pytest.mark.slow]

FIO = {"size": "2", "cases": "bandwidth-read+latency-randwrite+iops-randrw"}


def test_fio_does_its_cases_under_selinux_and_large_blocks_cost_more(cache_root: Path) -> None:
    found = work(cache_root, "fio", FIO, words=ENFORCING)
    assert set(found) == set(FIO["cases"].split("+"))
    assert found["bandwidth-read"] > 2 * found["latency-randwrite"]


def test_a_slow_disk_is_waited_for(cache_root: Path) -> None:
    slow = {"size": "8", "cases": "latency-randread", "iops": "5000"}
    found = work(cache_root, "fio", slow)
    assert found["latency-randread"] == pytest.approx(1e9 / 5000, rel=0.2)


def test_under_time_fio_runs_for_as_long_as_it_is_asked_to(cache_root: Path) -> None:
    case = {"size": "2", "cases": "latency-read", "seconds": "1"}
    assert work(cache_root, "fio", case, instrument="time")["latency-read"] > 1000


def test_dd_writes_in_four_ways_the_same_each_time(cache_root: Path) -> None:
    first, second = (work(cache_root, "dd", {"count": "4"}) for _ in range(2))
    assert first == second
    assert set(first) == {"fdatasync", "fsync", "dsync", "sync"}


@pytest.mark.parametrize(
    ("name", "parameters"), [("dd", {"count": "8"}), ("fio", FIO)], ids=["dd", "fio"]
)
def test_a_full_disk_is_reported_as_that(
    name: str, parameters: dict[str, str], cache_root: Path
) -> None:
    script = "fallocate -l $(($(stat -f -c '%a * %S' /) - 4000000)) /fill"
    fill = run("fill", ["/bin/sh", "-c", script])
    with pytest.raises(TrialError, match="No space left on device"):
        work(cache_root, name, parameters, before=[fill])
