"""A small fixed sample of `bench/robustness/stops.py`."""

from __future__ import annotations

import subprocess
import sys


def test_verbs_that_are_stopped_at_any_moment_end_in_good_order() -> None:
    words = (
        "--rounds",
        "6",
        "--seed",
        "26",
        "--verb",
        "run",
        "--verb",
        "report",
        "--verb",
        "image",
    )
    done = subprocess.run(
        [sys.executable, "-m", "bench.robustness.stops", *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 rounds, 0 after which something was wrong" in done.stdout
