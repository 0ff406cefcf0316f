"""MariaDB works in its own domain, the same each time, and failures have a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardcost.errors import TrialError
from hardcost.instruments.names import INSTRUMENTS
from hardcost.mechanisms.lsm import Lsm
from hardcost.protocol import ask
from hardcost.workloads import mariadb
from tests.vm.controls_applied import EXACT, applied

pytestmark = [pytest.mark.vm, pytest.mark.slow]

INSN = INSTRUMENTS["insn"]
SMALL = {"transactions": "10", "concurrency": "1+2", "rows": "200"}
SLAP = {**SMALL, "tool": "mysqlslap", "transactions": "40"}
ENFORCING = (Lsm("enforcing"),)


def costs(cache_root: Path, parameters: dict[str, str]) -> dict[str, float]:
    """Return what a transaction takes under SELinux, in instructions; the controls took."""
    job = mariadb.requests(mariadb.KIND.read_parameters(parameters), INSN)
    done = applied(cache_root, ENFORCING, job, hardware=EXACT)
    done.notes()
    found = mariadb.read_metrics(mariadb.KIND.read_parameters(parameters), done.answers, INSN)
    return {one.metric: one.samples[0] for one in found}


@pytest.mark.lengthy
def test_transactions_cost_the_same_each_time_under_selinux(cache_root: Path) -> None:
    found = costs(cache_root, SMALL)
    assert found == costs(cache_root, SMALL)
    assert found["oltp-1"] > 1e6


def test_queries_of_mysqlslap_are_carried_out_under_selinux(cache_root: Path) -> None:
    assert costs(cache_root, SLAP)["slap-2"] > 1e4


def test_sysbench_that_selinux_refuses_its_compiler_is_reported(cache_root: Path) -> None:
    job = mariadb.requests(mariadb.KIND.read_parameters(SMALL), INSN)
    job = [one for one in job if getattr(one, "name", None) != "label sysbench"]
    with pytest.raises(TrialError, match="prepare") as raised:
        applied(cache_root, ENFORCING, job)
    assert "runtime code generation failed" in raised.value.console


def test_a_server_with_a_broken_configuration_is_reported_with_its_log(cache_root: Path) -> None:
    broken = ask.install("/etc/mysql/mariadb.conf.d/99-broken.cnf", "[mariadbd]\nno_such_thing=1\n")
    with pytest.raises(TrialError, match="the service mariadb died") as raised:
        applied(
            cache_root, (), [broken, *mariadb.requests(mariadb.KIND.read_parameters(SMALL), INSN)]
        )
    assert "no_such_thing" in raised.value.console
