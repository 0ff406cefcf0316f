"""A run on workers: the same as without them, whatever becomes of a worker or the scheduler."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from distributed import Client

from hardcost.controls.configuration import Configuration
from hardcost.errors import InputError, TrialError, WorkersError
from hardcost.machines.options import MachineOptions
from hardcost.measure.carry_out import Concurrency
from hardcost.measure.monitor import Advanced, Monitor, Note, RunEvent
from hardcost.measure.prepare import prepare_all
from hardcost.measure.run import Run
from hardcost.measure.workers import connection, runners, worker
from hardcost.measure.workers.lab import Lab
from hardcost.measure.workers.machine import spread_trials
from hardcost.mechanisms.boot import BootParameter
from hardcost.model.role import Named
from hardcost.model.workload import Workload
from hardcost.plan.plan import Plan, Trial
from hardcost.store.record import Record
from hardcost.store.store import Store
from tests.fakes.machine import make
from tests.measure.workers.labs import HARDCOST, START_SECONDS, TICK_SECONDS, RunningLab
from tests.studies import of_rules

STUDY = of_rules("some layouts", "null+open", range(3))
STOPPED_SECONDS = 3.0
PANICKING = """
from hardcost.errors import TrialError
import tests.fakes.guest as guest
def answers(boot, job):
    raise TrialError("the guest panicked")
