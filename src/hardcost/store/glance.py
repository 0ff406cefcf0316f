"""A look at a store that changes nothing, not even where it lies on a read-only file system."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hardcost.errors import InputError, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True)
class Listed:
    """A run in outline: `trials` it measured itself, of `workloads` and by `instruments`.

    What it took from earlier runs is not among them. Times are UTC, as ISO 8601; `finished` and
    `finding`, which is JSON, are None while it is not complete.
    """

    name: str
    study: str
    started: str
    finished: str | None
    trials: int
    workloads: tuple[str, ...]
    instruments: tuple[str, ...]
    finding: str | None


_OUTLINES = """
SELECT name, study, started, finished, finding,
       (SELECT count(*) FROM records WHERE run = name),
       (SELECT json_group_array(DISTINCT json_extract(body, '$.workload'))
          FROM records WHERE run = name),
       (SELECT json_group_array(DISTINCT json_extract(body, '$.instrument'))
          FROM records WHERE run = name)
  FROM runs ORDER BY started DESC, runs.rowid DESC
"""


def names(path: Path) -> tuple[str, ...]:
    """Return the names of the runs in the store `path`, the newest first; none if there is none.

    Raises:
        StoreError: It can't be read.
    """
    if not path.exists():
        return ()
    with _opened(path) as connection:
        rows = connection.execute("SELECT name FROM runs ORDER BY started DESC, rowid DESC")
        return tuple(name for (name,) in rows)


def runs(path: Path) -> tuple[Listed, ...]:
    """Return the runs in the store `path` in outline, the newest first; none if there is none.

    Raises:
        StoreError: It can't be read.
    """
    if not path.exists():
        return ()
    with _opened(path) as connection:
        rows = connection.execute(_OUTLINES).fetchall()
    return tuple(
        Listed(
            name,
            study,
            started,
            finished,
            trials,
            tuple(json.loads(workloads)),
            tuple(json.loads(instruments)),
            finding,
        )
        for name, study, started, finished, finding, trials, workloads, instruments in rows
    )


def connected(path: Path) -> sqlite3.Connection:
    """Return a connection to the store `path` that only reads.

    A store keeps a journal of the kind WAL, which SQLite reads through a file beside it that it has
    to make. Where it can't, and there is no journal, the file alone is all that there is.

    Raises:
        InputError: There is no such file.
        sqlite3.Error: It is no database, or can't be read.
    """
    if not path.exists():
        raise InputError(f"there is no store {path}", hint="`hardcost list runs --store FILE`")
    place = path.absolute().as_uri()
    connection = sqlite3.connect(f"{place}?mode=ro", uri=True, isolation_level=None, timeout=30)
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.OperationalError:
        connection.close()
        if _has_journal(path):
            raise
        connection = sqlite3.connect(f"{place}?mode=ro&immutable=1", uri=True)
    return connection


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the store `path` to read it, and close it.

    Raises:
        StoreError: It can't be read, or is none.
    """
    try:
        with contextlib.closing(connected(path)) as connection:
            yield connection
    except sqlite3.Error as error:
        raise StoreError(
            f"the store {path} can't be read: {error}", hint="--store FILE names another"
        ) from error


def _has_journal(path: Path) -> bool:
    """Say whether a run that goes on, or that was killed, has more beside the file."""
    with contextlib.suppress(OSError):
        return path.with_name(f"{path.name}-wal").stat().st_size > 0
    return False
