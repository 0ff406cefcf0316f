"""Calls are counted by the programs of the machine that runs the tests, else out of its /proc."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from auditrules.cost.histogram import general
from auditrules.cost.predict import Histogram
from auditrules.tables import lookup
from hardcost.errors import MachineError
from hardcost.in_force.calls import Sample, counted, counting_script
from hardcost.in_force.files import MachineFiles

BUSY = "import os\nwhile True: os.stat('/'); os.getppid()"


def of(mix: Histogram, *names: str) -> float:
    return sum(count for key, count in mix.items() if lookup.call_name(*key) in names)


@contextmanager
def running(text: str) -> Iterator[int]:
    """Run a program, and end it."""
    argv = [sys.executable, "-c", f"print(flush=True)\n{text}"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()  # it is past the calls of its start
            yield process.pid
        finally:
            process.kill()


@pytest.fixture
def busy() -> Iterator[int]:
    """Run a process that calls stat and getppid."""
    with running(BUSY) as number:
        yield number


def test_strace_counts_the_calls_of_one_process(busy: int) -> None:
    found = counted(MachineFiles().count_calls(Sample(1, busy)))
    assert found.by == "strace"
    looked_up = of(found.mix, "stat", "newfstatat")
    assert looked_up > 100
    assert abs(looked_up - of(found.mix, "getppid")) <= 1
    assert found.calls == sum(found.mix.values())


def test_the_machine_s_calls_are_counted_by_whatever_may(busy: int) -> None:
    assert busy
    found = counted(MachineFiles().count_calls(Sample(1)))
    if found.by == "proc":  # neither program is here, or may count
        assert found.why
    else:
        assert of(found.mix, "getppid") > 1000
        assert found.calls > of(found.mix, "getppid")


WRITING = """
import os
null = os.open("/dev/null", os.O_WRONLY)
while True: os.write(null, b"")
"""


def without_programs(folder: Path, words: Sequence[str]) -> str:
    """Return what is counted on a machine that has neither bpftrace nor perf."""
    for name in ("cat", "grep", "head", "sh", "sleep"):
        (folder / name).symlink_to(f"/usr/bin/{name}")
    argv = ["sh", "-c", f'{counting_script()}\ncount_calls "$@"', "sh", *words]
    ended = subprocess.run(
        argv, env={"PATH": str(folder)}, capture_output=True, check=True, text=True
    )
    assert not ended.stderr
    return ended.stdout


def test_without_programs_proc_has_reads_writes_and_new_processes(tmp_path: Path) -> None:
    with running(WRITING):
        found = counted(without_programs(tmp_path, ("1",)))
    assert found.by == "proc"
    assert found.why == "bpftrace is not installed; perf is not installed"
    usual = general()
    assert of(found.mix, "write", "pwrite") > 10_000
    assert of(found.mix, "clone", "clone3", "vfork") >= 1  # its own
    # All else is as frequent beside reads and writes as it is in the mix of a usual system.
    assert of(found.mix, "futex") / of(found.mix, "read", "pread", "write", "pwrite") == (
        pytest.approx(of(usual, "futex") / of(usual, "read", "pread", "write", "pwrite"))
    )


PROC = """proc
perf is not installed;
processes 100
/proc/1/io:syscr: 10
/proc/1/io:syscw: 5
/proc/2/io:syscr: 900
after
processes 104
/proc/1/io:syscr: 30
/proc/1/io:syscw: 12
/proc/3/io:syscw: 1
"""


def test_a_process_that_ended_takes_nothing_away() -> None:
    found = counted(PROC)
    assert found.calls == 20 + 8 + 4
    assert of(found.mix, "read", "pread") == pytest.approx(20)
    assert of(found.mix, "write", "pwrite") == pytest.approx(8)
    assert of(found.mix, "clone", "clone3", "vfork") == pytest.approx(4)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "were not counted"),
        ("\x1b[2J\n", "were not counted"),
        ("strace\nstrace: attach: \x1b[2JOperation not permitted\n", "not permitted"),
        ("perf\n", "counted no system calls"),
        ("proc\n\n", "shows no reads or writes"),
        ("proc\nx\nprocesses 5\nafter\nprocesses 9\n", "shows no reads or writes"),
    ],
)
def test_nothing_counted_says_why(text: str, said: str) -> None:
    with pytest.raises(MachineError, match=said) as raised:
        counted(text)
    assert str(raised.value).replace("\n", "").isprintable()


def test_a_process_that_is_not_there_is_no_count() -> None:
    with pytest.raises(MachineError, match="No such process"):
        counted(MachineFiles().count_calls(Sample(1, os.getpid() + 4_000_000)))
