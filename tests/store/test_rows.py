"""What is read of the store is what was written to it, or is called damaged, or unchecked."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from hardcost.errors import StoreError
from hardcost.model.workload import Workload
from hardcost.store import check, run_name
from hardcost.store.read_only import names, runs
from hardcost.store.store import Store
from tests.store.test_database import changed, older, with_record
from tests.store.test_store import record


@pytest.mark.parametrize("read_only", [True, False])
def test_a_store_from_before_digests_is_read_and_its_rows_are_unchecked(
    tmp_path: Path, *, read_only: bool
) -> None:
    path = older(tmp_path / "s", record().model_dump_json())
    before = path.read_bytes()
    with Store(path, read_only=read_only) as store:
        assert [(run.name, run.unchecked) for run in store.runs()] == [("old-1", True)]
        assert store.finding("last")[1] == "{}"
        assert store.record("id") == record()
        assert (store.unchecked, store.damaged, store.lost) == (1, [], [])
        assert store.durations() == ((Workload("syscalls"), "insn", 2.0),)
    assert (path.read_bytes() == before) == read_only
    assert [(one.name, one.unchecked) for one in runs(path).runs] == [("old-1", True)]
    found = check.check_store(path, (), lambda: None)
    assert found.damaged == ()
    assert found.runs == (check.CheckedRun("old-1", "unchecked", trials=1, unchecked=1),)


def test_what_is_added_to_an_older_store_is_checked_and_the_rest_stays_unchecked(
    tmp_path: Path,
) -> None:
    path = older(tmp_path / "s", record().model_dump_json())
    changed(path, "INSERT INTO runs VALUES ('old-2', 'plan', 'study', 0, '2026', NULL, NULL)")
    with Store(path) as store:
        going_on = store.take_unfinished("plan")
        assert going_on is not None
        store.save(going_on, record("other"))
        store.finish(going_on, "{}")
        new = store.start("new-1", "plan", "study", fresh=True)
        store.save(new, record())
        store.finish(new, "{}")
    states = {one.name: one for one in check.check_store(path, (), lambda: None).runs}
    assert states == {
        "old-1": check.CheckedRun("old-1", "unchecked", trials=1, unchecked=1),
        "old-2": check.CheckedRun("old-2", "unchecked", trials=1),
        "new-1": check.CheckedRun("new-1", "as written", trials=1),
    }


@pytest.mark.parametrize(
    "name", ["/etc/cron.d/x", "../x", "a/b", ".x", "", "a\nb", "\x1b[2J", "x" * 241, "a\0b"]
)
def test_a_name_that_is_no_run_s_is_damage_also_without_a_digest(tmp_path: Path, name: str) -> None:
    path = older(tmp_path / "s")
    changed(path, "UPDATE runs SET name = ?", name)
    with Store(path) as store:
        assert store.runs() == ()
        with pytest.raises(StoreError, match="its name can't be a run's"):
            store.finding(name)
    assert names(path) == ()
    assert runs(path).runs == ()


def sealed(path: Path) -> None:
    """Fill a store with two runs, whose records are of the same and of other trials."""
    with Store(path) as store:
        for number in (1, 2):
            run = store.start(f"run-{number}", "plan", f"study-{number}", fresh=False)
            store.save(run, record("id", value=number))
            store.save(run, record(f"own-{number}", value=number))
            store.finish(run, json.dumps({"of": number}))


EXCHANGE = (
    "UPDATE {0} SET {1} = (SELECT {1} FROM {0} AS other WHERE other.rowid = 3 - {0}.rowid)"
    " WHERE rowid IN (1, 2)"
)
CHANGES = [
    "UPDATE records SET body = replace(body, '1.0', '7.0') WHERE number = 1",
    "UPDATE records SET body = CAST(replace(body, '1.0', '7.0') AS BLOB) WHERE number = 1",
    "UPDATE records SET body = body || ' ' WHERE number = 1",
    "UPDATE records SET identity = 'id' WHERE number = 2",
    "UPDATE records SET run = 'run-2' WHERE number = 1",
    "UPDATE records SET number = 9 WHERE number = 1",
    "UPDATE records SET digest = '' WHERE number = 1",
    "UPDATE records SET digest = upper(digest) WHERE number = 1",
    EXCHANGE.format("records", "body"),
    EXCHANGE.format("records", "digest"),
    "INSERT INTO records SELECT 9, run, identity, body, digest FROM records WHERE number = 1",
    "UPDATE runs SET finding = '{\"of\": 7}' WHERE rowid = 1",
    "UPDATE runs SET finding = NULL, finished = NULL WHERE rowid = 1",
    "UPDATE runs SET finished = '2000' WHERE rowid = 1",
    "UPDATE runs SET started = '9999' WHERE rowid = 1",
    "UPDATE runs SET name = 'run-9' WHERE rowid = 1",
    "UPDATE runs SET plan = 'other' WHERE rowid = 1",
    "UPDATE runs SET study = 'other' WHERE rowid = 1",
    "UPDATE runs SET fresh = 1 WHERE rowid = 1",
    EXCHANGE.format("runs", "finding"),
    EXCHANGE.format("runs", "digest"),
]


@pytest.mark.parametrize("change", CHANGES)
def test_what_changed_since_it_was_written_is_found_and_not_used(
    tmp_path: Path, change: str
) -> None:
    path = tmp_path / "s"
    sealed(path)
    changed(path, change)
    found = check.check_store(path, (), lambda: None)
    assert found.damaged
    assert all("is damaged: it is not as it was written" in one.what for one in found.damaged)
    outline = runs(path)
    assert [one.what for one in found.damaged] == [*outline.lost, *outline.damaged]
    wanted = {f"run-{number}": json.dumps({"of": number}) for number in (1, 2)}
    with Store(path, read_only=True) as store:
        for run in store.runs():
            assert store.finding(run.name) == (run, wanted[run.name])
        for name, one in store.records():
            assert one.measured[0].samples == (float(name[-1]),)
        assert [*store.lost, *store.damaged] == [one.what for one in found.damaged]


def test_a_run_s_name_is_one_of_a_file_whatever_its_study_is_called() -> None:
    for study in ("a", ".hidden", "a/b", "a\nb", "", "é" * 200, "x" * 300, "\udcff"):
        assert run_name.is_name(run_name.make_name(study, "20260101-000000-abcd")), study
    assert run_name.make_name("my study", "1") == "my study-1"


def test_a_bit_anywhere_in_the_file_changes_nothing_unnoticed(tmp_path: Path) -> None:
    path = tmp_path / "s"
    sealed(path)
    whole = path.read_bytes()
    chance = random.Random(5)  # noqa: S311  (no secret)
    noticed = 0
    for _ in range(300):
        data = bytearray(whole)
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        path.write_bytes(data)
        said = 0
        try:
            with Store(path, read_only=True) as store:
                for name, one in store.records():
                    assert one.measured[0].samples == (float(name[-1]),)
                for run in store.runs():
                    assert store.finding(run.name)[1] == json.dumps({"of": int(run.name[-1])})
                said = len(store.damaged) + len(store.lost)
        except StoreError:
            said = 1
        noticed += said > 0
    assert noticed > 20


def test_rows_that_a_damaged_table_lacks_are_said_to_be_missing(tmp_path: Path) -> None:
    path = tmp_path / "s"
    sealed(path)
    whole = path.read_bytes()
    pages = [whole[at : at + 4096] for at in range(0, len(whole), 4096)]
    orders = [(a, b) for a in range(1, len(pages)) for b in range(1, a)]
    for a, b in orders:
        data = list(pages)
        data[a], data[b] = data[b], data[a]
        path.write_bytes(b"".join(data))
        try:
            outline = runs(path)
            with Store(path, read_only=True) as store:
                assert len(store.runs()) == 2 or store.lost, (a, b)
                assert len(list(store.records())) == 4 or store.damaged, (a, b)
        except StoreError:
            continue
        assert len(outline.runs) == 2 or outline.lost, (a, b)
    assert orders


def test_what_sqlite_can_t_read_is_damage(tmp_path: Path) -> None:
    path = with_record(tmp_path / "s")
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)
    found = check.check_store(path, (), lambda: None)
    assert check.size(path) == 0
    assert all("is damaged" in one.what or "the file " in one.what for one in found.damaged)
    assert ".recover" in found.damaged[0].remedy
