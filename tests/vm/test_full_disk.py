"""A snapshot for which there is no room is reported as what it is."""

from __future__ import annotations

import subprocess

import pytest

from tests.vm.conftest import Command

pytestmark = [pytest.mark.vm, pytest.mark.slow]

STUDY = """
title = "full"
workloads = ["syscalls calls=null"]
baseline = "plain"
[[configuration]]
name = "plain"
boot = ["hardcost.placebo=full"]
"""


def test_a_full_disk_is_named_with_its_folder(hardcost: Command) -> None:
    snapshots = hardcost.cache / "snapshots"
    snapshots.mkdir(parents=True, exist_ok=True)
    mount = f"mount -t tmpfs -o size=24m none {snapshots}"
    under = ("unshare", "-m", "sh", "-c", f'{mount} && exec "$@"', "sh")
    if subprocess.run([*under, "true"], capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a small disk")
    words = ("run", hardcost.write("study.toml", STUDY))
    outcome = hardcost.end(hardcost.start(*words, under=under))
    assert outcome.status == 3
    assert f"no space left on the disk of {snapshots}" in outcome.err
    assert "memory?" not in outcome.err
    assert "hint: free some" in outcome.err
