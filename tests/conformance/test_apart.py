"""Nothing that a trial is made of is made of what compares the semantics with kernels.

`tests/test_wheel.py` builds the probe's programs where that is broken: they are the same bytes.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
SHIPPED = ("hardcost-measured", "hardcost-noop", "hardcost-probe", "hardcost-unixbench")
TREE = ("cargo", "tree", "--offline", "--locked", "--edges", "normal,build", "--prefix", "none")


def parts(package: str) -> set[str]:
    """Return the names of the crates that a program is built of."""
    words = [*TREE, "--package", package]
    done = subprocess.run(words, cwd=PROJECT, check=True, capture_output=True, text=True)
    return {line.split()[0] for line in done.stdout.splitlines() if line}


@pytest.mark.parametrize(
    "package", ["hardcost-measured", "hardcost-noop", "hardcost-probe", "hardcost-unixbench"]
)
def test_no_program_that_is_shipped_is_built_of_it(package: str) -> None:
    found = parts(package)
    assert package in found
    assert "hardcost-conformance" not in found


def test_it_is_built_of_what_both_need_and_not_of_the_probe() -> None:
    found = parts("hardcost-conformance")
    assert {"hardcost-conformance", "hardcost-linux"} <= found
    assert "hardcost-probe" not in found