guest.answers = answers
"""
PAUSING = BootParameter("fake=pause")
COMMAND = (sys.executable, "-c", HARDCOST)


class Heard(Monitor):
    """Keeps notes, and does something once, after so many trials."""

    def __init__(self, after: int = 0, then: Callable[[], object] = lambda: None) -> None:
        self.notes: list[str] = []
        self._after, self._then = after, then

    def hear(self, event: RunEvent) -> None:
        if isinstance(event, Note):
            self.notes.append(event.text)
        if isinstance(event, Advanced) and event.name == "trials" and event.done == self._after:
            self._then()


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLab]:
    """A scheduler with a worker that stays."""
    with RunningLab(tmp_path_factory.mktemp("lab")) as lab:
        lab.worker("stays")
        yield lab


@pytest.fixture
def own_lab(tmp_path: Path) -> Iterator[RunningLab]:
    """A scheduler without workers, which a test may kill."""
    with RunningLab(tmp_path) as lab:
        yield lab


def plan(seeds: int = 6) -> Plan:
    configurations = (Configuration(Named("plain")), Configuration(Named("paused"), (PAUSING,)))
    workload = Workload("syscalls", (("calls", "null"),))
    trials = tuple(
        Trial(configuration, workload, "insn", seed)
        for seed in range(seeds)
        for configuration in configurations
    )
    return Plan("study", "Study", "insn", Named("plain"), trials)


def measured(
    where: str | None, store: Path, heard: Monitor, of: Plan, *, resume: bool = False
) -> tuple[Record, ...]:
    machine = asyncio.run(make(MachineOptions(), heard))
    with ExitStack() as stack:
        chosen: Any = machine
        if where is not None:
            chosen = stack.enter_context(
                spread_trials(machine, Lab(where), "insn", heard, asyncio.run)
            )
        opened = stack.enter_context(Store(store))
        prepared = prepare_all(of, machine, heard)
        limits = Concurrency(2)
        run = Run.of(of, prepared, chosen, opened, heard, limits=limits, resume=resume)
        return run.measure().records


def as_kept(records: tuple[Record, ...]) -> list[str]:
    """Return all of records but how long they took."""
    times = {"host_seconds": 0.0, "start_seconds": 0.0}
    return [one.model_copy(update=times).model_dump_json() for one in records]


def rows(store: Path) -> list[str]:
    with Store(store) as opened:
        found = opened._connection.execute("SELECT identity FROM records").fetchall()
    return sorted(row[0] for row in found)


def test_records_are_those_of_a_run_without_workers(lab: RunningLab, tmp_path: Path) -> None:
    here = measured(None, tmp_path / "here.sqlite", Heard(), plan())
    there = measured(lab.address, tmp_path / "there.sqlite", Heard(), plan())
    assert as_kept(there) == as_kept(here)
    assert rows(tmp_path / "there.sqlite") == rows(tmp_path / "here.sqlite")


def test_the_command_prints_the_same_cells(lab: RunningLab, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    printed = []
    for store, words in (("here", ()), ("there", ("--workers", lab.address))):
        own = {**os.environ, "HARDCOST_STORE": str(tmp_path / f"{store}.sqlite")}
        run = ("run", "study.toml", "--machine", "fake", "--seeds", "3", "--format", "json")
        done = subprocess.run(
            [*COMMAND, *run, *words],
            env=own,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        printed.append(json.dumps(json.loads(done.stdout)["cells"]))
    assert printed[1] == printed[0]
    assert "1 worker at" in done.stderr


def test_a_worker_that_is_killed_costs_nothing_but_time(lab: RunningLab, tmp_path: Path) -> None:
    lab.worker("dies")
    heard = Heard(5, lambda: lab.kill("dies"))
    there = measured(lab.address, tmp_path / "there.sqlite", heard, plan(20))
    here = measured(None, tmp_path / "here.sqlite", Heard(), plan(20))
    assert as_kept(there) == as_kept(here)
    assert rows(tmp_path / "there.sqlite") == rows(tmp_path / "here.sqlite")
    assert "2 workers at" in heard.notes[0]
    assert "worker dies is gone; its trials run elsewhere" in heard.notes


@pytest.mark.slow
def test_a_worker_that_comes_takes_trials_also_when_all_others_are_gone(
    own_lab: RunningLab, tmp_path: Path
) -> None:
    own_lab.worker("first", 1)

    def replaced() -> None:
        own_lab.kill("first")
        own_lab.worker("second", 1)

    heard = Heard(2, replaced)
    there = measured(own_lab.address, tmp_path / "there.sqlite", heard, plan())
    here = measured(None, tmp_path / "here.sqlite", Heard(), plan())
    assert as_kept(there) == as_kept(here)
    assert "worker second has joined and takes trials" in heard.notes


@pytest.mark.slow
def test_a_run_ends_when_no_worker_is_left_and_goes_on_where_there_is_one(
    own_lab: RunningLab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runners, "_NOBODY_SECONDS", 1.0)
    own_lab.worker("only")
    heard = Heard(3, lambda: own_lab.kill("only"))
    with pytest.raises(WorkersError, match="no worker is left") as raised:
        measured(own_lab.address, tmp_path / "x.sqlite", heard, plan())
    assert "--resume" in str(raised.value.problems[0].hint)
    before = rows(tmp_path / "x.sqlite")
    assert len(before) >= 3
    own_lab.worker("next")
    heard = Heard()
    there = measured(own_lab.address, tmp_path / "x.sqlite", heard, plan(), resume=True)
    assert as_kept(there) == as_kept(measured(None, tmp_path / "y.sqlite", Heard(), plan()))
    assert any("continuing" in note for note in heard.notes)
    assert rows(tmp_path / "x.sqlite") == rows(tmp_path / "y.sqlite")


@pytest.mark.slow
def test_a_scheduler_that_dies_leaves_a_run_that_goes_on(
    own_lab: RunningLab, tmp_path: Path
) -> None:
    own_lab.worker("one")
    heard = Heard(3, lambda: own_lab.kill("scheduler"))
    with pytest.raises(WorkersError, match="lost") as raised:
        measured(own_lab.address, tmp_path / "x.sqlite", heard, plan())
    assert "--resume" in str(raised.value.problems[0].hint)
    assert own_lab.started.pop("one").wait() == 3
    assert "is gone" in own_lab.said_by("one")
    own_lab.open().worker("two")
    there = measured(own_lab.address, tmp_path / "x.sqlite", Heard(), plan(), resume=True)
    assert as_kept(there) == as_kept(measured(None, tmp_path / "y.sqlite", Heard(), plan()))
    assert rows(tmp_path / "x.sqlite") == rows(tmp_path / "y.sqlite")


@pytest.mark.slow
def test_a_trial_that_too_many_workers_die_of_fails(tmp_path: Path) -> None:
    none_allowed = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
    with RunningLab(tmp_path, settings=none_allowed) as lab:
        lab.worker("one", 1)
        heard = Heard(3, lambda: dead_with_a_trial(lab, "one"))
        with pytest.raises(TrialError, match=r"1 worker died while it had this trial; .* one"):
            measured(lab.address, tmp_path / "x.sqlite", heard, plan())


def test_an_interrupted_run_leaves_nothing_running_on_workers(
    lab: RunningLab, tmp_path: Path
) -> None:
    (tmp_path / "study.toml").write_text(STUDY.replace("[base]", '[base]\nboot = ["fake=pause"]'))
    words = ("run", "study.toml", "--machine", "fake", "--seeds", "60", "--workers", lab.address)
    own = {**os.environ, "HARDCOST_STORE": str(tmp_path / "x.sqlite")}
    with (tmp_path / "err").open("w") as err:
        process = subprocess.Popen([*COMMAND, *words], env=own, cwd=tmp_path, stderr=err)
    deadline = time.monotonic() + START_SECONDS
    while not running(lab):
        assert process.poll() is None, (tmp_path / "err").read_text()
        assert time.monotonic() < deadline
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    while running(lab):
        assert time.monotonic() < deadline
        time.sleep(TICK_SECONDS)
    assert "--resume continues" in (tmp_path / "err").read_text()


def dead_with_a_trial(lab: RunningLab, name: str) -> None:
    """Kill a worker once it has surely been given a trial more, which it can't begin."""
    lab.started[name].send_signal(signal.SIGSTOP)
    threading.Timer(STOPPED_SECONDS, lab.kill, [name]).start()


