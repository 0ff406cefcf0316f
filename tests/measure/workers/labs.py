"""A Dask scheduler and workers as processes of this host, each with its own cache, for tests."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

HARDCOST = "from hardcost.cli.main import main; main()"
START_SECONDS = 600.0  # on a busy machine: only a hang is a failure
TICK_SECONDS = 0.1


def until(path: Path, words: str, process: subprocess.Popen[str]) -> None:
    """Wait until a process has written some words."""
    deadline = time.monotonic() + START_SECONDS
    while words not in (said := path.read_text()):
        assert process.poll() is None, said
        assert time.monotonic() < deadline, said
        time.sleep(TICK_SECONDS)


@dataclass
class RunningLab:
    """A scheduler's address, and what was started; `tls` are options with certificates."""

    folder: Path
    scheme: str = "tcp"
    tls: Sequence[str] = ()
    port: int = 0
    settings: dict[str, str] = field(default_factory=dict)
    scheduler: subprocess.Popen[str] | None = None
    started: dict[str, subprocess.Popen[str]] = field(default_factory=dict)

    @property
    def address(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.end()

    def open(self) -> Self:
        """Start the scheduler, at the port that it had if it was there before."""
        if not self.port:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                self.port = free.getsockname()[1]
        words = ["--host", self.address, "--no-dashboard"]
        if self.tls:
            ca, cert, key = self.tls[1::2]
            words += ["--tls-ca-file", ca, "--tls-cert", cert, "--tls-key", key]
        argv = [sys.executable, "-m", "dask", "scheduler", *words]
        self.scheduler = self.start("scheduler", argv, "Scheduler at:", **self.settings)
        return self

    def worker(
        self, name: str, guests: int = 2, builds: int = 0, *, first: str = "", **own: str
    ) -> Path:
        """Start a worker, which runs `first` before it begins; return its cache."""
        argv = [sys.executable, "-c", f"{first}\n{HARDCOST}", "worker", self.address]
        argv += ["--guests", str(guests), "--builds", str(builds), "--name", name, *self.tls]
        cache = self.folder / f"cache-{name}"
        own = {"HARDCOST_CACHE": str(cache), **own}
        self.start(name, argv, "guests at a time", **own)
        return Path(own["HARDCOST_CACHE"])

    def start(
        self, name: str, argv: Sequence[str], until_said: str, **own: str
    ) -> subprocess.Popen[str]:
        """Start a program and wait for its words."""
        path = self.folder / f"{name}.log"
        with path.open("w") as log:
            process = subprocess.Popen(
                argv, env={**os.environ, **own}, stdout=log, stderr=log, cwd=self.folder, text=True
            )
        self.started[name] = process
        until(path, until_said, process)
        return process

    def said_by(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text()

    def kill(self, name: str) -> None:
        process = self.started.pop(name)
        process.kill()
        process.wait()

    def end(self, *names: str) -> None:
        """End those processes, or all, in good order."""
        for name in reversed(names or list(self.started)):
            process = self.started.pop(name)
            process.terminate()
            process.wait()
