"""A fault of hardcost's own: no answer, no noise, and all that a report of it needs."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

FAULTY = """
import sys
from hardcost.cli.verbs import list_
from hardcost.cli.main import main

def fail(*_):
    raise RuntimeError("a \\x1b[2Jfault\\nin two lines")

list_._entries = fail
main()
"""


def faulty(
    cache: Path, *words: str, source: str = FAULTY, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", source, *words],
        env={**os.environ, "HARDCOST_CACHE": str(cache), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_crash_is_no_answer_and_leaves_its_traceback_in_a_file(tmp_path: Path) -> None:
    ended = faulty(tmp_path / "cache", "list", "studies")
    assert ended.returncode == 70
    assert not ended.stdout
    assert "error: this is a fault in hardcost: RuntimeError: a \\x1b[2Jfault" in ended.stderr
    assert "Traceback" not in ended.stderr
    (log,) = (tmp_path / "cache" / "logs").glob("crash-*.txt")
    assert f"the traceback is in {log}" in ended.stderr
    text = log.read_text()
    assert text.startswith("hardcost list studies\nhardcost ")
    assert "Traceback (most recent call last)" in text
    assert "in fail" in text


@pytest.mark.parametrize(
    ("words", "environment"),
    [
        (("--debug", "list", "studies"), {}),
        (("list", "studies"), {"HARDCOST_DEBUG": "1"}),
    ],
)
def test_who_asks_for_it_sees_the_traceback_at_once(
    tmp_path: Path, words: tuple[str, ...], environment: dict[str, str]
) -> None:
    ended = faulty(tmp_path / "cache", *words, **environment)
    assert ended.returncode == 70
    assert "Traceback (most recent call last)" in ended.stderr
    assert "\x1b" not in ended.stderr


def test_a_traceback_that_has_no_place_is_printed(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ended = faulty(tmp_path / "file", "list", "studies")
    assert ended.returncode == 70
    assert "Traceback (most recent call last)" in ended.stderr


@pytest.mark.parametrize("mebibytes", [60, 100, 125, 140, 180])
def test_want_of_memory_is_no_answer_wherever_it_strikes(tmp_path: Path, mebibytes: int) -> None:
    most = mebibytes << 20
    ended = subprocess.run(
        [sys.executable, "-c", "from hardcost.cli.main import main; main()", "run", "none.toml"],
        env={**os.environ, "HARDCOST_CACHE": str(tmp_path / "cache")},
        cwd=tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,  # OpenBLAS asked for memory without end
    )
    assert not ended.stdout
    if ended.returncode == -signal.SIGABRT:  # what is written in Rust ends the process by itself
        assert "memory allocation of" in ended.stderr
        return
    assert ended.returncode == 3
    assert "error: there is not enough memory" in ended.stderr
    assert "Traceback" not in ended.stderr


LIMIT = "import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 40, 1 << 40))\n"
"""More than is asked for: memory is bounded, and does not lack."""


@pytest.mark.parametrize(("bounded", "status"), [(LIMIT, 3), ("", 70)])
def test_a_fault_of_the_interpreter_is_want_of_memory_where_that_is_bounded(
    tmp_path: Path, bounded: str, status: int
) -> None:
    source = bounded + FAULTY.replace("RuntimeError", "SystemError")
    ended = faulty(tmp_path / "cache", "list", "studies", source=source)
    assert ended.returncode == status
    assert ("not enough memory" in ended.stderr) == bool(bounded)
