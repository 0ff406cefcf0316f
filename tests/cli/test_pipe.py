"""The command as a shell starts it, with streams whose other end is closed."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COMMAND = (sys.executable, "-c", "from hardcost.cli.main import main; main()")
SIGPIPE_STATUS = 141


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "x.rules"
    path.write_text("".join(f"-w /srv/{at} -p wa\n" for at in range(300)))
    return path


@contextmanager
def closed() -> Iterator[int]:
    """A pipe's end to be written to, whose reader is gone."""
    reads, writes = os.pipe()
    os.close(reads)
    try:
        yield writes
    finally:
        os.close(writes)


@pytest.mark.parametrize(
    "words",
    [
        ("rules", "lint", "RULES", "--all"),
        ("rules", "lint", "RULES", "--format", "json"),
        ("rules", "lint", "RULES", "--format", "sarif"),
        ("rules", "cost", "RULES"),
        ("rules", "lint", "--list"),
        ("list", "studies"),
        ("list", "studies", "--format", "json"),
        ("--help",),
        ("rules", "--help"),
        ("--version",),
    ],
)
def test_a_reader_that_is_gone_ends_it_quietly_as_sigpipe_would(
    rules: Path, words: tuple[str, ...]
) -> None:
    argv = [str(rules) if word == "RULES" else word for word in words]
    with closed() as out:
        ended = subprocess.run(
            [*COMMAND, *argv], stdout=out, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (ended.returncode, ended.stderr) == (SIGPIPE_STATUS, "")


def test_a_named_stdout_is_a_pipe_as_any_other(rules: Path) -> None:
    rules.write_text("-w /srv/x -p wa\n")
    argv = [*COMMAND, "rules", "optimize", str(rules), "-o", "/dev/stdout", "--no-least"]
    read = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert "/srv/x" in read.stdout
    assert "exists" not in read.stderr
    with closed() as out:
        ended = subprocess.run(argv, stdout=out, stderr=subprocess.PIPE, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (SIGPIPE_STATUS, "")


def test_a_reader_that_leaves_after_a_line_ends_it_quietly(rules: Path) -> None:
    argv = [*COMMAND, "rules", "lint", str(rules), "--all"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as started:
        assert started.stdout is not None
        assert started.stderr is not None
        assert started.stdout.readline().decode().strip() == str(rules)
        started.stdout.close()
        said = started.stderr.read()
    assert (started.returncode, said) == (SIGPIPE_STATUS, b"")


@pytest.mark.parametrize("words", [("nonsense",), ("rules", "cost", "RULES")])
def test_bad_usage_and_input_keep_their_status_where_nobody_reads_why(
    rules: Path, words: tuple[str, ...]
) -> None:
    rules.write_text("-w relative\n")
    argv = [str(rules) if word == "RULES" else word for word in words]
    with closed() as gone:
        ended = subprocess.run([*COMMAND, *argv], stdout=gone, stderr=gone, check=False)
    assert ended.returncode == 2


def test_a_full_disk_is_no_closed_pipe(rules: Path) -> None:
    with open("/dev/full", "wb") as full:  # noqa: PTH123  (it is a device)
        ended = subprocess.run(
            [*COMMAND, "rules", "lint", str(rules)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.returncode == 3
    assert ended.stderr == "error: No space left on device\n  hint: free some space on its disk\n"
