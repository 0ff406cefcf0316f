"""The store: one SQLite file with every run and trial; one writer, each trial saved at once.

Every row is compared with its digest where it is read. A damaged row is never used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from hardcost.errors import InputError, StoreError
from hardcost.model.workload import Workload, workload_of
from hardcost.store import database, rows, run_name
from hardcost.store.location import store_words
from hardcost.store.record import Record, of_row
from hardcost.store.rows import RecordRow, RunRow

_LAST_TRIALS = 500  # used to estimate the time of others


@dataclass(frozen=True)
class StoredRun:
    """One execution of a study; times are UTC, as ISO 8601; `finished` is None until it is.

    `unchecked`: it was written before digests were kept.
    """

    name: str
    plan: str
    study: str
    fresh: bool
    started: str
    finished: str | None
    unchecked: bool = False


class Store:
    """The open file; a context manager that closes it."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Open `path`; unless `read_only`, create it and its folder if they are missing.

        `damaged` describes the records that were ignored, `lost` the runs. `unchecked` counts the
        records that were read and have no digest.

        Raises:
            InputError: It is missing, and `read_only`.
            StoreError: It can't be created or opened, is not a store, or a newer hardcost made it.
        """
        self.path = path
        self.damaged: list[str] = []
        self.lost: list[str] = []
        self.unchecked = 0
        self._owners: database.Owners | None = None
        with database.translate_errors(path):
            self._connection = database.readable(path) if read_only else database.writable(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the file, and release its runs."""
        self._connection.close()
        if self._owners is not None:
            self._owners.close()
            self._owners = None

    def start(self, name: str, plan: str, study: str, *, fresh: bool) -> StoredRun:
        """Enter a new run, locked against other processes while this store is open.

        Raises:
            ValueError: Its name can't be a run's.
        """
        if not run_name.is_name(name):
            raise ValueError(f"a run named {name!r}")
        run = StoredRun(name, plan, study, fresh, _now(), None)
        with database.translate_errors(self.path):
            self._take(name)
            self._connection.execute(
                "INSERT INTO runs (name, plan, study, fresh, started, digest)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (run.name, run.plan, run.study, int(run.fresh), run.started, _seal(run)),
            )
        return run

    def save(self, run: StoredRun, record: Record) -> None:
        """Keep a trial; it is on disk when this returns."""
        with database.translate_errors(self.path):
            self._connection.execute("BEGIN IMMEDIATE")  # for the number
            try:
                (number,) = self._connection.execute(
                    "SELECT ifnull(max(number), 0) + 1 FROM records"
                ).fetchone()
                place = (number, run.name, record.identity)
                body = record.model_dump_json()
                self._connection.execute(
                    "INSERT INTO records (number, run, identity, body, digest)"
                    " VALUES (?, ?, ?, ?, ?)",
                    (*place, body, rows.seal("record", *place, body)),
                )
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # SQLite may have ended it itself
                    self._connection.execute("ROLLBACK")
                raise

    def finish(self, run: StoredRun, finding: str) -> None:
        """Record that a run is complete, and what it found.

        One that was begun before digests were kept stays unchecked.
        """
        done = replace(run, finished=_now())
        digest = rows.UNCHECKED if run.unchecked else _seal(done, finding)
        with database.translate_errors(self.path):
            changed = self._connection.execute(
                "UPDATE runs SET finished = ?, finding = ?, digest = ? WHERE name = ?",
                (done.finished, finding, digest, run.name),
            )
        if changed.rowcount != 1:
            raise StoreError(f"the run {run.name} is not in {self.path} any more", hint=rows.SEE)

    def record(self, identity: str, run: StoredRun | None = None) -> Record | None:
        """Return the newest record of a trial; if `run` is given, only of that run.

        A damaged record is ignored and joins `damaged`.
        """
        own = None if run is None else run.name
        which = "WHERE identity = ? AND (? IS NULL OR run = ?) ORDER BY number DESC"
        with database.translate_errors(self.path):
            for row in rows.records(self._connection, which, identity, own, own):
                found = self._read(row)
                if found is not None:
                    return found
        return None

    def _read(self, row: RecordRow) -> Record | None:
        """Return the record of a row; None if that is damaged, which joins `damaged`."""
        try:
            found = of_row(row)
        except ValueError as error:
            self.damaged.append(row.damage_words(self.path, error))
            return None
        self.unchecked += row.is_unchecked
        return found

    def runs(self) -> tuple[StoredRun, ...]:
        """Return all runs that are as they were written, the newest first; others join `lost`."""
        self.lost.clear()
        found = []
        with database.translate_errors(self.path):
            for row in rows.runs(self._connection):
                damage = row.damage()
                if damage is None:
                    found.append((row.number, _run(row)))
                else:
                    self.lost.append(row.damage_words(self.path, damage))
            self.lost += rows.faults(self._connection, "runs", self.path)
        # The number decides between runs that began within a second.
        found.sort(key=lambda one: (one[1].started, one[0]), reverse=True)
        return tuple(run for _, run in found)

    def take_unfinished(self, plan: str) -> StoredRun | None:
        """Return the newest interrupted run of `plan`, locked against other processes.

        Raises:
            StoreError: Another process is running it.
        """
        found = next(
            (one for one in self.runs() if one.plan == plan and one.finished is None), None
        )
        if found is not None:
            with database.translate_errors(self.path):
                self._take(found.name)
        return found

    def _take(self, name: str) -> None:
        """Lock a run."""
        if self._owners is None:
            self._owners = database.Owners(self.path)
        if not self._owners.take(name):
            raise StoreError(
                f"the run {name} is still going on in another process",
                hint="wait until that ends; without --resume a new run starts, which takes from the"
                " store what is already measured",
            )

    def finding(self, name: str) -> tuple[StoredRun, str]:
        """Return a finished run and what it found; `name` may be a unique prefix, or `last`.

        Raises:
            InputError: There is no such run, several match, or it was never finished.
            StoreError: It is damaged.
        """
        runs = self.runs()
        done = [run for run in runs if run.finished is not None]
        fits = done[:1] if name == "last" else [run for run in runs if run.name.startswith(name)]
        # A whole name counts, though names of other runs begin with it.
        exact = [run for run in fits if run.name == name] or fits
        if not exact and self.lost:
            raise StoreError(
                f"'{name}' names no run in {self.path} that is as it was written; {self.lost[0]}",
                hint=f"{rows.SEE}; {rows.AGAIN}",
            )
        if len(exact) != 1:
            what = "no run" if not exact else f"{len(exact)} runs"
            raise InputError(
                f"'{name}' names {what} in {self.path}",
                hint=f"`hardcost list runs{store_words(self.path)}` shows them",
            )
        with database.translate_errors(self.path):
            found = rows.runs(self._connection, "WHERE name = ?", exact[0].name)
            row = next(found, None)
        if row is None or row.damage() is not None:  # its index is
            raise StoreError(
                f"the result of the run {exact[0].name} in {self.path} is damaged",
                hint=f"{rows.SEE}; {rows.AGAIN}",
            )
        if row.finding is None:
            raise InputError(
                f"the run {exact[0].name} was interrupted or failed, and has no result",
                hint="run its study again with --resume",
            )
        return exact[0], str(row.finding)

    def records(self) -> Iterator[tuple[str, Record]]:
        """Yield each trial with the name of its run, the oldest first.

        A damaged record is ignored and joins `damaged`.
        """
        with database.translate_errors(self.path):
            for row in rows.records(self._connection, "ORDER BY number"):
                found = self._read(row)
                if found is not None:
                    yield str(row.run), found
            self.damaged += rows.faults(self._connection, "records", self.path)

    def durations(self) -> tuple[tuple[Workload, str, float], ...]:
        """Return workload, instrument and seconds of host time of the last trials, newest last."""
        with database.translate_errors(self.path):
            found = rows.durations(self._connection, _LAST_TRIALS)
        return tuple((workload_of(name), instrument, time) for name, instrument, time in found)


def _run(row: RunRow) -> StoredRun:
    """Return the run of a row that is not damaged."""
    finished = None if row.finished is None else str(row.finished)
    texts = (str(row.name), str(row.plan), str(row.study))
    return StoredRun(*texts, bool(row.fresh), str(row.started), finished, row.is_unchecked)


def _seal(run: StoredRun, finding: str | None = None) -> str:
    """Return the digest of a run's row."""
    about = (run.name, run.plan, run.study, int(run.fresh), run.started, run.finished)
    return rows.seal("run", *about, finding)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
