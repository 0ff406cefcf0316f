"""The store's SQLite file: recognised before it is changed, opened, its failures in words."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import sqlite3
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from hardcost.errors import FULL_DISK, InputError, StoreError
from hardcost.files import check_own, own_file

APPLICATION_ID: Final = 0x68636F73
"""The value of `PRAGMA application_id` in the file's header: "hcos"."""

VERSION: Final = 2
"""The schema's version, in `PRAGMA user_version`."""

_WITHOUT_DIGESTS: Final = 1
"""The version before it, whose rows have no digest."""

SCHEMA: Final = """
CREATE TABLE runs (
    name TEXT PRIMARY KEY,
    plan TEXT NOT NULL,         -- hash of the identities of all its trials, in order
    study TEXT NOT NULL,
    fresh INTEGER NOT NULL,     -- 1: measures everything again, reuses only its own records
    started TEXT NOT NULL,
    finished TEXT,
    finding TEXT,               -- what it found, as JSON
    digest TEXT NOT NULL        -- of all of these, or "unchecked" (`rows.py`)
);
CREATE TABLE records (
    number INTEGER PRIMARY KEY,
    run TEXT NOT NULL REFERENCES runs (name),
    identity TEXT NOT NULL,     -- hash of all that defines the trial
    body TEXT NOT NULL,         -- the record, as JSON
    digest TEXT NOT NULL        -- of all of these, or "unchecked"
);
CREATE INDEX records_by_identity ON records (identity);
"""
_COLUMNS: Final = {
    "runs": ["name", "plan", "study", "fresh", "started", "finished", "finding", "digest"],
    "records": ["number", "run", "identity", "body", "digest"],
}
_TO_DIGESTS: Final = """
ALTER TABLE runs ADD COLUMN digest TEXT NOT NULL DEFAULT 'unchecked';
ALTER TABLE records ADD COLUMN digest TEXT NOT NULL DEFAULT 'unchecked';
"""
_AS_IF_WITH_DIGESTS: Final = """
PRAGMA temp_store = MEMORY;
CREATE TEMP VIEW runs AS SELECT rowid AS rowid, *, 'unchecked' AS digest FROM main.runs;
CREATE TEMP VIEW records AS SELECT *, 'unchecked' AS digest FROM main.records;
"""
_ELSEWHERE: Final = "--store FILE selects another"
_WAIT_SECONDS: Final = 30
_LOCK: Final = struct.Struct("hhqqi4x")  # struct flock: kind, whence, start, length, process
RECOVER: Final = (
    "`sqlite3 FILE .recover | sqlite3 NEW` recovers what it can; --store FILE selects another"
)
"""The remedy for a damaged file."""
_MEANINGS: Final = {
    "SQLITE_CORRUPT": ("is damaged", RECOVER),
    "SQLITE_NOTADB": ("is not a SQLite database", _ELSEWHERE),
    "SQLITE_FULL": (
        "can't grow: the disk is full",
        "free some space; --resume continues with what is saved",
    ),
    "SQLITE_READONLY": ("can't be written to: it is read-only", _ELSEWHERE),
    "SQLITE_CANTOPEN": ("can't be opened", f"check its permissions and its folder's; {_ELSEWHERE}"),
    "SQLITE_PERM": ("can't be opened: permission denied", _ELSEWHERE),
    "SQLITE_BUSY": (
        f"has been locked by another process for more than {_WAIT_SECONDS} s",
        f"wait until that ends; {_ELSEWHERE}",
    ),
    "SQLITE_LOCKED": ("is locked by another process", _ELSEWHERE),
    "SQLITE_IOERR": ("can't be used: the disk fails to read or write", _ELSEWHERE),
    "SQLITE_NOMEM": ("can't be used: there is not enough memory", None),
}
"""The meaning of SQLite's primary error codes for a user, and the remedy."""


