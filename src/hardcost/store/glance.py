"""A read of a store that changes nothing, even on a read-only file system."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hardcost.files import json_value
from hardcost.store import database

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True)
class Listed:
    """A run in outline: the `trials` that it measured itself, their `workloads` and `instruments`.

    Trials taken from earlier runs are not included. Times are UTC, as ISO 8601; `finished` and
    `finding`, which is JSON, are None until it is complete.
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
          FROM records WHERE run = name AND json_valid(body)),
       (SELECT json_group_array(DISTINCT json_extract(body, '$.instrument'))
          FROM records WHERE run = name AND json_valid(body))
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
            _texts(workloads),
            _texts(instruments),
            finding,
        )
        for name, study, started, finished, finding, trials, workloads, instruments in rows
    )


def _texts(listed: str) -> tuple[str, ...]:
    """Return the texts in a list of SQLite's; none where damaged records nest it too deeply."""
    with contextlib.suppress(ValueError):
        return tuple(str(one) for one in json_value(listed))
    return ()


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the store `path` to read it, and close it.

    Raises:
        StoreError: It can't be read, or is not a store.
    """
    with database.translated(path), contextlib.closing(database.readable(path)) as connection:
        yield connection
