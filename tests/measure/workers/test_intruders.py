"""Who reaches the ports of a lab gets in nowhere without its key, from afar and from here."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.measure.workers.certificates import authority
from tests.measure.workers.hosts import LAB, Hosts, listening
from tests.measure.workers.labs import HARDCOST, START_SECONDS, until
from tests.measure.workers.sshserver import free_port
from tests.measure.workers.test_tls import options

INTRUDER = Path(__file__).with_name("intruder.py")
PATIENT = 300  # seconds, for who has to get in on a busy machine
ONE, ANY = "[00000000000000000000000001000000]", f"[{'0' * 32}]"  # ::1 and ::, as in /proc
COMMAND = (sys.executable, "-c", HARDCOST)


def has_ipv6() -> bool:
    with suppress(OSError), socket.socket(socket.AF_INET6) as one:
        one.bind(("::1", 0))
        return True
    return False


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    with Hosts() as hosts:
        yield hosts


@contextmanager
def started(
    folder: Path, name: str, said: str, words: Sequence[str], where: Sequence[str] = ()
) -> Iterator[tuple[int, Path]]:
    """Run hardcost until the block ends; give its process's number and what it says."""
    log = folder / f"{name}.log"
    own = {**os.environ, "HARDCOST_CACHE": str(folder / "cache")}
    with log.open("w") as errors:
        process = subprocess.Popen(
            [*where, *COMMAND, *words], env=own, stdout=errors, stderr=errors, text=True
        )
    try:
        until(log, said, process)
        yield process.pid, log
    finally:
        process.terminate()
        process.wait()


@contextmanager
def lab(
    folder: Path, address: str, *more: str, where: Sequence[str] = ()
) -> Iterator[tuple[str, str]]:
    """Run a scheduler and a worker; give their addresses, the only ones at which they listen."""
    worker = ("worker", address, "--guests", "1", "--builds", "0", *more)
    scheduler = ("cluster", "scheduler", "--address", address, *more)
    with (
        started(folder, "scheduler", "scheduler at", scheduler, where) as (first, _),
        started(folder, "worker", "guests at a time", worker, where) as (second, log),
    ):
        scheme, _, place = address.partition("://")
        assert listening(first) == {place}
        (port,) = listening(second)
        assert port.rpartition(":")[0] == place.rpartition(":")[0]
        assert ("can run programs as you" in log.read_text()) == (scheme == "tcp")
        yield address, f"{scheme}://{port}"


@dataclass
class Attempt:
    """An intruder who tries to run a program by an address, with files for TLS or without."""

    address: str
    files: Sequence[str] = ()
    where: Sequence[str] = ()
    user: int | None = None
    seconds: int = 20
    said: str = ""

    def start(self, mark: Path) -> subprocess.Popen[str]:
        argv: list[str | Path] = [*self.where, sys.executable, INTRUDER, self.address, mark]
        argv += self.files
        own = {
            **os.environ,
            "PYTHONWARNINGS": "ignore",
            "INTRUDER_SECONDS": str(self.seconds),
        } | ({} if self.user is None else {"INTRUDER": str(self.user)})
        return subprocess.Popen(argv, env=own, stdout=subprocess.PIPE, text=True)


def who_got_in(folder: Path, attempts: Sequence[Attempt]) -> list[Attempt]:
    """Make attempts, all at once; return those that ran their program."""
    marks = [folder / f"mark{number}" for number in range(len(attempts))]
    begun = [one.start(mark) for one, mark in zip(attempts, marks, strict=True)]
    for one, process in zip(attempts, begun, strict=True):
        one.said = process.communicate(timeout=START_SECONDS)[0]
        assert one.said.startswith(("in", "out"))
        assert "HTTP answers" not in one.said
    came = [one for one, mark in zip(attempts, marks, strict=True) if mark.exists()]
    for mark in marks:
        mark.rmdir() if mark.exists() else None
    return came


def without_certificate(
    places: Sequence[str], theirs: Sequence[str], where: Sequence[str] = ()
) -> list[Attempt]:
    """Return the attempts of an intruder without a certificate of the lab's."""
    bare = [Attempt(place.replace("tls:", "tcp:"), where=where) for place in places]
    return bare + [Attempt(place, theirs, where) for place in places]


@pytest.mark.slow
def test_from_another_host_nobody_gets_in_without_the_labs_certificate(
    hosts: Hosts, tmp_path: Path
) -> None:
    there = hosts.outside()
    ours, theirs = (authority(tmp_path, name) for name in ("ours", "theirs"))
    address = f"tls://{LAB}:8786"
    with lab(tmp_path, address, *options(ours), where=hosts.in_lab()) as places:
        assert who_got_in(tmp_path, without_certificate(places, theirs, there)) == []
        known = [Attempt(place, ours, there, seconds=PATIENT) for place in places]
        assert who_got_in(tmp_path, known) == known, known  # so it is the certificate that counts


