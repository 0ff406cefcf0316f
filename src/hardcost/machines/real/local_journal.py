"""The journal of changes that is kept here, a file for each machine, beside the machine's own."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from hardcost.errors import MachineError
from hardcost.files import own_content, own_file
from hardcost.machines.real import journal
from hardcost.machines.real.journal import Journal

_LARGEST = 64 << 20  # bytes of a journal, which has a line for each change


def place(machine: str) -> Path:
    """Return the file of a machine's journal."""
    base = os.environ.get("XDG_STATE_HOME")
    folder = (Path(base) if base else Path.home() / ".local/state") / "hardcost" / "changes"
    plain = "".join(one if one.isalnum() else "-" for one in machine)[:60]
    return folder / f"{plain}-{hashlib.sha256(machine.encode()).hexdigest()[:16]}.journal"


class Book:
    """The journal of one machine, as far as it is here."""

    def __init__(self, machine: str) -> None:
        self.path = place(machine)
        self._journal = journal.Journal()

    def leftovers(self) -> bytes:
        """Return the changes that an interrupted run left here; nothing if all are undone.

        Raises:
            MachineError: It can't be read, or was edited.
        """
        try:
            content = own_content(self.path, _LARGEST)
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise _journal_error(self.path, error) from error
        read = journal.read(content, str(self.path))
        return content[: read.size] if read.pending else b""

    @contextlib.contextmanager
    def hold_lock(self, *, alone: bool) -> Iterator[bool]:
        """Lock it for as long as the block runs, for us alone or with others who do the same.

        Gives whether that could be done. The kernel takes a lock away from whoever ends.

        Raises:
            MachineError: There can't be a lock for us alone.
        """
        path = self.path.with_suffix(".lock")
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            lock = os.fdopen(own_file(path), "ab")
        except OSError as error:
            if alone:
                raise _journal_error(path, error) from error
            yield True  # who changes nothing needs no place for journals
            return
        with lock:
            try:
                fcntl.flock(lock, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True

    def write(self, lines: Sequence[str]) -> Journal:
        """Append lines, the first of which begins a journal; return once they are on disk.

        Raises:
            MachineError: They are none of a journal's that goes on here, or can't be written.
        """
        new = not self._journal.size
        text = "".join(f"{line}\n" for line in lines).encode()
        self._journal = journal.extend_journal(
            self._journal, text, f"the journal of {self.path.stem}"
        )
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            flags = os.O_TRUNC if new else os.O_APPEND
            with os.fdopen(own_file(self.path, os.O_WRONLY | os.O_CREAT | flags), "wb") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            if new:
                _sync_folder(self.path.parent)
        except OSError as error:
            raise _journal_error(self.path, error) from error
        return self._journal

    def close(self) -> None:
        """Remove the journal: all of it is undone, and was seen to be.

        Raises:
            MachineError: It can't be removed.
        """
        self._journal = journal.Journal()
        try:
            if self.path.exists():
                self.path.unlink()
                _sync_folder(self.path.parent)
        except OSError as error:
            raise _journal_error(self.path, error) from error


def _sync_folder(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _journal_error(path: Path, error: OSError) -> MachineError:
    return MachineError(f"the journal of changes {path}: {error.strerror}")
