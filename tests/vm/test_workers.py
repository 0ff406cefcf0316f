"""Real guests on workers, each with its own cache: the same counts, and nothing left behind."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.measure.workers.labs import RunningLab
from tests.studies import of_rules
from tests.vm.conftest import Command

pytestmark = pytest.mark.vm

STUDY = of_rules("a few trials", "null+open", range(8))
STAND_IN = "#!/bin/sh\necho 'QEMU emulator version 9.9.9 (another)'\n"
LIMIT_SECONDS = 240.0


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[RunningLab]:
    with RunningLab(tmp_path) as lab:
        yield lab


@pytest.mark.slow
def test_cells_are_those_of_this_host_though_a_worker_dies_with_its_guest(
    hardcost: Command, lab: RunningLab, tmp_path: Path
) -> None:
    study = hardcost.write("study.toml", STUDY)
    here = hardcost("run", study, "--format", "json", "--fresh").raw_cells()
    caches = {name: lab.worker(name, 1) for name in ("stays", "dies")}
    words = ("run", study, "--format", "json", "--fresh", "--workers", lab.address)
    process = hardcost.start(*words, "--progress", "json")
    dying = lab.started["dies"]
    guests = Command(tmp_path, caches["dies"])
    assert process.stderr is not None
    for line in process.stderr:
        if '"advance", "name": "trials"' in line:
            break
    deadline = time.monotonic() + LIMIT_SECONDS
    while not guests.guests(dying):
        assert process.poll() is None, "it ended before the worker had another guest"
        assert time.monotonic() < deadline
    lab.kill("dies")
    assert guests.outlived(dying) == []
    there = hardcost.end(process)
    assert there.status == 0, there.err
    assert there.raw_cells() == here
    assert "worker dies is gone; its trials run elsewhere" in there.err
    lab.end("stays")
    assert Command(tmp_path, caches["stays"]).outlived(dying) == []
    assert list((caches["stays"] / "scratch").glob("*")) == []


def test_a_worker_whose_qemu_is_another_is_refused(
    hardcost: Command, lab: RunningLab, tmp_path: Path
) -> None:
    program = tmp_path / "bin" / "qemu-system-x86_64"
    program.parent.mkdir()
    program.write_text(STAND_IN)
    program.chmod(0o755)
    lab.worker("odd", PATH=f"{program.parent}:{os.environ['PATH']}")
    study = hardcost.write("study.toml", STUDY)
    said = hardcost("run", study, "--workers", lab.address, status=3).err
    assert "worker odd is refused: its QEMU is 9.9.9 (another), here it is " in said
    assert f"every worker at {lab.address} was refused" in said
