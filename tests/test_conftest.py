"""The tests mean the same wherever they are run, and measuring their coverage takes little."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PARENT = """
import os, signal, subprocess, sys
from conftest import heed_again

numbers = (signal.SIGHUP, signal.SIGINT)
for number in numbers:
    signal.signal(number, signal.SIG_IGN)
heed_again(*numbers)
for number in numbers:
    os.kill(os.getpid(), number)
subprocess.run([sys.executable, "-c", sys.argv[1]], check=True)
"""
CHILD = """
import signal
print(signal.getsignal(signal.SIGHUP) is signal.SIG_DFL)
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""


def test_below_nohup_what_tests_start_heeds_signals_and_the_tests_do_not() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PARENT, CHILD], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "True"]


def test_a_test_removes_no_tree_that_it_did_not_make(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    shutil.rmtree(tmp_path / "own")
    said = subprocess.run(["mktemp", "--directory"], check=True, capture_output=True, text=True)
    other = Path(said.stdout.strip())
    other.mkdir(exist_ok=True)  # which makes nothing
    (tmp_path / "link").symlink_to(other)
    try:
        for path in (other, tmp_path / "link"):
            with pytest.raises(RuntimeError, match=f"no test made {other}"):
                shutil.rmtree(path, ignore_errors=True)
        assert other.is_dir()
    finally:
        other.rmdir()


MEASURED = """
import coverage, sys
from pathlib import Path
from conftest import measured_for

code = Path(sys.argv[1])
sys.path.insert(0, str(code.parent))
measured = coverage.Coverage(data_file=None, include=[str(code)], config_file=False)
measured.start()
import functions
with measured_for(measured, 60):
    functions.first()
with measured_for(measured, 0):
    functions.second()
with measured_for(measured, 0.01):
    functions.third()
functions.last()
measured.stop()
print(*measured.analysis(str(code))[2])
"""
FUNCTIONS = """
def first():
    return 1
def second():
    return 2
def third():
    for _ in range(10**7):
        pass
    return 3
def last():
    return 4
"""


def test_what_takes_long_and_what_boots_is_not_measured_to_its_end(tmp_path: Path) -> None:
    code = tmp_path / "functions.py"
    code.write_text(FUNCTIONS)
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(code)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["5", "9"]


TIMED = """
import pytest

@pytest.fixture
def costly():
    raise RuntimeError("no test needs it")

@pytest.mark.slow
def test_slow(costly): ...

def test_quick(): ...
"""


def test_a_slow_test_that_would_begin_too_late_is_skipped_before_its_fixtures(
    tmp_path: Path,
) -> None:
    root = Path(__file__).parents[1]
    (tmp_path / "conftest.py").write_text((root / "conftest.py").read_text())
    (tmp_path / "test_it.py").write_text(TIMED)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", str(tmp_path)],
        env={**os.environ, "HARDCOST_SLOW_TESTS_UNTIL": "0", "PYTHONPATH": str(root)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 passed, 1 skipped" in done.stdout, done.stdout
    assert "this machine is too slow for it" in done.stdout
