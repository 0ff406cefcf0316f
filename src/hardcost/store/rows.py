"""Rows of the store: read, and compared with the digest that was kept when they were written.

A digest is of all that a row holds, with its place (number, run, trial), so that neither a changed
bit nor an exchange of rows goes unnoticed. It is no signature: whoever can write to the store can
work it out again.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hardcost.store.run_name import is_name

UNCHECKED = "unchecked"
"""What rows have instead of a digest that were written before there were any."""

SEE = "`hardcost runs check` lists what is damaged"
AGAIN = "run its study again: its trials are taken from the store"
"""The remedy for a damaged run."""

_CHANGED = "it is not as it was written"
_LONGEST_SECONDS = 1e7  # most host time of a trial; more is damage
_RUNS = "SELECT rowid, name, plan, study, fresh, started, finished, finding, digest FROM runs"
_RECORDS = "SELECT number, run, identity, body, digest FROM records"
_OUTLINES = """
SELECT number, run, identity, body, digest,
       json_extract(whole, '$.workload'),
       json_extract(whole, '$.instrument'),
       json_extract(whole, '$.host_seconds')
  FROM (SELECT *, iif(json_valid(body), body, '{}') AS whole FROM records)
"""


def seal(*values: object) -> str:
    """Return the SHA-256 of a row's values, in hex; each with its type and length."""
    total = hashlib.sha256()
    for value in values:
        kind = type(value).__name__
        # Damaged text may be no UTF-8: see `database`.
        data = value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogateescape")
        total.update(f"{kind} {len(data)} ".encode())
        total.update(data)
    return total.hexdigest()


@dataclass(frozen=True)
class RunRow:
    """A row of the table `runs`; what is in it may be anything."""

    number: int
    name: object
    plan: object
    study: object
    fresh: object
    started: object
    finished: object
    finding: object
    digest: object

    @property
    def is_unchecked(self) -> bool:
        """Whether it was written before there were digests."""
        return self.digest == UNCHECKED

    def damage(self) -> str | None:
        """Return why it can't be believed; None if it can."""
        if not self.is_unchecked and self.digest != self.expected_digest():
            return _CHANGED
        texts = (self.plan, self.study, self.started)
        perhaps = (self.finished, self.finding)
        is_fit = (
            all(isinstance(one, str) for one in texts)
            and all(isinstance(one, str | None) for one in perhaps)
            and (self.finished is None) == (self.finding is None)
            and self.fresh in {0, 1}
        )
        if not is_fit:
            return "it has values of another kind"
        return None if is_name(self.name) else "its name can't be a run's"

    def damage_words(self, path: Path, damage: str) -> str:
        """Return its damage in words."""
        return f"the run {str(self.name)!r} of {path} is damaged: {damage}"

    def expected_digest(self) -> str:
        """Return the digest that it should have."""
        return seal(
            *("run", self.name, self.plan, self.study, self.fresh),
            *(self.started, self.finished, self.finding),
        )


@dataclass(frozen=True)
class RecordRow:
    """A row of the table `records`; what is in it may be anything."""

    number: int
    run: object
    identity: object
    body: object
    digest: object

    @property
    def is_unchecked(self) -> bool:
        """Whether it was written before there were digests."""
        return self.digest == UNCHECKED

    def damage(self) -> str | None:
        """Return why it can't be believed, as far as the digest says; None if it can."""
        return None if self.is_unchecked or self.digest == self.expected_digest() else _CHANGED

    def damage_words(self, path: Path, damage: ValueError) -> str:
        """Return its damage in words."""
        reason = str(damage).splitlines()[0]
        return f"the record {self.number} of {path} is damaged: {reason}"

    def expected_digest(self) -> str:
        """Return the digest that it should have."""
        return seal("record", self.number, self.run, self.identity, self.body)


def runs(connection: sqlite3.Connection, rest: str = "", *values: object) -> Iterator[RunRow]:
    """Yield runs; `rest` of the statement says which, and in which order."""
    for row in connection.execute(f"{_RUNS} {rest}", values):
        yield RunRow(*row)


def records(connection: sqlite3.Connection, rest: str = "", *values: object) -> Iterator[RecordRow]:
    """Yield records; `rest` of the statement says which, and in which order."""
    for row in connection.execute(f"{_RECORDS} {rest}", values):
        yield RecordRow(*row)


def faults(connection: sqlite3.Connection, table: str, path: Path) -> tuple[str, ...]:
    """Return in words what SQLite finds wrong with a table; its index knows of rows that it lacks.

    It takes some 3 ms for each MB.
    """
    found = connection.execute(f"PRAGMA main.integrity_check({table})").fetchone()
    if found == ("ok",):
        return ()
    return (f"rows of the table {table} of {path}, perhaps: it is damaged: {found[0]}",)


@dataclass(frozen=True)
class RowKeys:
    """The keys that are looked up in a record without parsing it, as a profile is long."""

    workload: object
    instrument: object
    host_seconds: object


def outlines(
    connection: sqlite3.Connection, rest: str = "", *values: object
) -> Iterator[tuple[RecordRow, RowKeys]]:
    """Yield records, as `records` does, with some of their keys."""
    for number, run, identity, body, digest, *keys in connection.execute(
        f"{_OUTLINES} {rest}", values
    ):
        yield RecordRow(number, run, identity, body, digest), RowKeys(*keys)


def durations(connection: sqlite3.Connection, last: int) -> tuple[tuple[str, str, float], ...]:
    """Return workload, instrument and seconds of host time of the last records, newest last."""
    found = []
    for row, keys in outlines(connection, "ORDER BY number DESC LIMIT ?", last):
        seconds = keys.host_seconds
        if not isinstance(seconds, int | float) or not 0 <= seconds <= _LONGEST_SECONDS:
            continue
        if row.damage() is None:
            found.append((str(keys.workload), str(keys.instrument), float(seconds)))
    return tuple(reversed(found))
