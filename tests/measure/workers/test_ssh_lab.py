"""A lab started over SSH, with a server of this test's own on the loopback network."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.measure.workers.labs import START_SECONDS, TICK_SECONDS, until
from tests.measure.workers.sshserver import free_port, server
from tests.measure.workers.test_machine import COMMAND, STUDY

__all__ = ["server"]  # a fixture


@contextmanager
def lab(folder: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Run `hardcost cluster ssh`; give its process and what it says."""
    python = shutil.which("python3", path=Path(sys.executable).parent) or sys.executable
    start = folder / "start"
    own_words = shlex.join([python, "-c", COMMAND[-1]])
    start.write_text(f'#!/bin/sh\nexec {own_words} "$@"\n')
    start.chmod(0o755)
    argv = [*COMMAND, "cluster", "ssh", "--command", str(start), *words]
    own = {**os.environ, "HARDCOST_CACHE": str(folder / "cache")}
    log = folder / "lab.log"
    with log.open("w") as said:
        process = subprocess.Popen(argv, env=own, stdout=said, stderr=said, cwd=folder, text=True)
    try:
        yield process, log
    finally:
        process.kill()
        process.wait()


def left(address: str) -> list[int]:
    """Return the programs that still have to do with a scheduler."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if address in line:
            found.append(int(folder.name))
    return found


@pytest.mark.parametrize(
    ("scheme", "number"),
    [
        ("tls", signal.SIGINT),
        pytest.param("tls", signal.SIGKILL, marks=pytest.mark.slow),
        pytest.param("tcp", signal.SIGINT, marks=pytest.mark.slow),
    ],
)
def test_a_run_uses_the_lab_and_nothing_outlives_it(
    server: Path, tmp_path: Path, scheme: str, number: signal.Signals
) -> None:
    address = f"{scheme}://127.0.0.1:{free_port()}"
    words = ("--address", address, "--ssh", f"ssh -F {server}", "--guests", "1", "--builds", "0")
    with lab(tmp_path, *words, "lab-one", "lab-two") as (process, log):
        for name in ("lab-one", "lab-two"):
            until(log, f"{name}: worker {name} at {address}: 1 guests at a time", process)
        (tmp_path / "study.toml").write_text(STUDY)
        run = ("run", "study.toml", "--machine", "fake", "--workers", address)
        own = {
            **os.environ,
            "HARDCOST_STORE": str(tmp_path / "x.sqlite"),
            "HARDCOST_CACHE": str(tmp_path / "cache"),
        }
        done = subprocess.run(
            [*COMMAND, *run], env=own, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert f"trials run on 2 workers at {address}, 2 guests at a time" in done.stderr
        process.send_signal(number)
        assert process.wait(START_SECONDS) == (130 if number == signal.SIGINT else -number)
        deadline = time.monotonic() + START_SECONDS
        while left(address):
            assert time.monotonic() < deadline, left(address)
            time.sleep(TICK_SECONDS)
    assert list((tmp_path / "cache" / "scratch").glob("*")) == []
    # The hosts got the lab's certificate on no disk. What the scheduler keeps for its own user goes
    # with it, unless it is killed: then it opens nothing any more, and the next one replaces it.
    kept = [path.parent for path in tmp_path.rglob("*.pem")]
    assert kept == [tmp_path / "cache" / "labs"] * (number == signal.SIGKILL)


NOISY = """#!/bin/sh
for last; do :; done
case "$*" in *"-- noisy "*) exec yes 'a line' >&2;; esac
exec sh -c "$last"
"""
"""Replaces ssh: runs the command here, and `noisy` is a host that prints without end."""


def test_a_host_that_prints_without_end_fills_no_disk_and_ends_nobody_else(tmp_path: Path) -> None:
    address = f"tcp://127.0.0.1:{free_port()}"
    ssh = tmp_path / "ssh"
    ssh.write_text(NOISY)
    ssh.chmod(0o755)
    words = ("--address", address, "--ssh", str(ssh), "--guests", "1", "--builds", "0")
    with lab(tmp_path, *words, "noisy", "quiet") as (process, log):
        until(log, "noisy: ssh to noisy was killed: it printed more than 1024 KiB", process)
        until(log, "quiet: worker quiet", process)
        process.send_signal(signal.SIGINT)
        assert process.wait(START_SECONDS) == 130
        assert log.stat().st_size < 4 << 20


def test_hosts_that_can_not_be_reached_are_named(tmp_path: Path) -> None:
    address, nobody = f"tcp://127.0.0.1:{free_port()}", free_port()
    with lab(tmp_path, "--address", address, "--ssh", f"ssh -p {nobody}", "127.0.0.1") as (
        process,
        log,
    ):
        assert process.wait(START_SECONDS) == 3
        said = log.read_text()
        assert "Connection refused" in said
        assert "127.0.0.1: its worker has ended, with status 255" in said
        assert "no worker runs any more on 1 host" in said
        assert "hardcost --version" in said
        assert not left(address)


def test_a_port_that_is_taken_is_an_error_with_its_reason(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        with lab(tmp_path, "--address", address, "--ssh", "true", "lab-one") as (process, log):
            assert process.wait(START_SECONDS) == 3
            assert f"the Dask scheduler does not start at {address}" in log.read_text()


def test_a_word_that_ssh_would_take_for_an_option_is_no_host(tmp_path: Path) -> None:
    with lab(tmp_path, "--", "-oProxyCommand=touch x") as (process, log):
        assert process.wait(START_SECONDS) == 2
        assert "is no host's name" in log.read_text()
    assert not (tmp_path / "x").exists()