def running(lab: RunningLab) -> int:
    """Return how many trials workers carry out or hold."""

    def held(dask_worker: Any) -> int:  # noqa: ANN401  (Dask's worker)
        return len(dask_worker.plugins["hardcost"]._running) + len(dask_worker.state.tasks)

    with Client(lab.address) as client:
        return sum(client.run(held).values())


def test_no_worker_at_all_is_an_error_at_the_start(own_lab: RunningLab, tmp_path: Path) -> None:
    message = f"no worker at {own_lab.address} has the resource hardcost.guests"
    with pytest.raises(WorkersError, match=message):
        measured(own_lab.address, tmp_path / "x.sqlite", Heard(), plan())
    own_lab.start(
        "plain",
        [sys.executable, "-m", "dask", "worker", own_lab.address, "--no-nanny", "--no-dashboard"],
        "Registered to:",
    )
    with pytest.raises(WorkersError, match=r"hardcost.guests \(1 worker without it\)"):
        measured(own_lab.address, tmp_path / "x.sqlite", Heard(), plan())


@pytest.mark.parametrize(
    ("first", "reason"),
    [
        (
            "import hardcost.measure.workers.facts as facts; facts.own_code = lambda: 'another'",
            r"its hardcost is \S+ \(code another\), here it is",
        ),
        (
            "import tests.fakes.guest as guest; guest._BASES['null'] += 1",
            "its check trial counts something else",
        ),
        (
            PANICKING,
            "its check trial failed: the guest panicked",
        ),
    ],
)
def test_a_worker_that_is_not_like_this_host_is_refused_by_name(
    own_lab: RunningLab, tmp_path: Path, first: str, reason: str
) -> None:
    own_lab.worker("odd", first=first)
    heard = Heard()
    with pytest.raises(WorkersError, match=r"every worker at .* was refused"):
        measured(own_lab.address, tmp_path / "x.sqlite", heard, plan())
    (said,) = heard.notes
    assert said.startswith("worker odd is refused: ")
    assert re.search(reason, said)
    assert "a run gives this worker no trials" in own_lab.said_by("odd")


def test_the_others_are_used_where_one_worker_is_refused(lab: RunningLab, tmp_path: Path) -> None:
    lab.worker("odd", first="import tests.fakes.guest as g; g._BASES['null'] += 1")
    heard = Heard()
    try:
        there = measured(lab.address, tmp_path / "x.sqlite", heard, plan())
    finally:
        lab.end("odd")
    assert as_kept(there) == as_kept(measured(None, tmp_path / "y.sqlite", Heard(), plan()))
    assert any(note.startswith("worker odd is refused") for note in heard.notes)


def test_an_instrument_that_is_not_exact_is_refused() -> None:
    machine = asyncio.run(make(MachineOptions(), Heard()))
    with (
        pytest.raises(InputError, match="time is not the same on several hosts"),
        spread_trials(machine, Lab("tcp://127.0.0.1:9"), "time", Heard(), asyncio.run),
    ):
        pass


def test_where_nobody_listens_the_address_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "_CONNECT_SECONDS", 0.5)
    with pytest.raises(WorkersError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9:"):
        measured("tcp://127.0.0.1:9", tmp_path / "x.sqlite", Heard(), plan())


def test_what_came_of_a_trial_survives_packing() -> None:
    error = TrialError("it died", hint="look", console="a line")
    again = worker.unpack_value(worker.pack_value(worker.WorkerFault.of(error))).error()
    assert type(again) is TrialError
    assert (str(again), again.problems[0].hint, again.console) == ("it died", "look", "a line")
