"""Another user of the same host, who tries to change what a running guest says, or to end it.

Whatever the kernel may let a process do to another one, or to its files, is tried, with what was
found of a trial as it runs. Nothing is asked of hardcost: who forges looks into /proc.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import multiprocessing
import os
import resource
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

NOBODY = 65534
_LIBC = ctypes.CDLL(None, use_errno=True)
_ATTACH, _DETACH = 16, 17  # requests of ptrace(2)
_GETFD, _OPENFD = 438, 434  # pidfd_getfd, pidfd_open: numbers of system calls
_SHOWN, _FORGED = b"502", b"102"  # a call's instructions in some answer, and what is made of them
_UNMAPPED = 0x1000  # an address at which no process has anything
_PAUSE_SECONDS = 0.1
_DEATH_SECONDS = 30.0


@dataclass(frozen=True)
class Guest:
    """A QEMU that runs: its process, and the folder of its trial, which its command line names."""

    pid: int
    folder: Path


def guests(scratch: Path) -> Iterator[Guest]:
    """Yield the guests of trials whose folders lie in `scratch`."""
    for process in Path("/proc").iterdir():
        if not process.name.isdecimal():
            continue
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
            named = next((word for word in words if word.startswith(f"guest={scratch}/")), None)
            if named is not None and words[0].startswith("qemu"):
                yield Guest(int(process.name), Path(named.removeprefix("guest=")))


def tried(guest: Guest) -> list[str]:
    """Try everything; return what worked."""
    worked = []
    for name, attempt in _attempts(guest).items():
        with contextlib.suppress(OSError):
            attempt()
            worked.append(name)
    return worked


def _attempts(guest: Guest) -> dict[str, Callable[[], object]]:
    process, pid = Path("/proc", str(guest.pid)), guest.pid
    files = ("answers", "serial", "console", "job", "errors", "profile", "plugin", "symbols")
    return {
        "list the folder": partial(os.listdir, guest.folder),
        "add to the folder": (guest.folder / "more").touch,
        **{f"read {name}": (guest.folder / name).read_bytes for name in files},
        **{f"write {name}": partial(_forge, guest.folder / name) for name in files},
        "list what it has open": partial(os.listdir, process / "fd"),
        **{f"reopen {n}": partial(_forge, process / "fd" / str(n)) for n in range(3, 40)},
        **{f"take {n}": partial(_take, pid, n) for n in range(3, 40)},
        "enter its folder": partial(os.listdir, process / "cwd" / "."),
        "read its memory": partial(_open_memory, process, os.O_RDONLY),
        "write its memory": partial(_open_memory, process, os.O_RDWR),
        "write its memory by a call": partial(_write, pid),
        "map its memory": partial(_read, process / "maps"),
        "read its environment": partial(_read, process / "environ"),
        "trace it": partial(_trace, pid),
        "limit it": partial(resource.prlimit, pid, resource.RLIMIT_FSIZE, (1, 1)),
        "move it": partial(os.sched_setaffinity, pid, os.sched_getaffinity(0)),
        "slow it down": partial(os.setpriority, os.PRIO_PROCESS, pid, 19),
        "have it killed first": partial((process / "oom_score_adj").write_text, "1000"),
        "wake it": partial(os.kill, pid, signal.SIGCONT),
    }


def _forge(place: Path) -> None:
    """Open a file for writing, and put another number into what it says."""
    with place.open("r+b", buffering=0) as file:
        said = file.read(1 << 20)
        file.seek(0)
        file.write(said.replace(_SHOWN, _FORGED))


def _read(place: Path) -> None:
    """Read what the kernel says of a process; of one that is ending it says nothing to anybody."""
    if not place.read_bytes():
        raise ProcessLookupError


def _open_memory(process: Path, way: int) -> None:
    """Open a process's memory, and read where nothing is mapped; one that ends has no memory."""
    memory = os.open(process / "mem", way)
    try:
        if not os.pread(memory, 1, _UNMAPPED):
            raise ProcessLookupError
    except OSError as error:
        if error.errno != errno.EIO:
            raise
    finally:
        os.close(memory)


def _checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def _take(pid: int, number: int) -> None:
    process = _checked(_LIBC.syscall(_OPENFD, pid, 0))
    try:
        os.close(_checked(_LIBC.syscall(_GETFD, process, number, 0)))
    finally:
        os.close(process)


def _write(pid: int) -> None:
    class Piece(ctypes.Structure):
        _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))

    content = ctypes.create_string_buffer(8)
    here = Piece(ctypes.addressof(content), 8)
    # Nothing is mapped there: who may write gets EFAULT, who may not EPERM.
    there = Piece(_UNMAPPED, 8)
    written = _LIBC.process_vm_writev(pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
    if written < 0 and ctypes.get_errno() != errno.EFAULT:
        _checked(written)


def _trace(pid: int) -> None:
    _checked(_LIBC.ptrace(_ATTACH, pid, None, None))
    os.waitpid(pid, 0)
    _LIBC.ptrace(_DETACH, pid, None, None)


@contextlib.contextmanager
def forging(scratch: Path, user: int, *, group: int | None = None) -> Iterator[Forger]:
    """Have a process of `user` without rights try everything on each guest, until the block ends.

    This process has to be root, unless it is that user.
    """
    ours, theirs = multiprocessing.Pipe()
    pid = os.fork()
    if not pid:
        status = 1
        try:
            _become(user, user if group is None else group)
            _forge_on(scratch, theirs)
            status = 0
        finally:
            os._exit(status)
    theirs.close()
    forger = Forger()
    try:
        yield forger
    finally:
        ours.send(None)
        seconds = time.monotonic() + _DEATH_SECONDS
        if ours.poll(_DEATH_SECONDS):
            with contextlib.suppress(EOFError):
                forger.guests, forger.worked = ours.recv()
        while os.waitpid(pid, os.WNOHANG) == (0, 0) and time.monotonic() < seconds:
            time.sleep(_PAUSE_SECONDS)
        ours.close()


@dataclass
class Forger:
    """What the forger found: so many guests, and what worked on any; None: not known."""

    guests: int | None = None
    worked: list[str] | None = None


def _become(user: int, group: int) -> None:
    if os.geteuid() != user:
        os.setgroups([])
        os.setresgid(group, group, group)
        os.setresuid(user, user, user)


def _forge_on(scratch: Path, until: Connection) -> None:
    seen: set[int] = set()
    worked: dict[str, None] = {}
    while not until.poll(_PAUSE_SECONDS):
        for guest in guests(scratch):
            seen.add(guest.pid)
            worked |= dict.fromkeys(tried(guest))
    until.send((len(seen), list(worked)))
