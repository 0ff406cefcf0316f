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

_MOST_LINKS = 40  # as the kernel allows
_MOST_BYTES = 4 << 20
_MOST_NAMES = 10_000
_SECONDS = 10.0  # for a program that only says what is
_PLACE = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_DENIED = frozenset({errno.EACCES, errno.EPERM})


@dataclass
class MachineFiles:
    """The files of the running machine, or those below `root`.

    `denied` are the paths that this user may not read, in the order in which they were tried.
    """

    root: Path | None = None
    denied: list[str] = field(default_factory=list)

    @property
    def live(self) -> bool:
        """Whether they are of the running machine, whose kernel can be asked."""
        return self.root is None

    def text(self, path: str) -> str | None:
        """Return the content of a file, whatever its bytes; None if there is none to be read."""
        try:
            with self._opened(path, _READ) as file:
                if not stat.S_ISREG(os.fstat(file).st_mode):
                    return None
                return _content(file).decode("utf-8", "surrogateescape")
        except OSError as error:
            self._note(path, error)
            return None

    def names(self, folder: str) -> tuple[str, ...]:
        """Return the sorted names in a folder; none if there is none to be read."""
        try:
            with (
                self._opened(folder, _READ | os.O_DIRECTORY) as opened,
                os.scandir(opened) as found,
            ):
                each = (one.name for _, one in zip(range(_MOST_NAMES), found, strict=False))
                return tuple(sorted(each))
        except OSError as error:
            self._note(folder, error)
            return ()

    def exists(self, path: str) -> bool:
        """Say whether there is something at a path; a dangling link is nothing."""
        try:
            with self._opened(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC):
                return True
        except OSError:
            return False

    @property
    def is_root(self) -> bool:
        """Whether the machine's kernel answers as it does to root."""
        return self.live and os.geteuid() == 0

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

    def _note(self, path: str, error: OSError) -> None:
        if error.errno in _DENIED and path not in self.denied:
            self.denied.append(path)

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
            found = _walk(folders, path, flags)
            yield found
        finally:
            for one in (*folders, *(() if found is None else (found,))):
                os.close(one)


def _walk(folders: list[int], path: str, flags: int) -> int:
    """Open what is at a path below the first folder; `folders` are those on the way, kept open."""
    parts, links = path.split("/")[::-1], 0
    while parts:
        part = parts.pop()
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


def _content(file: int) -> bytes:
    """Return what a file holds, at most `_MOST_BYTES`; files of /proc do not say their sizes."""
    pieces: list[bytes] = []
    left = _MOST_BYTES
    while left > 0:
        piece = os.read(file, min(left, 1 << 16))
        if not piece:
            break
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)
