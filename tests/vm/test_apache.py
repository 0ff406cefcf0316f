"""Apache serves in its own domain, the same each time, and a wrong answer fails the trial."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardcost.errors import TrialError
from hardcost.instruments.names import INSTRUMENTS
from hardcost.mechanisms.lsm import Lsm
from hardcost.protocol import ask
from hardcost.protocol.requests import Perturb, Request
from hardcost.workloads.apache import PREFORK, WORKER, ApacheParameters
from hardcost.workloads.kind import WorkloadKind
from tests.vm.controls_applied import EXACT, applied

pytestmark = [pytest.mark.vm, pytest.mark.slow]

INSN = INSTRUMENTS["insn"]
SMALL = {"requests": "100", "concurrency": "4"}
NONE, ENFORCING = (Lsm("none"),), (Lsm("enforcing"),)

Apache = WorkloadKind[ApacheParameters]


def cost(
    cache_root: Path,
    apache: Apache,
    controls: tuple[Lsm, ...],
    perturbation: int,
) -> float:
    """Return what a request takes, in instructions; the controls took."""
    perturb = Perturb(number=perturbation)
    job = [perturb, *apache.requests(apache.read_parameters(SMALL), INSN)]
    done = applied(cache_root, controls, job, hardware=EXACT)
    done.notes()
    found = {
        one.metric: one.samples
        for one in apache.measured(apache.read_parameters(SMALL), done.answers, INSN)
    }
    return found["ab-4"][0]


@pytest.mark.parametrize("apache", [PREFORK, WORKER], ids=["prefork", "worker"])
def test_enforcing_takes_some_hundredths_of_a_request(apache: Apache, cache_root: Path) -> None:
    # One draw of a hundred requests moves by a hundredth and more.
    without, enforcing = (
        sum(cost(cache_root, apache, controls, number) for number in (1, 2, 3))
        for controls in (NONE, ENFORCING)
    )
    assert 1.02 < enforcing / without < 1.15


def test_requests_cost_the_same_each_time(cache_root: Path) -> None:
    first, second = (cost(cache_root, WORKER, ENFORCING, 1) for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    ("spoilt", "message"),
    [
        (ask.install("/var/www/html/index.html", "short"), "Document Length 5 instead of 10240"),
        (ask.run("hide", ["rm", "/var/www/html/index.html"]), "Document Length"),
    ],
)
def test_a_page_that_is_not_the_right_one_fails_the_trial(
    spoilt: Request, message: str, cache_root: Path
) -> None:
    job = PREFORK.requests(PREFORK.read_parameters(SMALL), INSN)
    begun = next(at for at, one in enumerate(job) if getattr(one, "name", None) == "ab-4")
    done = applied(cache_root, NONE, [*job[:begun], spoilt, *job[begun:]])
    with pytest.raises(TrialError, match=message):
        PREFORK.measured(PREFORK.read_parameters(SMALL), done.answers, INSN)


def test_a_server_that_selinux_keeps_from_its_port_is_reported_with_its_log(
    cache_root: Path,
) -> None:
    elsewhere = ask.install("/etc/apache2/conf-enabled/elsewhere.conf", "Listen 2525\n")
    job = PREFORK.requests(PREFORK.read_parameters(SMALL), INSN)
    with pytest.raises(TrialError, match="the service apache died") as raised:
        applied(cache_root, ENFORCING, [elsewhere, *job])
    assert "Permission denied" in raised.value.console
