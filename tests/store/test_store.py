"""The store: what was saved is there, whatever happens next."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from hardcost.errors import InputError, StoreError
from hardcost.model.role import role_of
from hardcost.model.workload import Workload, workload_of
from hardcost.store.location import default_path
from hardcost.store.record import Record
from hardcost.store.store import Store
from hardcost.workloads.metric import MetricSamples


def record(identity: str = "id", value: float = 1.0, seconds: float = 2.0) -> Record:
    return Record(
        identity=identity,
        role=role_of("rules=0"),
        workload=workload_of("syscalls"),
        instrument="insn",
        seed=0,
        repetition=0,
        measured=(MetricSamples(metric="null", unit="insn/op", samples=(value,), fired={"k": 1}),),
        environment={"qemu": "7"},
        start_seconds=0.1,
        host_seconds=seconds,
    )


def test_a_record_comes_back_as_it_went_in(tmp_path: Path) -> None:
    with Store(tmp_path / "s") as store:
        store.save(store.start("run-1", "plan", "study", fresh=False), record())
    with Store(tmp_path / "s") as store:
        assert store.record("id") == record()
        assert store.record("other") is None


def test_the_newest_record_of_a_trial_counts(tmp_path: Path) -> None:
    with Store(tmp_path / "s") as store:
        run = store.start("run-1", "plan", "study", fresh=False)
        store.save(run, record(value=1))
        store.save(run, record(value=2))
        found = store.record("id")
    assert found is not None
    assert found.measured[0].samples == (2.0,)


def test_a_fresh_run_sees_only_its_own_records(tmp_path: Path) -> None:
    with Store(tmp_path / "s") as store:
        store.save(store.start("run-1", "plan", "study", fresh=False), record())
        fresh = store.start("run-2", "plan", "study", fresh=True)
        assert store.record("id", fresh) is None
        store.save(fresh, record(value=5))
        found = store.record("id", fresh)
    assert found is not None
    assert found.measured[0].samples == (5.0,)


def test_an_interrupted_run_is_found_by_its_plan(tmp_path: Path) -> None:
    with Store(tmp_path / "s") as store:
        done = store.start("run-1", "plan", "study", fresh=False)
        store.finish(done, "{}")
        assert store.take_unfinished("plan") is None
        store.start("run-2", "plan", "study", fresh=True)
        store.start("run-3", "other", "study", fresh=False)
        found = store.take_unfinished("plan")
    assert found is not None
    assert (found.name, found.fresh) == ("run-2", True)


def test_a_run_is_named_by_a_unique_beginning_or_as_the_last(tmp_path: Path) -> None:
    with Store(tmp_path / "s") as store:
        for name in ("a-1", "a-2", "b-1"):
            store.finish(store.start(name, "plan", "study", fresh=False), name)
        assert store.finding("b")[1] == "b-1"
        assert store.finding("last")[1] == "b-1"
        assert store.finding("a-1")[1] == "a-1"
        for unclear in ("a", "z", ""):
            with pytest.raises(InputError):
                store.finding(unclear)


def test_an_interrupted_run_has_no_result_and_says_what_to_do(tmp_path: Path) -> None:
    with Store(tmp_path / "s") as store:
        store.start("a-1", "plan", "study", fresh=False)
        with pytest.raises(InputError) as error:
            store.finding("a-1")
    assert "--resume" in str(error.value.problems[0].hint)


def test_durations_are_those_of_the_last_trials_newest_last(tmp_path: Path) -> None:
    with Store(tmp_path / "s") as store:
        assert store.durations() == ()
        run = store.start("run-1", "plan", "study", fresh=False)
        for seconds in (1.0, 3.0):
            store.save(run, record(seconds=seconds))
        assert store.durations() == tuple((Workload("syscalls"), "insn", one) for one in (1.0, 3.0))


def test_rubbish_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "s").write_bytes(b"rubbish " * 1000)
    with pytest.raises(StoreError, match="s is not a SQLite database"):
        Store(tmp_path / "s")


def test_a_newer_store_is_left_alone(tmp_path: Path) -> None:
    Store(tmp_path / "s").__exit__(None, None, None)
    with sqlite3.connect(tmp_path / "s") as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreError, match="made by a newer hardcost"):
        Store(tmp_path / "s")
    with pytest.raises(StoreError, match="made by a newer hardcost"):
        Store(tmp_path / "s", read_only=True)


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="can't be used"):
        Store(tmp_path / "file" / "s")


def test_a_record_is_on_disk_when_save_returns(tmp_path: Path) -> None:
    """A process that saves and is killed at once loses nothing."""
    program = f"""
import os, signal, sys
sys.path[:0] = {[str(Path(__file__).parent), *sys.path]!r}
from pathlib import Path
from test_store import record
from hardcost.store.store import Store
store = Store(Path({str(tmp_path / "s")!r}))
store.save(store.start("run-1", "plan", "study", fresh=False), record())
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True)
    assert done.returncode == -9, done.stderr
    with Store(tmp_path / "s") as store:
        assert store.record("id") == record()


def test_the_store_can_be_put_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARDCOST_STORE", "/somewhere/s")
    assert default_path() == Path("/somewhere/s")


def test_processes_that_make_the_same_store_at_once_all_get_it(tmp_path: Path) -> None:
    program = """
import sys
from pathlib import Path
from hardcost.store.store import Store
sys.stdin.readline()
for number in range(20):
    with Store(Path(sys.argv[1]) / str(number)) as store:
        store.start(sys.argv[2], "plan", "study", fresh=False)
"""
    words = [sys.executable, "-c", program, str(tmp_path)]
    started = [
        subprocess.Popen([*words, name], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for name in ("a", "b", "c")
    ]
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    complaints = [process.communicate()[1] for process in started]
    assert complaints == ["", "", ""]
    with Store(tmp_path / "19") as store:
        assert {run.name for run in store.runs()} == {"a", "b", "c"}
