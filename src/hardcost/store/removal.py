"""Runs removed from a store, with their reports; never one that another process continues.

The report goes first: it can be written again from the run, should the removal be interrupted.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from hardcost.errors import InputError
from hardcost.files import remove_own
from hardcost.store import database, rows
from hardcost.store.location import report_of, store_words
from hardcost.store.run_name import is_name

_SHRINK_SECONDS = 1  # to wait for others before the file keeps its size
_SIZE = "SELECT count(*), ifnull(sum(length(CAST(body AS BLOB))), 0) FROM records WHERE run = ?"


@dataclass(frozen=True)
class Chosen:
    """A run to be removed: its trials, and the bytes of these and its result in the store."""

    name: str
    started: str
    finished: str | None
    trials: int
    size: int


@dataclass
class Removal:
    """The outcome of a removal of runs.

    `freed` is in bytes, as allocated on disk; `shrunk` says whether the store's file gave back its
    share. `going_on` are runs that another process continues; `reports` the reports removed, `left`
    those that could not be, with the reason.
    """

    gone: list[Chosen] = field(default_factory=list)
    going_on: list[str] = field(default_factory=list)
    reports: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    freed: int = 0
    shrunk: bool = True


def choose_runs(
    path: Path, names: Sequence[str], before_time: datetime | None
) -> tuple[tuple[Chosen, ...], tuple[str, ...]]:
    """Return the runs to remove, by name or by age, and those whose age is not known.

    Raises:
        InputError: There is no store; a name names no run or several.
        StoreError: The store can't be read, or is none.
    """
    if before_time is None:
        return runs_named(path, names), ()
    return runs_before(path, before_time)


def runs_named(path: Path, names: Sequence[str]) -> tuple[Chosen, ...]:
    """Return the runs that names name: whole, by a beginning that no other run has, or `last`.

    Raises:
        InputError: There is no store; a name names no run or several.
        StoreError: The store can't be read, or is none.
    """
    with database.reading(path) as connection:
        every = _runs(connection)
        found: dict[str, rows.RunRow] = {}
        for name in names:
            fits = [one for one in every if str(one.name).startswith(name)] if name else []
            fits = [one for one in fits if one.name == name] or fits
            fits = every[:1] if name == "last" and not fits else fits
            if len(fits) != 1:
                what = "no run" if not fits else f"{len(fits)} runs"
                raise InputError(
                    f"'{name}' names {what} in {path}",
                    hint=f"`hardcost list runs{store_words(path)}` shows them",
                )
            found[str(fits[0].name)] = fits[0]
        return tuple(_chosen_run(connection, one) for one in found.values())


def runs_before(path: Path, moment: datetime) -> tuple[tuple[Chosen, ...], tuple[str, ...]]:
    """Return the runs that were started before a moment, and names whose age is not known.

    Raises:
        InputError: There is no store.
        StoreError: It can't be read, or is none.
    """
    old: list[Chosen] = []
    unknown: list[str] = []
    with database.reading(path) as connection:
        for row in _runs(connection):
            started = None if row.damage() else _moment(str(row.started))
            if started is None:
                unknown.append(str(row.name))
            elif started < moment:
                old.append(_chosen_run(connection, row))
    return tuple(old), tuple(unknown)


def remove(path: Path, chosen: Sequence[Chosen]) -> Removal:
    """Remove runs with their reports, but those that another process continues.

    Raises:
        StoreError: The store can't be written to, or is none.
    """
    done = Removal()
    with (
        database.translate_errors(path),
        contextlib.closing(database.writable(path)) as connection,
        contextlib.closing(database.Owners(path)) as owners,
    ):
        size = database.size(path)
        for one in chosen:
            if not owners.take(one.name):
                done.going_on.append(one.name)
                continue
            done.freed += _without_report(path, one.name, done)
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("DELETE FROM records WHERE run = ?", (one.name,))
            connection.execute("DELETE FROM runs WHERE name = ?", (one.name,))
            connection.execute("COMMIT")
            done.gone.append(one)
        if done.gone:
            done.shrunk = not _is_written(connection, owners) and _shrunk(connection)
            done.freed += max(0, size - database.size(path))
    return done


def _runs(connection: sqlite3.Connection) -> list[rows.RunRow]:
    """Return the runs, the newest first; none whose name could be something else's."""
    found = rows.runs(connection, "ORDER BY started DESC, rowid DESC")
    return [row for row in found if is_name(row.name)]


def _chosen_run(connection: sqlite3.Connection, row: rows.RunRow) -> Chosen:
    trials, size = connection.execute(_SIZE, (row.name,)).fetchone()
    finished = None if row.finished is None else str(row.finished)
    whole = int(size) + len(str(row.finding or ""))
    return Chosen(str(row.name), str(row.started), finished, int(trials), whole)


def _moment(text: str) -> datetime | None:
    with contextlib.suppress(ValueError):
        found = datetime.fromisoformat(text)
        return found if found.tzinfo is not None else None
    return None


def _without_report(path: Path, name: str, done: Removal) -> int:
    """Remove a run's report; return the bytes that this freed."""
    report = report_of(path, name)
    try:
        size = remove_own(report)
    except OSError as error:
        done.left.append(f"the report {report} stays: {error.strerror or error}")
        return 0
    if size is None:
        return 0
    done.reports.append(str(report))
    return size


def _is_written(connection: sqlite3.Connection, owners: database.Owners) -> bool:
    """Say whether another process continues a run: it would have to wait while the file shrinks."""
    unfinished = rows.runs(connection, "WHERE finished IS NULL")
    return not all(owners.take(str(row.name)) for row in unfinished)


def _shrunk(connection: sqlite3.Connection) -> bool:
    """Give the file's free pages back to the disk; say whether that succeeded."""
    connection.execute(f"PRAGMA busy_timeout = {_SHRINK_SECONDS * 1000}")
    try:
        connection.execute("VACUUM")
        (busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except (
        sqlite3.OperationalError
    ):  # in use, or no room for a copy: the runs are gone all the same
        return False
    return not busy
