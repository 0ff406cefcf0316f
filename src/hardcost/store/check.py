"""The check that a store is as it was written: SQLite's own, and every row's digest."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hardcost.errors import InputError, StoreError
from hardcost.store import database, rows
from hardcost.store.location import store_words
from hardcost.store.record import of_row

RowState = Literal["as written", "unchecked", "damaged"]
"""What its digest says of a row; unchecked: an older hardcost wrote it, without one."""

_MEASURED_AGAIN = "its trial is measured again when it is needed"
_REMOVED = "`sqlite3 {} 'DELETE FROM {} WHERE rowid = {}'` removes the row"
_MOST_FAULTS = 20  # of SQLite's own check


@dataclass(frozen=True)
class Damage:
    """Something that is damaged, and the remedy."""

    what: str
    remedy: str


@dataclass
class CheckedRun:
    """A run: the state of its row, which holds its result, and how many trials are in which."""

    name: str
    state: RowState
    trials: int = 0
    unchecked: int = 0
    damaged: int = 0


@dataclass(frozen=True)
class StoreCheck:
    """A store's runs, the oldest first, and all that is damaged."""

    runs: tuple[CheckedRun, ...]
    damaged: tuple[Damage, ...]


def check_store(path: Path, names: Sequence[str], advance: Callable[[], None]) -> StoreCheck:
    """Check a store and all its runs, or those whose names begin with one of `names`.

    `advance` is called for each trial that was looked at.

    Raises:
        InputError: There is no store, or no such run.
        StoreError: It can't be opened, or is no store.
    """
    damaged: list[Damage] = []
    found: dict[str, CheckedRun] = {}
    with database.reading(path) as connection:
        with _as_damage(path, damaged):
            faults = _faults(connection)
            damaged += [Damage(f"the file {path}: {one}", database.RECOVER) for one in faults]
        with _as_damage(path, damaged):
            _runs(connection, path, names, found, damaged)
        for one in names:
            if not any(name.startswith(one) for name in found):
                raise InputError(
                    f"'{one}' names no run in {path}",
                    hint=f"`hardcost list runs{store_words(path)}` shows them",
                )
        with _as_damage(path, damaged):
            _trials(connection, path, found, damaged, advance, everything=not names)
    return StoreCheck(tuple(found.values()), tuple(damaged))


def size(path: Path) -> int:
    """Return how many trials a store has; 0 where it is too damaged to say.

    Raises:
        InputError: There is no store.
        StoreError: It can't be read, or is no store.
    """
    with database.reading(path) as connection:
        try:
            (found,) = connection.execute("SELECT count(*) FROM records").fetchone()
        except sqlite3.Error:
            return 0
        return int(found)


def _faults(connection: sqlite3.Connection) -> tuple[str, ...]:
    """Return SQLite's complaints about the file."""
    found = connection.execute(f"PRAGMA integrity_check({_MOST_FAULTS})")
    return tuple(str(one) for (one,) in found if one != "ok")


def _runs(
    connection: sqlite3.Connection,
    path: Path,
    names: Sequence[str],
    found: dict[str, CheckedRun],
    damaged: list[Damage],
) -> None:
    for row in rows.runs(connection, "ORDER BY rowid"):
        name = str(row.name)
        if names and not name.startswith(tuple(names)):
            continue
        why = row.damage()
        state: RowState = "damaged" if why else "unchecked" if row.is_unchecked else "as written"
        found[name] = CheckedRun(name, state)
        if why is not None:
            gone = _REMOVED.format(path, "runs", row.number)
            damaged.append(Damage(row.damage_words(path, why), f"{rows.AGAIN}; {gone}"))


def _trials(  # noqa: PLR0913  (what is looked at, and where it goes)
    connection: sqlite3.Connection,
    path: Path,
    found: dict[str, CheckedRun],
    damaged: list[Damage],
    advance: Callable[[], None],
    *,
    everything: bool,
) -> None:
    for row in rows.records(connection, "ORDER BY number"):
        advance()
        run = found.get(str(row.run))
        if run is None and not everything:
            continue
        run = run or CheckedRun(str(row.run), "damaged")  # of a run that is not there any more
        run.trials += 1
        try:
            of_row(row)
        except ValueError as error:
            run.damaged += 1
            gone = _REMOVED.format(path, "records", row.number)
            damaged.append(Damage(row.damage_words(path, error), f"{_MEASURED_AGAIN}; {gone}"))
        else:
            run.unchecked += row.is_unchecked


@contextlib.contextmanager
def _as_damage(path: Path, damaged: list[Damage]) -> Iterator[None]:
    """Have what SQLite can't read join `damaged`."""
    try:
        with database.translate_errors(path):
            yield
    except StoreError as error:
        damaged += [Damage(one.message, one.hint or database.RECOVER) for one in error.problems]
