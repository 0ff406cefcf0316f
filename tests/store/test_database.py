"""The file below the store: whose it is, what is wrong with it, and who goes on with a run."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from hardcost.errors import InputError, StoreError
from hardcost.store import check, database
from hardcost.store.store import Store
from tests.store.test_store import record

BOOKMARKS = "CREATE TABLE bookmarks (url TEXT)"
OLDER = """
CREATE TABLE runs (
    name TEXT PRIMARY KEY,
    plan TEXT NOT NULL,
    study TEXT NOT NULL,
    fresh INTEGER NOT NULL,
    started TEXT NOT NULL,
    finished TEXT,
    finding TEXT                -- what it found, as JSON
);
CREATE TABLE records (
    number INTEGER PRIMARY KEY,
    run TEXT NOT NULL REFERENCES runs (name),
    identity TEXT NOT NULL,
    body TEXT NOT NULL          -- the record, as JSON
);
CREATE INDEX records_by_identity ON records (identity);
PRAGMA user_version = 1;
"""
"""The schema before there were digests; at first without the application's id."""
MARKED = f"{OLDER} PRAGMA application_id = {database.APPLICATION_ID};"


def made(path: Path, script: str, journal: str = "DELETE") -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA journal_mode = {journal}")
        connection.executescript(script)


def contents(folder: Path) -> dict[str, str]:
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir()}


def with_record(path: Path) -> Path:
    with Store(path) as store:
        run = store.start("run-1", "plan", "study", fresh=False)
        store.save(run, record())
        store.finish(run, "{}")
    return path


def changed(path: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement, values)


@pytest.mark.parametrize("journal", ["DELETE", "WAL"])
@pytest.mark.parametrize(
    "script",
    [
        BOOKMARKS,
        f"{OLDER} {BOOKMARKS}",
        OLDER.replace("body TEXT", "other TEXT"),
        f"{OLDER} PRAGMA application_id = 7;",
        "PRAGMA user_version = 1",
        "PRAGMA application_id = 7",
    ],
)
def test_another_program_s_database_is_refused_and_left_as_it_is(
    tmp_path: Path, script: str, journal: str
) -> None:
    path = tmp_path / "s"
    made(path, script, journal)
    before = contents(tmp_path)
    for read_only in (False, True):
        with pytest.raises(StoreError, match=r"not a hardcost store: nothing was written to it"):
            Store(path, read_only=read_only)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("journal", ["DELETE", "WAL"])
def test_a_store_from_before_they_were_marked_is_adopted(tmp_path: Path, journal: str) -> None:
    path = tmp_path / "s"
    row = "INSERT INTO runs VALUES ('old', 'plan', 'study', 0, '2026', NULL, NULL);"
    made(path, f"{OLDER} {row}", journal)
    with Store(path, read_only=True) as store:
        assert [run.name for run in store.runs()] == ["old"]
    with Store(path) as store:
        assert [run.name for run in store.runs()] == ["old"]
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (database.APPLICATION_ID,)


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / "s").touch()
    with pytest.raises(InputError, match="is empty"):
        Store(tmp_path / "s", read_only=True)
    assert with_record(tmp_path / "s").read_bytes().startswith(b"SQLite")


def test_what_is_not_there_is_not_made_to_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no store"):
        Store(tmp_path / "folder" / "s", read_only=True)
    assert not list(tmp_path.iterdir())


