"""The wheel, installed without the source tree, counts what the tree counts."""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
import venv
from pathlib import Path

import pytest

from tests.test_wheel import PROJECT, hatchling
from tests.vm.conftest import Command

pytestmark = [pytest.mark.vm, pytest.mark.slow]

RULES = """\
-w /etc/passwd -p wa -k identity
-a always,exit -F arch=b64 -S mount -F auid>=1000 -k mounts
"""
BILL = ("bill", "my.rules", "--workload", "syscalls calls=null+open", "--format", "json", "--fresh")


def test_the_installed_wheel_bills_rules_as_the_tree_does(
    hardcost: Command, tmp_path: Path
) -> None:
    hardcost.write("my.rules", RULES)
    by_tree = hardcost(*BILL).data()
    python = installed(tmp_path)
    (tmp_path / "my.rules").write_text(RULES)
    own = {"HARDCOST_CACHE": str(hardcost.cache), "HARDCOST_STORE": str(tmp_path / "x.sqlite")}
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [python.parent / "hardcost", *BILL],
        cwd=tmp_path,
        env=clean | own,
        check=True,
        capture_output=True,
        text=True,
    )
    by_wheel = json.loads(done.stdout)
    for what in ("cells", "totals", "items", "rest", "interaction", "least"):
        assert by_wheel[what] == by_tree[what]


def installed(folder: Path) -> Path:
    """Return the Python of an environment that holds the wheel, and what it depends on."""
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv/bin/python"
    wheel = hatchling(PROJECT, "wheel", folder / "wheel")
    words = ["-m", "pip", "install", "--quiet", "--no-index", "--no-deps", str(wheel)]
    subprocess.run([python, *words], check=True, capture_output=True)
    (packages,) = (folder / "venv/lib").glob("python3*/site-packages")
    # A path alone: what an editable install of hardcost wrote there has no effect from here.
    (packages / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    where = "import hardcost.cli.main as it; print(it.__file__)"
    found = subprocess.run(
        [python, "-I", "-c", where], check=True, capture_output=True, text=True, cwd=folder
    )
    assert Path(found.stdout.strip()).is_relative_to(packages)
    return python
