"""The command as a shell starts it, with streams whose other end is closed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

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
    argv = [*COMMAND, "rules", "optimize", str(rules), "-o", "/dev/stdout"]
    read = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert "/srv/x" in read.stdout
    assert "exists" not in read.stderr
    with closed() as out:
        ended = subprocess.run(argv, stdout=out, stderr=subprocess.PIPE, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (SIGPIPE_STATUS, "")


def test_a_reader_that_leaves_after_a_line_ends_it_quietly(rules: Path) -> None:
    rules.write_text("".join(f"-w /srv/{at} -p wa\n" for at in range(900)))
    argv = [*COMMAND, "rules", "lint", str(rules), "--all"]
    # A pipe holds less. What it did not take, Python leaves out silently where it does not buffer.
    own = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=own) as started:
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


@pytest.mark.parametrize("numbers", [(0,), (1,), (2,), (0, 1), (0, 1, 2)])
@pytest.mark.parametrize("words", [("rules", "lint", "RULES"), ("rules", "lint", "-")])
def test_closed_standard_streams_are_nobodys(
    rules: Path, words: tuple[str, ...], numbers: tuple[int, ...]
) -> None:
    argv = [str(rules) if word == "RULES" else word for word in words]

    def close() -> None:
        for number in numbers:
            os.close(number)

    ended = subprocess.run(
        [*COMMAND, *argv],
        stdin=None if 0 in numbers else subprocess.DEVNULL,
        stdout=None if 1 in numbers else subprocess.PIPE,
        stderr=None if 2 in numbers else subprocess.PIPE,
        preexec_fn=close,
        check=False,
    )
    assert (ended.returncode, ended.stderr or b"") == (0, b"")


def test_no_file_gets_the_number_of_a_closed_stream(tmp_path: Path) -> None:
    code = (
        "import os; from hardcost.cli.main import _open_streams; _open_streams();"
        " print(os.open('x', os.O_RDWR | os.O_CREAT), os.readlink('/proc/self/fd/0'))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        preexec_fn=lambda: os.close(0),
        check=True,
    )
    assert int(ended.stdout.split()[0]) > 2
    assert ended.stdout.split()[1] == b"/dev/null"
