"""A look at a store that changes nothing, not even where it is read-only."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING

from hardcost.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def names(path: Path) -> tuple[str, ...]:
    """Return the names of the runs in the store `path`, the newest first; none if there is none.

    Raises:
        StoreError: It can't be read.
    """
    if not path.exists():
        return ()
    with opened(path) as connection:
        rows = connection.execute("SELECT name FROM runs ORDER BY started DESC, rowid DESC")
        return tuple(name for (name,) in rows)


@contextlib.contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the store `path` read-only.

    Raises:
        StoreError: It can't be read, or is none.
    """
    try:
        with contextlib.closing(_connected(path)) as connection:
            yield connection
    except sqlite3.Error as error:
        raise StoreError(
            f"the store {path} can't be read: {error}", hint="--store FILE names another"
        ) from error


def _connected(path: Path) -> sqlite3.Connection:
    """Return a connection that only reads.

    SQLite reads a journal of the kind WAL through a file beside it, which it makes where it can.
    Where it can't, and nobody has left a journal, the file alone is all that there is.
    """
    place = path.absolute().as_uri()
    connection = sqlite3.connect(f"{place}?mode=ro", uri=True)
    try:
        connection.execute("SELECT 1 FROM sqlite_schema").fetchone()
    except sqlite3.OperationalError:
        connection.close()
        if _journal(path):
            raise
        connection = sqlite3.connect(f"{place}?mode=ro&immutable=1", uri=True)
    return connection


def _journal(path: Path) -> bool:
    """Say whether a run that was killed, or one that goes on, has left more beside the file."""
    with contextlib.suppress(OSError):
        return path.with_name(path.name + "-wal").stat().st_size > 0
    return False
