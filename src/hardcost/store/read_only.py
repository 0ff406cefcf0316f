"""A read of a store that changes nothing, even on a read-only file system."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from hardcost.store import database, rows
from hardcost.store.rows import RunRow
from hardcost.store.run_name import is_name


@dataclass(frozen=True)
class Listed:
    """A run in outline: the `trials` that it measured itself, their `workloads` and `instruments`.

    Trials taken from earlier runs are not included, nor those whose record is damaged. Times are
    UTC, as ISO 8601; `finished` and `finding`, which is JSON, are None until it is complete.
    `unchecked`: it, or one of its trials, was written before digests were kept.
    """

    name: str
    study: str
    started: str
    finished: str | None
    trials: int
    workloads: tuple[str, ...]
    instruments: tuple[str, ...]
    finding: str | None
    unchecked: bool = False


@dataclass(frozen=True)
class Outline:
    """The runs of a store, the newest first; in words, runs and records left out as damaged."""

    runs: tuple[Listed, ...] = ()
    lost: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()


@dataclass
class _Trials:
    """The facts about a run's trials."""

    count: int = 0
    unchecked: bool = False
    workloads: set[str] = field(default_factory=set)
    instruments: set[str] = field(default_factory=set)


def names(path: Path) -> tuple[str, ...]:
    """Return the names of the runs in the store `path`, the newest first; none if there is none.

    Raises:
        StoreError: It can't be read.
    """
    if not path.exists():
        return ()
    with database.reading(path) as connection:
        found = connection.execute("SELECT name FROM runs ORDER BY started DESC, rowid DESC")
        return tuple(name for (name,) in found if is_name(name))


def runs(path: Path) -> Outline:
    """Return the runs in the store `path` in outline; none if there is none.

    Raises:
        StoreError: It can't be read.
    """
    if not path.exists():
        return Outline()
    lost: list[str] = []
    damaged: list[str] = []
    with database.reading(path) as connection:
        trials = _trials(connection, path, damaged)
        found = []
        for row in rows.runs(connection, "ORDER BY started DESC, rowid DESC"):
            damage = row.damage()
            if damage is None:
                found.append(_listed_run(row, trials[str(row.name)]))
            else:
                lost.append(row.damage_words(path, damage))
        lost += rows.faults(connection, "runs", path)
        damaged += rows.faults(connection, "records", path)
    return Outline(tuple(found), tuple(lost), tuple(damaged))


def _trials(
    connection: sqlite3.Connection, path: Path, damaged: list[str]
) -> defaultdict[str, _Trials]:
    """Return the facts about trials by their run's name; damaged rows join `damaged`."""
    found: defaultdict[str, _Trials] = defaultdict(_Trials)
    for row, keys in rows.outlines(connection):
        damage = row.damage()
        if damage is not None:
            damaged.append(row.damage_words(path, ValueError(damage)))
            continue
        run = found[str(row.run)]
        run.count += 1
        run.unchecked |= row.is_unchecked
        run.workloads.add(str(keys.workload))
        run.instruments.add(str(keys.instrument))
    return found


def _listed_run(row: RunRow, trials: _Trials) -> Listed:
    return Listed(
        str(row.name),
        str(row.study),
        str(row.started),
        None if row.finished is None else str(row.finished),
        trials.count,
        tuple(sorted(trials.workloads)),
        tuple(sorted(trials.instruments)),
        None if row.finding is None else str(row.finding),
        row.is_unchecked or trials.unchecked,
    )
