"""The command that starts the probe: in any folder, with nothing but `sh` and coreutils."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import time
from pathlib import Path

from hardcost.machines.real import probe_command


def probe_in(folder: Path, script: str) -> None:
    """Write a script in place of the probe."""
    probe = folder / "hardcost-probe"
    probe.write_text(f"#!/bin/sh\n{script}\n")
    probe.chmod(0o755)


def started(argv: list[str], job: str, **environment: str) -> tuple[str, int]:
    """Start that, send a job, wait for the end, and return what was said, and the status."""
    with subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(job)
        process.stdin.flush()
        return process.stdout.read(), process.wait()


def test_the_probe_gets_its_job_and_a_scratch_folder_that_goes_with_it(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    probe_in(tmp_path, f'echo "$1 $2"; cat; ls -d "{scratch}"; exit 3')
    argv = probe_command.words(str(tmp_path), None, str(scratch), 1.5, 4)
    assert started(argv, "job\n") == (f"serve 2\njob\n{scratch}\n", 3)
    assert not scratch.exists()


def test_when_nobody_listens_any_more_all_that_came_of_the_probe_ends(tmp_path: Path) -> None:
    """The shell is killed, as it is where hardcost is, and the stream of the job ends with it."""
    scratch = tmp_path / "scratch"
    probe_in(tmp_path, "setsid sh -c 'sleep 300 & echo $!; wait' & wait")
    argv = probe_command.words(str(tmp_path), None, str(scratch), 60, 0)
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        sleeping = Path("/proc") / process.stdout.readline().decode().strip()
        assert sleeping.exists()
        process.kill()
        process.stdin.close()
        for _ in range(200):
            if not sleeping.exists() and not scratch.exists():
                break
            time.sleep(0.05)
    assert not sleeping.exists()
    assert not scratch.exists()


def test_only_the_folders_of_measured_processes_go_with_a_probe_that_is_cut_off(
    tmp_path: Path,
) -> None:
    number = secrets.randbelow(10**12) + 10**12  # no probe's, whose numbers are of processes
    work, own = (Path("/tmp", f"work.{one}") for one in (number, number + 1))  # noqa: S108  (ours)
    kept = [work.with_name(f"{work.name}x"), own / "in it", own, tmp_path / "work.1"]
    for folder in (work, *reversed(kept)):
        folder.mkdir()
    try:
        scratch = tmp_path / "scratch"
        sleepers = [f"(cd '{folder}'; exec sleep 300) &" for folder in (work, *kept[:2], kept[3])]
        probe_in(tmp_path, "\n".join(sleepers) + "\nsleep 1\necho\nwait")
        argv = probe_command.words(str(tmp_path), None, str(scratch), 60, 0)
        with subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=own
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdout.readline()
            process.kill()
            process.stdin.close()
            for _ in range(400):
                if not work.exists() and not scratch.exists():
                    break
                time.sleep(0.05)
        assert not work.exists()
        assert [one.exists() for one in kept] == [True] * 4
    finally:
        for folder in (work, *kept):
            if folder.exists():
                folder.rmdir()


def test_the_probe_is_told_its_processor_and_nothing_else_is_needed(tmp_path: Path) -> None:
    probe_in(tmp_path, 'echo "$@"')
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("cat", "head", "mkdir", "mkfifo", "readlink", "rm", "sh"):
        (programs / name).symlink_to(str(shutil.which(name)))
    argv = probe_command.words(str(tmp_path), 5, str(tmp_path / "scratch"), 1, 0)
    assert started(["/bin/sh", *argv[1:]], "", PATH=str(programs)) == ("serve 1 5\n", 0)


def test_the_hash_stands_for_all_three_programs(tmp_path: Path) -> None:
    for name in probe_command.PROGRAMS:
        (tmp_path / name).write_text(name)
    one = probe_command.programs_hash(tmp_path)
    (tmp_path / probe_command.PROGRAMS[2]).write_text("other")
    assert probe_command.programs_hash(tmp_path) != one
