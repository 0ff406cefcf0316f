"""The store: one SQLite file with every run and trial; one writer, each trial saved at once."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self

from hardcost.errors import InputError, StoreError
from hardcost.store.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

_SCHEMA_VERSION = 1
_SCHEMA = """
CREATE TABLE runs (
    name TEXT PRIMARY KEY,
    plan TEXT NOT NULL,         -- hash of the identities of all its trials, in order
    study TEXT NOT NULL,
    fresh INTEGER NOT NULL,     -- 1: measures everything again, reuses only its own records
    started TEXT NOT NULL,
    finished TEXT,
    finding TEXT                -- what it found, as JSON
);
CREATE TABLE records (
    number INTEGER PRIMARY KEY,
    run TEXT NOT NULL REFERENCES runs (name),
    identity TEXT NOT NULL,     -- hash of all that defines the trial
    body TEXT NOT NULL          -- the record, as JSON
);
CREATE INDEX records_by_identity ON records (identity);
"""


@dataclass(frozen=True)
class Run:
    """One execution of a study; times are UTC, as ISO 8601; `finished` None while it is not."""

    name: str
    plan: str
    study: str
    fresh: bool
    started: str
    finished: str | None


def default_path() -> Path:
    """Return `$HARDCOST_STORE`, else `hardcost/hardcost.sqlite` in the user's data folder."""
    own = os.environ.get("HARDCOST_STORE")
    if own:
        return Path(own)
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local/share") / "hardcost" / "hardcost.sqlite"


class Store:
    """The file, opened; a context manager that closes it."""

    def __init__(self, path: Path) -> None:
        """Open `path`, making it and its folder if they are missing.

        Raises:
            StoreError: It can't be made or opened, is no store, or a newer hardcost made it.
        """
        self.path = path
        with self._told():
            path.parent.mkdir(parents=True, exist_ok=True)
            with _alone_in(path.parent):
                self._connection = sqlite3.connect(path, isolation_level=None, timeout=30)
                try:
                    self._connection.execute("PRAGMA journal_mode = WAL")
                    self._connection.execute("PRAGMA synchronous = FULL")
                    self._lay_out()
                except BaseException:
                    self._connection.close()
                    raise

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the file."""
        self._connection.close()

    def start(self, name: str, plan: str, study: str, *, fresh: bool) -> Run:
        """Enter a new run."""
        run = Run(name, plan, study, fresh, _now(), None)
        with self._told():
            self._connection.execute(
                "INSERT INTO runs (name, plan, study, fresh, started) VALUES (?, ?, ?, ?, ?)",
                (run.name, run.plan, run.study, run.fresh, run.started),
            )
        return run

    def save(self, run: Run, record: Record) -> None:
        """Keep a trial; it is on disk when this returns."""
        with self._told():
            self._connection.execute(
                "INSERT INTO records (run, identity, body) VALUES (?, ?, ?)",
                (run.name, record.identity, record.model_dump_json()),
            )

    def finish(self, run: Run, finding: str) -> None:
        """Note that a run is complete, and what it found."""
        with self._told():
            self._connection.execute(
                "UPDATE runs SET finished = ?, finding = ? WHERE name = ?",
                (_now(), finding, run.name),
            )

    def record(self, identity: str, run: Run | None = None) -> Record | None:
        """Return the newest record of a trial, of `run` only if it is given."""
        query = "SELECT body FROM records WHERE identity = ? AND (? IS NULL OR run = ?)"
        own = None if run is None else run.name
        with self._told():
            row = self._connection.execute(
                query + " ORDER BY number DESC LIMIT 1", (identity, own, own)
            ).fetchone()
            return None if row is None else Record.model_validate_json(row[0])

    def runs(self) -> tuple[Run, ...]:
        """Return all runs, the newest first."""
        with self._told():
            rows = self._connection.execute(
                "SELECT name, plan, study, fresh, started, finished FROM runs"
                " ORDER BY started DESC, rowid DESC"
            ).fetchall()
        return tuple(Run(a, b, c, bool(fresh), start, end) for a, b, c, fresh, start, end in rows)

    def unfinished(self, plan: str) -> Run | None:
        """Return the newest run of `plan` that was interrupted."""
        return next((run for run in self.runs() if run.plan == plan and run.finished is None), None)

    def finding(self, name: str) -> tuple[Run, str]:
        """Return a finished run and what it found; `name` may be a unique beginning, or `last`.

        Raises:
            InputError: There is no such run, several fit, or it was never finished.
        """
        runs = self.runs()
        done = [run for run in runs if run.finished is not None]
        fits = done[:1] if name == "last" else [run for run in runs if run.name.startswith(name)]
        exact = [run for run in fits if run.name == name] or fits
        if len(exact) != 1:
            what = "no run" if not exact else f"{len(exact)} runs"
            raise InputError(
                f"'{name}' names {what} in {self.path}", hint="`hardcost list runs` shows them"
            )
        with self._told():
            row = self._connection.execute(
                "SELECT finding FROM runs WHERE name = ?", (exact[0].name,)
            ).fetchone()
        if row[0] is None:
            raise InputError(
                f"the run {exact[0].name} was interrupted or failed, and has no result",
                hint="run its study again with --resume",
            )
        return exact[0], row[0]

    def typical_seconds(self) -> float | None:
        """Return the mean host time of the last hundred trials, None where there is none."""
        with self._told():
            row = self._connection.execute(
                "SELECT avg(json_extract(body, '$.host_seconds')) FROM"
                " (SELECT body FROM records ORDER BY number DESC LIMIT 100)"
            ).fetchone()
        return None if row[0] is None else float(row[0])

    def _lay_out(self) -> None:
        version = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if version > _SCHEMA_VERSION:
            raise StoreError(
                f"the store {self.path} was made by a newer hardcost",
                hint="use that one, or another file with --store",
            )
        if version == 0:
            self._connection.executescript(
                f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {_SCHEMA_VERSION}; COMMIT;"
            )

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """Turn the failures of disk and database into errors that name the file."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"the store {self.path} can't be used: {error}",
                hint="is the disk full, or the place not writable? --store FILE names another;"
                " `--resume` goes on with what was saved",
            ) from error
        except ValueError as error:
            raise StoreError(f"the store {self.path} holds a record that can't be read") from error


@contextlib.contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Keep other runs from laying out a store in the same folder meanwhile.

    SQLite waits for no other process when both change a file's kind of journal.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
