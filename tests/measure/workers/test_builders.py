"""Kernels that workers build: side by side, the same as here, whatever becomes of a worker."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from hardcost.controls.configuration import Configuration
from hardcost.errors import MachineError, WorkersError
from hardcost.measure.workers.lab import Lab
from hardcost.measure.workers.machine import builders
from hardcost.mechanisms.kconfig import Kernel
from hardcost.model.role import Named
from hardcost.model.workload import Workload
from hardcost.plan.plan import Plan, Trial
from tests.fakes import machine
from tests.measure.workers.certificates import authority
from tests.measure.workers.labs import START_SECONDS, TICK_SECONDS, RunningLab
from tests.measure.workers.test_machine import (
    COMMAND,
    PAUSING,
    Heard,
    as_kept,
    measured,
    rows,
    running,
)
from tests.measure.workers.test_tls import options
from tests.supply.kernels import linux
from tests.supply.kernels.linux import THREE

FOR_EVER = "import tests.fakes.machine as fake; fake._PAUSE_SECONDS = 3600.0"
SLOW = linux.MAKEFILE.replace("vmlinux:\n", "vmlinux:\n\tsleep 10\n")


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[RunningLab]:
    with RunningLab(tmp_path) as lab:
        yield lab


def plan(kernels: int = 2) -> Plan:
    """Return trials on kernels whose builds take half a second, on the machine for tests."""
    configurations = [
        Configuration(Named(f"kernel {number}"), (Kernel(patches=(f"{number}.patch",)), PAUSING))
        for number in range(kernels)
    ]
    workload = Workload("syscalls", (("calls", "null"),))
    trials = tuple(Trial(one, workload, "insn", 0) for one in configurations)
    return Plan("study", "Study", "insn", Named("kernel 0"), trials)


def test_two_workers_build_side_by_side_and_the_records_are_the_same(
    lab: RunningLab, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        lab.worker(name, builds=1)
    heard = Heard()
    there = measured(lab.address, tmp_path / "there.sqlite", heard, plan())
    here = measured(None, tmp_path / "here.sqlite", Heard(), plan())
    assert as_kept(there) == as_kept(here)
    assert rows(tmp_path / "there.sqlite") == rows(tmp_path / "here.sqlite")
    begun = [n for n, note in enumerate(heard.notes) if note.startswith("building kernel")]
    ended = {note.split()[1]: n for n, note in enumerate(heard.notes) if "has built" in note}
    assert ended.keys() == {"one", "two"}
    assert max(begun) < min(ended.values())
    assert f"2 workers at {lab.address} can build 2 kernels at a time" in heard.notes


@pytest.mark.slow
def test_a_worker_that_is_killed_while_it_builds_costs_nothing_but_time(
    lab: RunningLab, tmp_path: Path
) -> None:
    lab.worker("runs")
    lab.worker("dies", 0, 1, first=FOR_EVER)

    def replaced() -> None:
        lab.worker("next", 0, 1)
        lab.kill("dies")

    heard = Heard()
    with once_it_builds(lab, replaced):
        there = measured(lab.address, tmp_path / "there.sqlite", heard, plan(1))
    assert as_kept(there) == as_kept(measured(None, tmp_path / "x.sqlite", Heard(), plan(1)))
    # Whether the run itself sees the other go depends on who is faster, Dask or the next look.
    assert any(note.startswith("worker next has built a kernel") for note in heard.notes)


def test_where_the_last_worker_that_builds_is_gone_this_host_does(
    lab: RunningLab, tmp_path: Path
) -> None:
    lab.worker("runs")
    lab.worker("dies", 0, 1, first=FOR_EVER)
    heard = Heard()
    with once_it_builds(lab, lambda: lab.kill("dies")):
        there = measured(lab.address, tmp_path / "there.sqlite", heard, plan())
    assert len(there) == 2
    (said,) = {note for note in heard.notes if note.endswith("kernels are built on this host")}
    assert "no worker at" in said
    assert "hardcost.builds" in said


class once_it_builds:  # noqa: N801  (read as a phrase)
    """Does something as soon as a worker of a lab has a task, beside what the block does."""

    def __init__(self, lab: RunningLab, then: Callable[[], object]) -> None:
        self._thread = threading.Thread(target=self._wait, args=(lab, then))

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._thread.join()

    @staticmethod
    def _wait(lab: RunningLab, then: Callable[[], object]) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not running(lab) and time.monotonic() < deadline:
            time.sleep(TICK_SECONDS)
        then()


def test_no_worker_for_builds_is_an_error_where_they_are_asked_for_and_a_note_in_a_run(
    lab: RunningLab, tmp_path: Path
) -> None:
    lab.worker("runs")
    message = rf"no worker at {lab.address} has the resource hardcost.builds \(1 worker without"
    with (
        pytest.raises(WorkersError, match=message),
        builders("fake", Lab(lab.address), print, asyncio.run),
    ):
        pass
    heard = Heard()
    assert len(measured(lab.address, tmp_path / "x.sqlite", heard, plan())) == 2
    assert any(note.endswith("kernels are built on this host") for note in heard.notes)


def test_a_worker_with_another_compiler_builds_nothing(
    lab: RunningLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.worker("odd", 0, 1)
    monkeypatch.setattr(machine, "build_facts", lambda: {"compiler": "gcc 99"})
    heard = Heard()
    with (
        pytest.raises(WorkersError, match=r"every worker at .* that builds kernels was refused"),
        builders("fake", Lab(lab.address), heard.note, asyncio.run),
    ):
        pass
    (said,) = heard.notes
    assert said == (
        "worker odd builds no kernels for this run: its compiler is missing, here it is gcc 99"
    )
    assert "a run gives this worker no kernels: its compiler" in lab.said_by("odd")


def test_a_build_that_fails_there_fails_here_with_its_reason(
    lab: RunningLab, tmp_path: Path
) -> None:
    failing = "from hardcost.errors import MachineError\nimport tests.fakes.machine as fake\n"
    failing += "async def built(*_):\n    raise MachineError('the compiler is out of memory')\n"
    lab.worker("fails", 2, 1, first=f"{failing}fake.built = built")
    with pytest.raises(MachineError, match="the compiler is out of memory"):
        measured(lab.address, tmp_path / "x.sqlite", Heard(), plan())


@pytest.mark.slow
def test_a_source_of_the_users_is_built_over_tls_though_a_worker_is_killed(tmp_path: Path) -> None:
    source = linux.make(tmp_path / "linux")
    (source / "Makefile").write_text(SLOW)
    (tmp_path / "three.patch").write_text(THREE)
    certificates = options(authority(tmp_path, "ours"))
    with RunningLab(tmp_path, "tls", certificates) as lab:
        dying = lab.worker("dies", 0, 1)
        where = ("--workers", lab.address, *certificates)
        interrupted = once_built(started(tmp_path, "there", *where), dying)
        interrupted.send_signal(signal.SIGINT)
        _, err = interrupted.communicate(timeout=START_SECONDS)
        assert interrupted.returncode == 130, err
        until_none(dying)
        there = once_built(started(tmp_path, "there", *where), dying)
        staying = lab.worker("stays", 0, 1)
        lab.kill("dies")
        came = built(there)
        until_none(dying)
        until_none(staying)
        lab.worker("dies", 0, 1)  # whoever uses the cache again sweeps
        lab.end("dies", "stays")
        for cache in (dying, staying):
            assert list((cache / "scratch").glob("*")) == []
            assert list((cache / "kernels").glob(".*")) == []
            assert len(list((cache / "supplies").glob("*"))) == 1
        assert list((dying / "kernels").glob("*")) == []
    here = built(started(tmp_path, "here"))
    assert came["name"] == here["name"]
    assert came["sha256"] == here["sha256"]
    assert Path(came["image"]).read_bytes() == Path(here["image"]).read_bytes()


def started(folder: Path, cache: str, *words: str) -> subprocess.Popen[str]:
    own = {**os.environ, "HARDCOST_CACHE": str(folder / cache)}
    build = ("kernel", "build", "--source", "linux", "--patch", "three.patch", "--format", "json")
    argv: Sequence[str] = [*COMMAND, *build, *words]
    pipe = subprocess.PIPE
    return subprocess.Popen(argv, env=own, cwd=folder, stdout=pipe, stderr=pipe, text=True)


def once_built(process: subprocess.Popen[str], cache: Path) -> subprocess.Popen[str]:
    """Wait until a kernel is built in a worker's cache for a command."""
    deadline = time.monotonic() + START_SECONDS
    while not builds(cache):
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(TICK_SECONDS)
    return process


def until_none(cache: Path) -> None:
    """Wait until no kernel is built in a worker's cache any more."""
    deadline = time.monotonic() + START_SECONDS
    while left := builds(cache):
        assert time.monotonic() < deadline, left
        time.sleep(TICK_SECONDS)


def built(process: subprocess.Popen[str]) -> dict[str, str]:
    out, err = process.communicate(timeout=START_SECONDS)
    assert process.returncode == 0, err
    (found,) = json.loads(out)
    return dict(found)


def builds(cache: Path) -> list[str]:
    """Return the command lines of programs that build a kernel in a cache."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if f"O={cache}/builds" in line and "vmlinux" in line:
            found.append(line)
    return found
