"""A guest that is stopped for longer than its limit, with hardcost or alone, fails no run."""

from __future__ import annotations

import os
import signal
import time

import pytest

from tests.vm.conftest import Command

pytestmark = [pytest.mark.vm, pytest.mark.slow]

LIMIT = 20  # seconds for a trial: many times what it takes
STUDY = """
title = "stopped"
workloads = ["syscalls calls=null"]
baseline = "plain"
[[configuration]]
name = "plain"
"""


@pytest.mark.parametrize("whom", ["QEMU", "hardcost"])
def test_a_stop_that_is_longer_than_the_limit_fails_no_trial(whom: str, hardcost: Command) -> None:
    hardcost.write("study.toml", STUDY)
    words = ("run", "study.toml", "--fresh", "--timeout", str(LIMIT), "--format", "json")
    undisturbed = hardcost(*words).raw_cells()  # makes the snapshot
    process = hardcost.start(*words)
    guest = hardcost.await_guest(process)
    stopped = guest if whom == "QEMU" else process.pid
    os.kill(stopped, signal.SIGSTOP)
    time.sleep(LIMIT + 3)
    os.kill(stopped, signal.SIGCONT)
    outcome = hardcost.end(process)
    assert outcome.status == 0, outcome.err
    assert outcome.raw_cells() == undisturbed
