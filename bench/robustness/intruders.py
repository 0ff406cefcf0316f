"""Attacks a lab that is started in each documented way, from another host and as another user.

Run by hand, as root for the attempts of another user: `python -m bench.robustness.intruders`. The
other host is a network namespace with a cable to the lab's, and nothing here reaches any other
network. In each way a scheduler and a worker are started, and both ports are tried as `intruder.py`
does: without TLS, with the certificate of another lab, and, to know that the attempts are worth
something, with the lab's own. It prints a line for each way, and ends with status 1 if anybody got
in who should not, or a port was open that should not be.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess  # noqa: TID251  (what is run here is hardcost itself, and who attacks it)
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.measure.workers.certificates import authority
from tests.measure.workers.hosts import LAB, Hosts, listening
from tests.measure.workers.test_intruders import (
    INTRUDER,
    PATIENT,
    Attempt,
    started,
    who_got_in,
    without_certificate,
)
from tests.measure.workers.test_tls import options

_NOBODY = 65534
_EVERYWHERE = "0.0.0.0"  # noqa: S104  (with TLS)
_PORT = 8786
_NUMBERS = ("--guests", "1", "--builds", "0")
_SSH = """#!/bin/sh
for last; do :; done
export HARDCOST_CACHE={folder}/there
exec sh -c "$last"
"""


def main() -> None:
    """Print a line for each way to start a lab."""
    is_root = os.geteuid() == 0
    with (
        tempfile.TemporaryDirectory(prefix="intruders-") as name,
        Hosts(mapped=not is_root) as both,
    ):
        folder = Path(name)
        folder.chmod(0o711)
        for part in ("open", "files"):
            (folder / part).mkdir()
        (folder / "open").chmod(0o1777)  # marks, and certificates that everybody may read
        ours, theirs = (authority(folder / "open", title) for title in ("ours", "theirs"))
        named = options(ours)
        ways: dict[str, tuple[str, Sequence[str], Sequence[str]]] = {
            "cluster scheduler, worker; certificates of the user's": (f"tls://{LAB}", named, named),
            "the same on all of the host's addresses": (
                f"tls://{LAB}",
                named,
                (*named, "--listen", _EVERYWHERE),
            ),
            "cluster scheduler, worker; certificate of the run": ("tls://127.0.0.1", (), ()),
            "cluster ssh; certificate of the run": (f"tls://{LAB}", ("ssh",), ()),
            "cluster scheduler, worker; tcp on loopback": ("tcp://127.0.0.1", (), ()),
        }
        good = True
        for way, (address, first, second) in ways.items():
            with lab(folder / "files", both, f"{address}:{_PORT}", first, second) as pids:
                good &= attacked(way, folder, both, pids, ours if first == named else None, theirs)
    raise SystemExit(0 if good else 1)


@contextlib.contextmanager
def lab(
    folder: Path, both: Hosts, address: str, first: Sequence[str], second: Sequence[str]
) -> Iterator[tuple[int, ...]]:
    """Start a scheduler and a worker on the lab's host; give the numbers of the processes."""
    shutil.rmtree(folder)
    folder.mkdir(mode=0o755)
    where = both.in_lab()
    if first == ("ssh",):
        ssh = folder / "ssh"
        ssh.write_text(_SSH.format(folder=folder))
        ssh.chmod(0o755)
        python = f"{sys.executable} -c 'from hardcost.cli.main import main; main()'"
        words = ["cluster", "ssh", "--address", address, "--ssh", str(ssh), "--command", python]
        with started(folder, "lab", "guests at a time", [*words, *_NUMBERS, "lab2"], where) as one:
            yield one[0], *below(one[0])
        return
    scheduler = ["cluster", "scheduler", "--address", address, *first]
    worker = ["worker", address, *_NUMBERS, *second]
    with (
        started(folder, "scheduler", "scheduler at", scheduler, where) as one,
        started(folder, "worker", "guests at a time", worker, where) as other,
    ):
        yield one[0], other[0]


def below(pid: int) -> list[int]:
    """Return all descendants of a process."""
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [one for child in map(int, found) for one in (child, *below(child))]


def attacked(  # noqa: PLR0913, PLR0917  (each is a thing of its own)
    way: str,
    folder: Path,
    both: Hosts,
    pids: Sequence[int],
    known: Sequence[str] | None,
    theirs: Sequence[str],
) -> bool:
    """Attack a lab, print the outcome, and say whether that is as it should be."""
    ports = [sorted(found) for pid in pids if (found := listening(pid))]
    places = [f"{'tcp' if 'tcp' in way else 'tls'}://{one}" for found in ports for one in found]
    kept = next(iter((folder / "files" / "cache").glob("labs/*.pem")), None)
    if kept is not None:  # what the lab's own user has
        copy = folder / "open" / "copy.pem"
        shutil.copy(kept, copy)
        copy.chmod(0o644)
        known = [str(copy)] * 3
    users = [None, _NOBODY] if os.geteuid() == 0 else [None]
    outside = [place.replace(_EVERYWHERE, LAB).replace("127.0.0.1", LAB) for place in places]
    inside = [place.replace(_EVERYWHERE, "127.0.0.1") for place in places]
    attempts = without_certificate(outside, theirs, both.outside())
    for user in users:
        for one in without_certificate(inside, theirs, both.in_lab()):
            one.user = user
            attempts.append(one)
        if kept is not None and user is not None:
            attempts += [Attempt(place, [str(kept)] * 3, both.in_lab(), user) for place in inside]
    marks = folder / "open"
    came = who_got_in(marks, attempts)
    argv = [*both.outside(), sys.executable, str(INTRUDER), "--ports", LAB]
    seen = subprocess.run(  # noqa: S603  (ours)
        argv, capture_output=True, text=True, check=True
    ).stdout.split()
    reached = [one for one in places if "127.0.0.1" not in one]
    expected = sorted(one.rpartition(":")[2] for one in reached)
    if known is None:  # without TLS: who is on that host is in, as it says at the start
        local = [one for one in attempts if "127.0.0.1" in one.address and not one.files]
        good = all(one in local for one in came) and len(came) == len(local)
        control = f"on the host itself in {len(came)} of {len(local)}"
        came = [one for one in came if one not in local]
    else:
        right = [Attempt(place, known, both.in_lab(), user) for place in inside for user in users]
        right += [Attempt(place, known, both.outside()) for place in outside[: len(reached)]]
        for one in right:
            one.seconds = PATIENT
        got = who_got_in(marks, right)
        good = got == right and not came
        control = f"with the lab's certificate in {len(got)} of {len(right)}"
    good = good and len(ports) == len(pids[:2]) and sorted(seen) == expected
    print(
        f"{'ok ' if good else 'NOT'} {way}: {len(places)} ports listen, from the other host"
        f" {len(seen)} of 65535 are open; {len(attempts)} attempts, {len(came)} got in; {control}",
        flush=True,
    )
    for one in came:
        print(f"    {one}")
    return good


if __name__ == "__main__":
    main()