def writable(path: Path) -> sqlite3.Connection:
    """Return a connection to the store at `path`, which is created if it is missing.

    Nothing is written until the file is known to be a store, or empty.

    Raises:
        StoreError: It is another program's database, or a newer hardcost made it.
        sqlite3.Error, OSError: It can't be used; `translate_errors` puts that in words.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path = _real(path)
    with _alone_in(path.parent):
        known = _schema_version(path)
        # In a notebook a call measures in another thread than it began in, one after the other.
        opened = sqlite3.connect(
            path, isolation_level=None, timeout=_WAIT_SECONDS, check_same_thread=False
        )
        connection = _set_up(opened)
        try:
            # First, since later writes may stay in the journal for a long time.
            if known is None:
                connection.executescript(f"BEGIN IMMEDIATE; {SCHEMA} {_marks()} COMMIT;")
            elif known == _WITHOUT_DIGESTS:
                connection.executescript(f"BEGIN IMMEDIATE; {_TO_DIGESTS} {_marks()} COMMIT;")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
        except BaseException:
            connection.close()
            raise
    return connection


@contextlib.contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the store at `path` to read it, and close it.

    Raises:
        InputError: There is no such file, or it is empty.
        StoreError: It can't be read, or is not a store.
    """
    with translate_errors(path), contextlib.closing(readable(path)) as connection:
        yield connection


def readable(path: Path) -> sqlite3.Connection:
    """Return a read-only connection to the store at `path`, also on a read-only disk.

    Raises:
        InputError: There is no such file.
        StoreError: As `writable`.
        sqlite3.Error, OSError: As `writable`.
    """
    if not path.exists():
        raise InputError(
            f"there is no store {path}", hint=f"`hardcost run` creates one; {_ELSEWHERE}"
        )
    real = _real(path)
    known = _schema_version(real)
    if known is None:
        raise InputError(f"the store {path} is empty", hint=_ELSEWHERE)
    connection = _connect_to_read(real)
    if known == _WITHOUT_DIGESTS:
        connection.executescript(_AS_IF_WITH_DIGESTS)
    return connection


@contextlib.contextmanager
def translate_errors(path: Path) -> Iterator[None]:
    """Turn the failures of disk and database into errors that name the file.

    Raises:
        StoreError: Instead of any error of SQLite's or the system's.
    """
    try:
        yield
    except sqlite3.Error as error:
        is_not_text = "Could not decode" in str(error)  # Python's own error, without a code
        name = "SQLITE_CORRUPT" if is_not_text else getattr(error, "sqlite_errorname", None) or ""
        what, hint = _MEANINGS.get(
            "_".join(name.split("_")[:2]), (f"can't be used: {error}", _ELSEWHERE)
        )
        raise StoreError(f"the store {path} {what}", hint=hint) from error
    except UnicodeDecodeError as error:
        what, hint = _MEANINGS["SQLITE_CORRUPT"]
        raise StoreError(f"the store {path} {what}: a name is not text", hint=hint) from error
    except OSError as error:
        full = error.errno in FULL_DISK
        hint = "free some space" if full else _ELSEWHERE
        reason = error.strerror or str(error)
        raise StoreError(f"the store {path} can't be used: {reason}", hint=hint) from error


class Owners:
    """Which process continues which run: a byte of the file beside the store, locked for each run.

    The system releases a lock when its process ends, even by SIGKILL.
    """

    def __init__(self, path: Path) -> None:
        """Open the file beside the store `path`; nothing is locked yet."""
        real = _real(path)
        self._file = own_file(real.with_name(f"{real.name}-owners"))

    def close(self) -> None:
        """Release all runs."""
        os.close(self._file)

    def take(self, run: str) -> bool:
        """Lock a run; say whether no other process has it.

        Raises:
            OSError: The file system has no locks.
        """
        at = int.from_bytes(hashlib.sha256(run.encode()).digest()[:7], "big")
        wanted = _LOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, at, 1, 0)
        try:
            fcntl.fcntl(self._file, fcntl.F_OFD_SETLK, wanted)
        except OSError as error:
            if error.errno in {errno.EAGAIN, errno.EACCES}:
                return False
            raise
        return True


