"""A small fixed sample of `bench/stops.py`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).parents[2] / "bench" / "stops.py"


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
        [sys.executable, BENCH, *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 rounds, 0 after which something was wrong" in done.stdout
