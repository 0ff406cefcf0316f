"""The store: one SQLite file with every run and trial; one writer, each trial saved at once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Self

from hardcost.errors import InputError, StoreError
from hardcost.store import database
from hardcost.store.record import Record, check

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType

_LAST_TRIALS = 500  # used to estimate the time of others
_LONGEST_SECONDS = 1e7  # most host time of a trial; more is damage


@dataclass(frozen=True)
class Run:
    """One execution of a study; times are UTC, as ISO 8601; `finished` is None until it is."""

    name: str
    plan: str
    study: str
    fresh: bool
    started: str
    finished: str | None


class Store:
    """The open file; a context manager that closes it."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Open `path`; unless `read_only`, create it and its folder if they are missing.

        `damaged` describes records that can't be read and were ignored.

        Raises:
            InputError: It is missing, and `read_only`.
            StoreError: It can't be created or opened, is not a store, or a newer hardcost made it.
        """
        self.path = path
        self.damaged: list[str] = []
        self._owners: database.Owners | None = None
        with database.translated(path):
            self._connection = database.readable(path) if read_only else database.writable(path)

    def __enter__(self) -> Self:
        """Return itself."""
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

    def start(self, name: str, plan: str, study: str, *, fresh: bool) -> Run:
        """Enter a new run, locked against other processes while this store is open."""
        run = Run(name, plan, study, fresh, _now(), None)
        with database.translated(self.path):
            self._take(name)
            self._connection.execute(
                "INSERT INTO runs (name, plan, study, fresh, started) VALUES (?, ?, ?, ?, ?)",
                (run.name, run.plan, run.study, run.fresh, run.started),
            )
        return run

    def save(self, run: Run, record: Record) -> None:
        """Keep a trial; it is on disk when this returns."""
        with database.translated(self.path):
            self._connection.execute(
                "INSERT INTO records (run, identity, body) VALUES (?, ?, ?)",
                (run.name, record.identity, record.model_dump_json()),
            )

    def finish(self, run: Run, finding: str) -> None:
        """Record that a run is complete, and what it found."""
        with database.translated(self.path):
            self._connection.execute(
                "UPDATE runs SET finished = ?, finding = ? WHERE name = ?",
                (_now(), finding, run.name),
            )

    def record(self, identity: str, run: Run | None = None) -> Record | None:
        """Return the newest record of a trial; if `run` is given, only of that run.

        A damaged record is ignored and joins `damaged`.
        """
        query = "SELECT number, body FROM records WHERE identity = ? AND (? IS NULL OR run = ?)"
        own = None if run is None else run.name
        with database.translated(self.path):
            rows = self._connection.execute(
                query + " ORDER BY number DESC", (identity, own, own)
            ).fetchall()
        for number, body in rows:
            try:
                found = Record.model_validate_json(body)
                check(found, identity)
            except ValueError as error:
                reason = str(error).splitlines()[0]
                self.damaged.append(f"the record {number} of {self.path} is damaged: {reason}")
            else:
                return found
        return None

    def runs(self) -> tuple[Run, ...]:
        """Return all runs, the newest first.

        Raises:
            StoreError: A run's row is damaged.
        """
        with database.translated(self.path):
            rows = self._connection.execute(
                "SELECT rowid, name, plan, study, fresh, started, finished FROM runs"
                " ORDER BY started DESC, rowid DESC"
            ).fetchall()
        return tuple(self._run(*row) for row in rows)

    def _run(self, number: int, *row: object) -> Run:
        name, plan, study, fresh, started, finished = row
        texts = (name, plan, study, started, "" if finished is None else finished)
        if not all(isinstance(text, str) for text in texts) or fresh not in {0, 1}:
            raise StoreError(
                f"row {number} of the table runs in {self.path} is damaged: {name!r}",
                hint=f"remove that row with sqlite3 (its rowid is {number}), or select another"
                " store with --store",
            )
        ended = None if finished is None else str(finished)
        return Run(str(name), str(plan), str(study), bool(fresh), str(started), ended)

    def unfinished(self, plan: str) -> Run | None:
        """Return the newest interrupted run of `plan`, locked against other processes.

        Raises:
            StoreError: Another process is running it.
        """
        found = next(
            (one for one in self.runs() if one.plan == plan and one.finished is None), None
        )
        if found is not None:
            with database.translated(self.path):
                self._take(found.name)
        return found

    def _take(self, name: str) -> None:
        """Lock a run.

        Raises:
            StoreError: Another process has it.
        """
        if self._owners is None:
            self._owners = database.Owners(self.path)
        if not self._owners.take(name):
            raise StoreError(
                f"the run {name} is still going on in another process",
                hint="wait until that ends; without --resume a new run starts, which takes from the"
                " store what is already measured",
            )

    def finding(self, name: str) -> tuple[Run, str]:
        """Return a finished run and what it found; `name` may be a unique prefix, or `last`.

        Raises:
            InputError: There is no such run, several match, or it was never finished.
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
        with database.translated(self.path):
            row = self._connection.execute(
                "SELECT finding FROM runs WHERE name = ?", (exact[0].name,)
            ).fetchone()
        if row is None or not isinstance(row[0], str | None):
            raise StoreError(
                f"the result of the run {exact[0].name} in {self.path} is damaged",
                hint="run its study again: its trials are taken from the store",
            )
        if row[0] is None:
            raise InputError(
                f"the run {exact[0].name} was interrupted or failed, and has no result",
                hint="run its study again with --resume",
            )
        return exact[0], row[0]

    def records(self) -> Iterator[tuple[str, Record]]:
        """Yield each trial with the name of its run, the oldest first.

        A damaged record is ignored and joins `damaged`.
        """
        query = "SELECT number, run, identity, body FROM records ORDER BY number"
        with database.translated(self.path):
            for number, run, identity, body in self._connection.execute(query):
                try:
                    found = Record.model_validate_json(body)
                    check(found, identity)
                except ValueError as error:
                    reason = str(error).splitlines()[0]
                    self.damaged.append(f"the record {number} of {self.path} is damaged: {reason}")
                else:
                    yield str(run), found

    def durations(self) -> tuple[tuple[str, str, float], ...]:
        """Return workload, instrument and seconds of host time of the last trials, newest last."""
        with database.translated(self.path):
            rows = self._connection.execute(
                "SELECT workload, instrument, seconds FROM"
                " (SELECT json_extract(whole, '$.workload') AS workload,"
                " json_extract(whole, '$.instrument') AS instrument,"
                " json_extract(whole, '$.host_seconds') AS seconds"
                " FROM (SELECT iif(json_valid(body), body, '{}') AS whole"
                " FROM records ORDER BY number DESC LIMIT ?))"
                " WHERE typeof(seconds) IN ('real', 'integer') AND seconds BETWEEN 0 AND ?",
                (_LAST_TRIALS, _LONGEST_SECONDS),
            ).fetchall()
        return tuple((str(a), str(b), float(seconds)) for a, b, seconds in reversed(rows))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
