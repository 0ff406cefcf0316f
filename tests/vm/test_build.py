"""The compiler guest compiles, and what it compiles is checked."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path

import pytest

from hardcost.errors import TrialError
from hardcost.instruments.names import INSTRUMENTS
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.protocol.ask import install
from hardcost.protocol.boot import Boot
from hardcost.protocol.requests import Install, Request
from hardcost.supply.cache.cache import Cache
from hardcost.workloads import build

pytestmark = [pytest.mark.vm, pytest.mark.slow]

INSN = INSTRUMENTS["insn"]
QUICK = {"compiler": "tcc", "files": "3"}


def outcome(cache_root: Path, job: list[Request]) -> dict[str, float]:
    """Return the metrics of a build in a guest."""
    machine = VirtualMachine(Cache(cache_root), Hardware("icount"))
    execution = asyncio.run(machine.execute(Boot(guest=build.KIND.guest), job, 120))
    found = build.read_metrics(build.KIND.read_parameters(QUICK), execution.answers, INSN)
    return {one.metric: one.samples[0] for one in found}


def with_check(job: list[Request], old: str, new: str) -> list[Request]:
    """Return the job with another check program."""

    def changed(request: Request) -> Request:
        if not isinstance(request, Install) or not request.path.endswith("check.c"):
            return request
        text = base64.b64decode(request.base64).decode()
        assert old in text
        return install(request.path, text.replace(old, new))

    return [changed(request) for request in job]


@pytest.mark.lengthy
def test_a_build_takes_time_in_programs_and_in_the_kernel(cache_root: Path) -> None:
    found = outcome(cache_root, build.requests(build.KIND.read_parameters(QUICK), INSN))
    used = found["user"] + found["system"]
    assert found["user"] > 1e7
    assert found["system"] > 1e6
    # One processor and nothing to wait for: the kernel accounts for all but what the probe does.
    assert 0.95 < used / found["wall"] < 1.001


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("16777619u", "16777618u", "works wrongly: fdt_strerror"),
        ("static int failures;", "static failures", r"status 2 in the guest: .*check\.c:1"),
    ],
)
def test_a_build_that_fails_or_works_wrongly_fails_the_trial(
    cache_root: Path, old: str, new: str, message: str
) -> None:
    job = with_check(build.requests(build.KIND.read_parameters(QUICK), INSN), old, new)
    with pytest.raises(TrialError, match=message):
        outcome(cache_root, job)