@pytest.mark.slow
def test_another_host_does_not_reach_what_listens_on_loopback(hosts: Hosts, tmp_path: Path) -> None:
    address = "tcp://127.0.0.1:8786"
    with lab(tmp_path, address, where=hosts.in_lab()) as places:
        there = hosts.outside()
        others = [Attempt(place.replace("127.0.0.1", LAB), where=there) for place in places]
        assert who_got_in(tmp_path, others) == []
        assert all("connecting: ConnectionRefusedError" in one.said for one in others)
        locals_ = [Attempt(place, (), hosts.in_lab(), seconds=PATIENT) for place in places]
        assert who_got_in(tmp_path, locals_) == locals_  # as is said at the start


def test_with_the_certificate_of_the_run_nobody_on_this_host_gets_in(tmp_path: Path) -> None:
    theirs = authority(tmp_path, "theirs")
    with lab(tmp_path, f"tls://127.0.0.1:{free_port()}") as places:
        (kept,) = (tmp_path / "cache" / "labs").iterdir()
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
        assert who_got_in(tmp_path, without_certificate(places, theirs)) == []
        known = [Attempt(place, [str(kept)] * 3, seconds=PATIENT) for place in places]
        assert who_got_in(tmp_path, known) == known, known
    assert not kept.exists()


def test_a_worker_listens_where_it_is_told(tmp_path: Path) -> None:
    address, port = f"tcp://127.0.0.1:{free_port()}", free_port()
    worker = ("worker", address, "--guests", "1", "--builds", "0", "--listen", f"127.0.0.9:{port}")
    with (
        started(tmp_path, "s", "scheduler at", ("cluster", "scheduler", "--address", address)),
        started(tmp_path, "w", "guests at a time", worker) as (pid, _),
    ):
        assert listening(pid) == {f"127.0.0.9:{port}"}


def test_a_worker_says_where_it_can_t_listen(tmp_path: Path) -> None:
    address = f"tcp://127.0.0.1:{free_port()}"
    worker = ("worker", address, "--guests", "1", "--builds", "0", "--listen")
    with (
        socket.create_server(("127.0.0.9", 0)) as taken,
        started(tmp_path, "s", "scheduler at", ("cluster", "scheduler", "--address", address)),
    ):
        place = f"127.0.0.9:{taken.getsockname()[1]}"
        own = {**os.environ, "HARDCOST_CACHE": str(tmp_path / "cache")}
        done = subprocess.run(
            [*COMMAND, *worker, place], env=own, capture_output=True, text=True, check=False
        )
    assert done.returncode == 3, done.stderr
    assert f"the worker can't listen at {place}: Address already in use" in done.stderr


@pytest.mark.skipif(not has_ipv6(), reason="this host has no IPv6")
@pytest.mark.parametrize(("listen", "at"), [((), ONE), (("--listen", "[::]:0"), ANY)])
def test_a_lab_may_be_at_an_address_of_ipv6(tmp_path: Path, listen: Sequence[str], at: str) -> None:
    address = f"tls://[::1]:{free_port()}"
    worker = ("worker", address, "--guests", "1", "--builds", "0", *listen)
    with (
        started(tmp_path, "s", "scheduler at", ("cluster", "scheduler", "--address", address)),
        started(tmp_path, "w", "guests at a time", worker) as (pid, _),
    ):
        (place,) = listening(pid)
        assert place.rpartition(":")[0] == at


@pytest.mark.parametrize(
    "words",
    [
        ("worker", "tcp://192.0.2.1:8786"),
        ("worker", "tcp://127.0.0.1:8786", "--listen", "0.0.0.0"),  # noqa: S104  (refused)
        ("cluster", "scheduler", "--address", "tcp://192.0.2.1:8786"),
        ("cluster", "ssh", "--address", "tcp://192.0.2.1:8786", "lab2"),
        ("run", "audit-rules", "--workers", "tcp://192.0.2.1:8786"),
        ("kernel", "build", "--workers", "tcp://192.0.2.1:8786"),
    ],
)
def test_without_tls_the_network_is_refused(tmp_path: Path, words: Sequence[str]) -> None:
    done = subprocess.run(
        [*COMMAND, *words], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 2
    assert "without TLS, whoever reaches it can run programs as you" in done.stderr
    assert "--insecure" in done.stderr