def size(path: Path) -> int:
    """Return the bytes of a store with what SQLite keeps beside it, as allocated on disk."""
    real = Path(os.path.realpath(path))
    blocks = 0
    for suffix in ("", "-wal", "-journal"):
        with contextlib.suppress(OSError):
            blocks += real.with_name(f"{real.name}{suffix}").stat().st_blocks
    return blocks * 512


def _marks() -> str:
    return f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION};"


def _real(path: Path) -> Path:
    """Return where a store is, whatever link its user names: what is beside it is there."""
    real = Path(os.path.realpath(path))
    if os.path.lexists(real) and not real.is_file():
        raise StoreError(f"the store {path} is not a regular file", hint=_ELSEWHERE)
    for suffix in ("-wal", "-shm", "-journal", "-owners"):
        with contextlib.suppress(FileNotFoundError):
            check_own(real.with_name(f"{real.name}{suffix}"))
    return real


def _set_up(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Have text that is no UTF-8 come back as it is, since damage is the reader's to name."""
    connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
    connection.execute("PRAGMA trusted_schema = OFF")  # the file may be anybody's
    return connection


def _schema_version(path: Path) -> int | None:
    """Return the version of a store's schema; None: the file is empty."""
    if not path.exists() or (path.is_file() and path.stat().st_size == 0):
        return None
    with contextlib.closing(_connect_to_look(path)) as connection:
        connection.text_factory = str  # a name that is no text is damage
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        named = connection.execute("SELECT type, name FROM sqlite_schema").fetchall()
        tables = [name for kind, name in named if kind == "table" and name in _COLUMNS]
        columns = {
            table: [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            for table in tables
        }
    if application == APPLICATION_ID and version > VERSION:
        raise StoreError(
            f"the store {path} was made by a newer hardcost",
            hint="use that one, or another file with --store",
        )
    ours = {("table", "runs"), ("table", "records"), ("index", "records_by_identity")}
    others = {row for row in named if not str(row[1]).startswith("sqlite_")} - ours
    is_older = version == _WITHOUT_DIGESTS
    wanted = {table: names[:-1] if is_older else names for table, names in _COLUMNS.items()}
    is_whole = columns == wanted and version in {_WITHOUT_DIGESTS, VERSION}
    is_from_before_marks = application == 0 and is_older and not others
    if is_whole and (application == APPLICATION_ID or is_from_before_marks):
        return int(version)
    if (application, version, named) == (0, 0, []):
        return None
    raise StoreError(
        f"{path} is a SQLite database but not a hardcost store: nothing was written to it",
        hint=_ELSEWHERE,
    )


def _connect_to_look(path: Path) -> sqlite3.Connection:
    """Return a connection for finding out what a file is, leaving no trace if possible.

    If a journal lies beside the file, the content may be in the journal only; to read that, SQLite
    creates a file of its own beside it, as for every reader.
    """
    if _has_journal(path):
        return _connect_to_read(path)
    return _set_up(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True))


def _connect_to_read(path: Path) -> sqlite3.Connection:
    """Return a read-only connection.

    SQLite reads a store's journal through a file beside it that it has to create. If it can't, and
    there is no journal, the file alone is read.
    """
    place = path.absolute().as_uri()
    connection = _set_up(
        sqlite3.connect(f"{place}?mode=ro", uri=True, isolation_level=None, timeout=_WAIT_SECONDS)
    )
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.Error as error:
        connection.close()
        if not isinstance(error, sqlite3.OperationalError) or _has_journal(path):
            raise
        connection = _set_up(
            sqlite3.connect(f"{place}?mode=ro&immutable=1", uri=True, isolation_level=None)
        )
    return connection


def _has_journal(path: Path) -> bool:
    """Say whether a running or killed run has more data beside the file."""
    with contextlib.suppress(OSError):
        return path.with_name(f"{path.name}-wal").stat().st_size > 0
    return False


@contextlib.contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Keep other runs from creating a store in the same folder meanwhile.

    SQLite does not wait for other processes when both change a file's journal mode.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
