"""A run: what it measures once, takes from the store, resumes, and does where trials fail."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hardcost.controls.configuration import Configuration
from hardcost.controls.control import Control
from hardcost.errors import InputError, MachineError, TrialError
from hardcost.machines.machine import Capabilities
from hardcost.measure.carry_out import Concurrency
from hardcost.measure.monitor import (
    Advanced,
    Expected,
    Failed,
    Monitor,
    Note,
    RunEvent,
    Silent,
    StageBegan,
)
from hardcost.measure.prepare import prepare_all
from hardcost.measure.run import Run
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.kconfig import Kernel, KernelOption
from hardcost.model.finding.study import StudyFinding
from hardcost.model.role import Named
from hardcost.model.workload import Workload
from hardcost.plan.plan import Plan, Trial
from hardcost.store.store import Store
from tests.fakes import guest
from tests.fakes.machine import FakeMachine

NULL = Workload("syscalls", (("calls", "null"),))


class Kept(Monitor):
    """Keeps what it hears."""

    def __init__(self) -> None:
        self.heard: list[RunEvent] = []

    def hear(self, event: RunEvent) -> None:
        self.heard.append(event)

    @property
    def notes(self) -> list[str]:
        return [one.text for one in self.heard if isinstance(one, Note)]


def plan_of(*workloads: Workload, seeds: int = 1, **controls: tuple[Control, ...]) -> Plan:
    configurations = tuple(Configuration(Named(name), of) for name, of in controls.items())
    trials = tuple(
        Trial(configuration, workload, "insn", seed)
        for configuration in configurations
        for workload in workloads or (NULL,)
        for seed in range(seeds)
    )
    return Plan("study", "Study", "insn", configurations[0].role, trials)


def machine() -> FakeMachine:
    return FakeMachine(guest.answers, guest.account)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "s.sqlite") as opened:
        yield opened


def begun(  # noqa: PLR0913  (as a run's own)
    plan: Plan,
    on: FakeMachine,
    store: Store,
    monitor: Monitor | None = None,
    *,
    fresh: bool = False,
    resume: bool = False,
) -> Run:
    monitor = monitor or Silent()
    prepared = prepare_all(plan, on, monitor)
    limits = Concurrency(2)
    return Run.of(plan, prepared, on, store, monitor, limits=limits, fresh=fresh, resume=resume)


def finding(run: Run) -> StudyFinding:
    return StudyFinding(run=run.name, study="study", title="Study", instrument="insn", cells=())


def word(text: str) -> tuple[Control, ...]:
    return (BootParameter(text),)


def test_the_same_state_under_two_names_is_measured_once_and_shown_under_both(
    tmp_path: Path, store: Store
) -> None:
    workloads = []
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"\x7fELF the same")
        workloads.append(Workload("command", (("file", str(tmp_path / name)),)))
    plan = plan_of(*workloads, none=(), also_none=())
    on = machine()
    for _ in range(2):  # measured, then out of the store
        measured = begun(plan, on, store).measure()
        shown = {(str(record.role), str(record.workload)) for record in measured.records}
        assert shown == {(trial.configuration.name, str(trial.workload)) for trial in plan.trials}
        assert not measured.failures
    assert len(on.started) == 1


def test_a_damaged_record_is_reported_and_measured_again(store: Store) -> None:
    plan, on, monitor = plan_of(none=()), machine(), Kept()
    begun(plan, on, store).measure()
    store._connection.execute("UPDATE records SET body = '{}'")
    records = begun(plan, on, store, monitor).measure().records
    assert len(records) == 1
    assert len(on.started) == 2
    assert any("is damaged: " in note and "measured again" in note for note in monitor.notes)


def test_a_fresh_run_takes_nothing_from_the_store(store: Store) -> None:
    plan, on = plan_of(none=()), machine()
    begun(plan, on, store).measure()
    begun(plan, on, store, fresh=True).measure()
    assert len(on.started) == 2


def test_the_first_failure_ends_a_run_that_resumes_where_it_was(store: Store) -> None:
    plan = plan_of(none=(), dies=word("fake=fail"))
    run = begun(plan, machine(), store)
    with pytest.raises(TrialError, match=r"^dies, .*the guest panicked"):
        run.measure()
    monitor = Kept()
    again = begun(plan, machine(), store, monitor, resume=True)
    assert again.name == run.name
    assert monitor.notes[0] == f"continuing {run.name}"
    assert begun(plan, machine(), store).name != run.name


def test_a_run_that_keeps_going_has_every_failure_in_its_finding(store: Store) -> None:
    plan = plan_of(none=(), dies=word("fake=fail"), unbootable=word("fake=unbootable"))
    monitor = Kept()
    run = begun(plan, machine(), store, monitor)
    measured = run.measure(keep_going=True)
    assert [str(one.role) for one in measured.records] == ["none"]
    assert {str(one.configuration) for one in measured.failures} == {"dies", "unbootable"}
    found = run.finish(finding(run), measured)
    assert found.failures == measured.failures
    assert (found.machine, found.environment["host"]) == ("fake", "fake")
    assert store.finding(run.name)[0].finished
    assert [one.configuration for one in monitor.heard if isinstance(one, Failed)] == [
        None,  # what does not boot may be several trials'
        "dies",
    ]


def test_a_run_whose_trials_all_fail_is_no_run(store: Store) -> None:
    run = begun(plan_of(dies=word("fake=fail")), machine(), store)
    with pytest.raises(TrialError, match="panicked"):
        run.measure(keep_going=True)


def test_a_parameter_that_the_kernel_does_not_know_is_refused_before_anything_runs(
    store: Store,
) -> None:
    on = machine()
    run = begun(plan_of(none=(), odd=word("nosuch=1")), on, store)
    with pytest.raises(InputError, match="nosuch=1"):
        run.measure()
    assert on.started == []
    kept = begun(plan_of(none=(), odd=word("nosuch=1")), on, store).measure(keep_going=True)
    assert [str(one.configuration) for one in kept.failures] == ["odd"]


def test_what_happens_is_heard_in_order_with_the_time_expected_once(store: Store) -> None:
    on, monitor = machine(), Kept()
    begun(plan_of(none=(), zero=word("init_on_alloc=1")), on, store).measure()
    run = begun(plan_of(seeds=3, none=(), zero=word("init_on_alloc=1")), on, store, monitor)
    run.measure()
    (expected,) = [one for one in monitor.heard if isinstance(one, Expected)]
    assert [(one.name, one.count) for one in expected.stages] == [("boots", 4), ("trials", 4)]
    stages = [one for one in monitor.heard if isinstance(one, StageBegan)]
    assert [(one.name, one.total) for one in stages] == [
        ("trials worked out", 6),
        ("boots", 4),
        ("trials", 4),
    ]
    assert stages[1].expected_seconds == expected.stages[0].span.middle == 2
    trials = [one.done for one in monitor.heard if isinstance(one, Advanced)][-4:]
    assert trials == [1, 2, 3, 4]
    assert "2 of 6 trials were measured earlier and are reused" in monitor.notes


def test_more_is_measured_in_the_same_run(store: Store) -> None:
    on = machine()
    run = begun(plan_of(none=()), on, store)
    measured = run.measure()
    (record,) = run.measure_plan(plan_of(zero=word("init_on_alloc=1"))).records
    assert record.measured[0].samples[0] == 500
    assert run.finish(finding(run), measured).run == run.name
    assert begun(plan_of(zero=word("init_on_alloc=1")), on, store).measure().records[0] == record


def test_a_kernel_is_built_once_and_scored(store: Store) -> None:
    on, monitor = machine(), Kept()
    controls = (Kernel("lean"), KernelOption("SLUB_DEBUG", "y"))
    run = begun(plan_of(none=(), built=controls), on, store, monitor)
    measured = run.measure()
    assert monitor.notes.count("building kernel 1 of 1; each is kept") == 1
    assert set(map(str, run.finish(finding(run), measured).scores)) == {"built"}


@pytest.mark.parametrize(
    ("able", "said"),
    [
        (Capabilities(frozenset({"time"})), "instrument insn"),
        (Capabilities(frozenset({"insn"}), parameters=False), "no boot parameters"),
        (Capabilities(frozenset({"insn"}), guests=frozenset({"debian"})), "no guest 'small'"),
        (Capabilities(frozenset({"insn"}), layouts=False), "memory layout"),
        (Capabilities(frozenset({"insn"})), "no kernels are installed on it"),
        (Capabilities(frozenset({"insn"}), kernels=False, installed=True), "and not debian:6.1"),
    ],
)
def test_what_is_beyond_a_machine_is_refused_before_anything_is_fetched(
    store: Store, able: Capabilities, said: str
) -> None:
    class Unfetched(FakeMachine):
        def fetch(self, *_: object) -> None:
            raise MachineError("it fetched")

    on = Unfetched(guest.answers, capabilities=able)
    kernel = "debian:6.1" if able.installed else "installed:6.1.0"
    controls = (*word("init_on_alloc=1"), Kernel(kernel, shipped=True))
    with pytest.raises(InputError, match=said):
        begun(plan_of(seeds=2, none=(), zero=controls), on, store)
