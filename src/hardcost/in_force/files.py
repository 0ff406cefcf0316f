"""Files of a machine, or below the root of another one.

Every path is resolved as if the root were `/`: a symbolic link, be it absolute or with `..`, leads
nowhere outside, so that a hostile root can't have other files read. Only regular files are read, of
bounded size; what may not be read is remembered.
"""

from __future__ import annotations

import errno
import os
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from hardcost.host import process
from hardcost.in_force.calls import Sample, counting_script

_MOST_LINKS = 40  # as the kernel allows
_MOST_BYTES = 4 << 20  # of one file
_ALL_BYTES = 5 << 20  # of all files of a machine, which has some hundred kilobytes
_ALL_STEPS = 100_000  # on the way to all files
_MOST_NAMES = 10_000
_SECONDS = 10.0  # for a program that only says what is
_STARTED_SECONDS = 60.0  # that a program which counts may take beside the time it counts
_PLACE = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_THING = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
_DENIED = frozenset({errno.EACCES, errno.EPERM})


@dataclass
class MachineFiles:
    """The files of the running machine, or those below `root`.

    `denied` are the paths that this user may not read, in the order in which they were tried, `cut`
    those that were read in part, or not at all, since there was too much.
    """

    root: Path | None = None
    denied: list[str] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)
    _texts: dict[str, str | None] = field(default_factory=dict, repr=False)
    _bytes: int = field(default=_ALL_BYTES, repr=False)
    _steps: int = field(default=_ALL_STEPS, repr=False)

    @property
    def live(self) -> bool:
        """Whether they are of the running machine, whose kernel can be asked."""
        return self.root is None

    def text(self, path: str) -> str | None:
        """Return the content of a file, whatever its bytes; None if there is none to be read.

        It is read once, so that all readers see the same.
        """
        if path not in self._texts:
            self._texts[path] = self._read(path)
        return self._texts[path]

    def _read(self, path: str) -> str | None:
        try:
            # What a node of a device is is known without opening it, which may start something.
            with self._opened(path, _THING) as thing:
                if not stat.S_ISREG(os.fstat(thing).st_mode):
                    return None
                file = os.open(f"/proc/self/fd/{thing}", _READ)
            try:
                return self._content(file, path).decode("utf-8", "surrogateescape")
            finally:
                os.close(file)
        except OSError as error:
            self._note(path, error)
            return None

    def names(self, folder: str) -> tuple[str, ...]:
        """Return the sorted names in a folder that are not hidden; none if it can't be read."""
        try:
            with self._opened(folder, _FOLDER) as opened, os.scandir(opened) as found:
                names = [one.name for _, one in zip(range(_MOST_NAMES), found, strict=False)]
        except OSError as error:
            self._note(folder, error)
            return ()
        if len(names) == _MOST_NAMES:
            self._cut(folder)
        return tuple(sorted(one for one in names if not one.startswith(".")))

    def exists(self, path: str) -> bool:
        """Say whether there is something at a path; a dangling link is nothing."""
        try:
            with self._opened(path, _THING):
                return True
        except OSError:
            return False

    def link(self, path: str) -> str | None:
        """Return where a symbolic link leads, as it is written; None if there is none."""
        folder, _, name = path.rpartition("/")
        try:
            with self._opened(folder, _PLACE) as opened:
                return os.readlink(name, dir_fd=opened)
        except OSError:
            return None

    @property
    def is_root(self) -> bool:
        """Whether the machine's kernel answers as it does to root."""
        return self.live and os.geteuid() == 0

    @property
    def is_here(self) -> bool:
        """Whether they are of the machine that runs this."""
        return self.live

    @property
    def name(self) -> str:
        """What the machine is called."""
        return socket.gethostname() if self.root is None else str(self.root)

    def processes(self) -> frozenset[str]:
        """Return the names of the processes that run, of which the kernel keeps 15 characters."""
        if not self.live:
            return frozenset()
        each = (self.text(f"/proc/{one}/comm") for one in self.names("/proc") if one.isdigit())
        return frozenset((one or "").strip() for one in each)

    def output(self, *words: str) -> str | None:
        """Return what a program prints; None where there is none to be started.

        Raises:
            MachineError: It fails.
        """
        if not self.live or process.find_program(words[0]) is None:
            return None
        return process.output(words, limit_seconds=_SECONDS).decode("utf-8", "surrogateescape")

    def count_calls(self, sample: Sample) -> str:
        """Count the system calls that are made from now on; return what `count_calls` prints.

        Raises:
            MachineError: It fails.
        """
        words = ("sh", "-c", f'{counting_script()}\ncount_calls "$@"', "sh", *sample.words)
        limit = sample.seconds + _STARTED_SECONDS
        return process.output(words, limit_seconds=limit).decode("utf-8", "surrogateescape")

    def _note(self, path: str, error: OSError) -> None:
        if error.errno in _DENIED and path not in self.denied:
            self.denied.append(path)

    def _cut(self, path: str) -> None:
        if path not in self.cut:
            self.cut.append(path)

    def _content(self, file: int, path: str) -> bytes:
        """Return what a file holds, as far as it may; files of /proc do not say their sizes."""
        pieces: list[bytes] = []
        left = most = min(_MOST_BYTES, self._bytes)
        while left > 0:
            piece = os.read(file, min(left, 1 << 16))
            if not piece:
                break
            pieces.append(piece)
            left -= len(piece)
        if left == 0 and (most == 0 or os.read(file, 1)):
            self._cut(path)
        self._bytes -= most - left
        return b"".join(pieces)

    @contextmanager
    def _opened(self, path: str, flags: int) -> Iterator[int]:
        """Open what is at a path.

        Raises:
            OSError: It is not there, or may not be read, or there are too many links.
        """
        top = os.open(self.root or "/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        folders = [top]
        found = None
        try:
            found = self._walk(folders, path, flags)
            yield found
        finally:
            for one in (*folders, *(() if found is None else (found,))):
                os.close(one)

    def _count_step(self, path: str) -> None:
        """Count a step on the way to a path.

        Raises:
            OSError: There were too many.
        """
        self._steps -= 1
        if self._steps < 0:
            self._cut(path)
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))

    def _walk(self, folders: list[int], path: str, flags: int) -> int:
        """Open what is at a path below the first folder; `folders` on the way are kept open."""
        parts, links = path.split("/")[::-1], 0
        while parts:
            part = parts.pop()
            self._count_step(path)
            if part in {"", "."}:
                continue
            if part == "..":
                if len(folders) > 1:
                    os.close(folders.pop())
                continue
            target = _link(part, folders[-1])
            if target is not None:
                links += 1
                if links > _MOST_LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
                if target.startswith("/"):
                    while len(folders) > 1:
                        os.close(folders.pop())
                parts += target.split("/")[::-1]
            elif any(one not in {"", "."} for one in parts):
                folders.append(os.open(part, _PLACE, dir_fd=folders[-1]))
            else:
                return os.open(part, flags, dir_fd=folders[-1])
        return os.open(".", flags, dir_fd=folders[-1])


def _link(name: str, folder: int) -> str | None:
    """Return where a symbolic link leads; None if it is none."""
    try:
        return os.readlink(name, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.EINVAL:
            return None
        raise