@pytest.fixture
def powerless() -> Iterator[Path]:
    """A folder of a user who may not write to it, who runs the test."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with_record(folder / "s")
        (folder / "s-owners").unlink()
        folder.chmod(0o555)
        (folder / "s").chmod(0o444)
        was = os.geteuid()
        if was == 0:
            os.seteuid(65534)
        try:
            yield folder
        finally:
            os.seteuid(was)
            folder.chmod(0o755)


def test_a_read_only_store_is_read_and_can_t_be_written_to(powerless: Path) -> None:
    with Store(powerless / "s", read_only=True) as store:
        assert [run.name for run in store.runs()] == ["run-1"]
        assert store.record("id") == record()
        with pytest.raises(StoreError, match="it is read-only"):
            store.finish(store.runs()[0], "{}")
    with pytest.raises(StoreError, match="read-only"):
        Store(powerless / "s")
    assert [file.name for file in powerless.iterdir()] == ["s"]


def test_damage_is_no_full_disk(tmp_path: Path) -> None:
    path = with_record(tmp_path / "s")
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)
    with Store(path) as store, pytest.raises(StoreError, match="is damaged") as told:
        store.runs()
    assert ".recover" in str(told.value.problems[0].hint)


def test_a_full_disk_is_called_that(tmp_path: Path) -> None:
    path = with_record(tmp_path / "s")
    with Store(path) as store:
        store._connection.execute("PRAGMA max_page_count = 1")
        run = store.runs()[0]
        large = record().model_copy(update={"notes": ("x" * 100_000,)})
        with pytest.raises(StoreError, match="the disk is full") as told:
            store.save(run, large)
    assert "free some space" in str(told.value.problems[0].hint)


def test_a_store_that_another_process_holds_is_called_that(tmp_path: Path) -> None:
    path = with_record(tmp_path / "s")
    with Store(path) as store, closing(sqlite3.connect(path, isolation_level=None)) as other:
        store._connection.execute("PRAGMA busy_timeout = 1")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="has been locked by another process"):
            store.finish(store.runs()[0], "{}")


def made_older(path: Path) -> None:
    """Turn a store into one from before there were digests."""
    new = path.with_name("older")
    made(new, MARKED)
    with closing(sqlite3.connect(new)) as connection:
        connection.execute("ATTACH ? AS now", (str(path),))
        connection.executescript(
            "INSERT INTO runs SELECT name, plan, study, fresh, started, finished, finding"
            " FROM now.runs;"
            "INSERT INTO records SELECT number, run, identity, body FROM now.records;"
        )
    for suffix in ("-wal", "-shm"):
        path.with_name(f"{path.name}{suffix}").unlink(missing_ok=True)
    new.replace(path)


def older(path: Path, *bodies: str) -> Path:
    """Return a store of an older hardcost with a finished run, and records of the trial `id`."""
    made(path, MARKED, "WAL")
    run = "INSERT INTO runs VALUES ('old-1', 'plan', 'study', 0, '2026', '2026', '{}')"
    changed(path, run)
    for body in bodies:
        changed(path, "INSERT INTO records (run, identity, body) VALUES ('old-1', 'id', ?)", body)
    return path


DAMAGE = [
    ("samples", [], "null has no samples"),
    ("samples", [1e308], "null is 1e+308"),
    ("samples", [-1.0], "null is -1"),
    ("samples", ["many"], "1 validation error"),
    ("samples", None, "1 validation error"),
    ("lost", -1, "null is -1"),
    ("metric", 7, "1 validation error"),
]


@pytest.mark.parametrize(("key", "value", "reason"), DAMAGE)
def test_a_damaged_record_counts_as_not_there_and_is_reported(
    tmp_path: Path, key: str, value: object, reason: str
) -> None:
    body = record().model_dump(mode="json")
    body["measured"][0][key] = value
    path = older(tmp_path / "s", json.dumps(body))  # which no digest shows
    with Store(path) as store:
        assert store.record("id") is None
        (told,) = store.damaged
    assert told.startswith(f"the record 1 of {path} is damaged: {reason}")


@pytest.mark.parametrize("body", ["", "{}", "[", "NaN", "null", 7, b"\xff", record("b").identity])
def test_what_is_no_record_counts_as_not_there(tmp_path: Path, body: object) -> None:
    path = with_record(tmp_path / "s")
    changed(path, "UPDATE records SET body = ?", body)
    with Store(path) as store:
        assert store.record("id") is None
        assert len(store.damaged) == 1
        assert store.durations() == ()


def test_an_older_record_takes_the_place_of_a_damaged_one(tmp_path: Path) -> None:
    path = with_record(tmp_path / "s")
    with Store(path) as store:
        store.save(store.runs()[0], record(value=5))
        changed(path, "UPDATE records SET body = '{}' WHERE number = 2")
        assert store.record("id") == record()


@pytest.mark.parametrize(
    ("statement", "value"),
    [
        ("UPDATE runs SET started = ?", b"\xff"),
        ("UPDATE runs SET study = ?", b"study"),
        ("UPDATE runs SET fresh = ?", "x"),
        ("UPDATE runs SET name = ?", None),
    ],
)
def test_a_damaged_run_is_named(tmp_path: Path, statement: str, value: object) -> None:
    for path in (with_record(tmp_path / "s"), older(tmp_path / "older")):
        changed(path, statement, value)
        with Store(path) as store:
            assert store.runs() == ()
            (lost,) = store.lost
            assert re.match(r"the run .* is damaged: it", lost)
            with pytest.raises(StoreError, match="'last' names no run"):
                store.finding("last")


@pytest.mark.parametrize("suffix", ["-owners", "-wal", "-shm", "-journal"])
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_a_link_or_pipe_beside_the_store_is_refused_and_not_followed(
    tmp_path: Path, suffix: str, kind: str
) -> None:
    (tmp_path / "folder").mkdir()
    path = with_record(tmp_path / "folder" / "s")
    beside, aim = path.with_name(f"s{suffix}"), tmp_path / "aim"
    beside.unlink(missing_ok=True)
    aim.write_text("precious")
    if kind == "pipe":
        os.mkfifo(beside)
    else:
        beside.symlink_to(aim)
    with pytest.raises(StoreError, match=f"s{suffix} can't be used: it is a {kind}"):  # noqa: SIM117
        with Store(path) as store:
            store.start("run-2", "plan", "study", fresh=False)
    assert aim.read_text() == "precious"


def test_a_store_is_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "s")
    for path in (tmp_path / "s", Path("/dev/zero"), tmp_path):
        for read_only in (False, True):
            with pytest.raises(StoreError, match="is not a regular file"):
                Store(path, read_only=read_only)


def test_a_link_that_the_user_names_is_the_store_that_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    path = tmp_path / "folder" / "s"
    (tmp_path / "link").symlink_to(path)
    with Store(tmp_path / "link") as store:
        store.start("run-1", "plan", "study", fresh=False)
        with Store(path) as other, pytest.raises(StoreError, match="still going on"):
            other.take_unfinished("plan")
        with Store(tmp_path / "link", read_only=True) as reader:
            assert [run.name for run in reader.runs()] == ["run-1"]  # which are in the journal yet
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith("link")] == ["link"]


GOES_ON = """
import sys
from pathlib import Path
from hardcost.store.store import Store
store = Store(Path(sys.argv[1]))
store.start("run-1", "plan", "study", fresh=False)
print("started", flush=True)
sys.stdin.readline()
"""


def test_a_run_that_goes_on_is_nobody_else_s_until_its_process_ends(tmp_path: Path) -> None:
    path = tmp_path / "s"
    words = [sys.executable, "-c", GOES_ON, str(path)]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "started\n"
        with (
            Store(path) as store,
            pytest.raises(StoreError, match="run-1 is still going on in another"),
        ):
            store.take_unfinished("plan")
        running.kill()
        running.wait()
    with Store(path) as first:
        adopted = first.take_unfinished("plan")
        assert adopted is not None
        with Store(path) as second, pytest.raises(StoreError, match="going on in another"):
            second.take_unfinished("plan")
        assert first.take_unfinished("plan") == adopted


def test_a_run_that_its_index_does_not_have_is_damage(tmp_path: Path) -> None:
    path = with_record(tmp_path / "s")
    data, leaf_of_an_index = bytearray(path.read_bytes()), 0x0A
    for page in range(0, len(data), 4096):
        at = data.find(b"run-1", page, page + 4096)
        if data[page] == leaf_of_an_index and at > 0:
            data[at : at + 5] = b"run-2"
    path.write_bytes(data)
    with (
        Store(path) as store,
        pytest.raises(StoreError, match=r"the result of the run run-1 in .* is dam"),
    ):
        store.finding("last")
    (found,) = check.check_store(path, (), lambda: None).damaged
    assert found.what.startswith(f"the file {path}: ")
    assert ".recover" in found.remedy


def test_what_a_run_found_is_text(tmp_path: Path) -> None:
    path = with_record(tmp_path / "s")
    changed(path, "UPDATE runs SET finding = ?", b"{}")
    with (
        Store(path) as store,
        pytest.raises(StoreError, match=r"the run 'run-1' of .* is dam"),
    ):
        store.finding("last")


def test_a_table_whose_name_is_no_text_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "s"
    made(path, BOOKMARKS)
    path.write_bytes(path.read_bytes().replace(b"bookmarks", b"\xff" * 9))
    with pytest.raises(StoreError, match="is damaged"):
        Store(path)
