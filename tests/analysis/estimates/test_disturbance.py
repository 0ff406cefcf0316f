"""What sets a block of trials aside: the machine's counters, never a time that was measured."""

from __future__ import annotations

from hardcost.analysis.estimates.disturbance import reasons, set_aside
from hardcost.model.role import role_of
from hardcost.model.workload import workload_of
from hardcost.store.record import Record
from hardcost.workloads.metric import MetricSamples


def record(repetition: int, configuration: str = "a", **seen: float) -> Record:
    return Record(
        identity="x",
        role=role_of(configuration),
        workload=workload_of("syscalls"),
        instrument="time",
        seed=0,
        repetition=repetition,
        measured=(MetricSamples(metric="null", unit="ns/op", samples=(100.0,)),),
        environment={},
        start_seconds=0,
        host_seconds=10,
        surroundings=seen,
    )


def test_each_counter_has_its_bound() -> None:
    assert reasons(record(0)) == ()
    assert reasons(record(0, steal_seconds=0.1, megahertz_before=2600, megahertz=2500)) == ()
    assert len(reasons(record(0, steal_seconds=0.11))) == 1
    assert len(reasons(record(0, megahertz_before=2600, megahertz=2400))) == 1
    assert len(reasons(record(0, megahertz_before=2400, megahertz=2600))) == 1
    assert len(reasons(record(0, throttles=1, pinned=0))) == 2
    assert reasons(record(0, pinned=1, companions=0.2)) == ()
    assert reasons(record(0, companions=0.04)) == ("a copy of the call hardly ran beside it",)


def test_a_disturbed_block_goes_with_all_its_configurations() -> None:
    calm = [record(n, name) for n in range(8) for name in "ab" if n != 5 or name != "b"]
    kept, notes = set_aside([*calm, record(5, "b", throttles=1)])
    assert {one.repetition for one in kept} == {0, 1, 2, 3, 6, 7}
    assert len(kept) == 12
    (note,) = notes
    assert note.startswith("1 of 4 blocks of trials were disturbed (the processor was throttled")
    assert note.endswith("and are left out")


def test_a_machine_that_is_always_disturbed_keeps_all() -> None:
    every = [record(n, steal_seconds=5) for n in range(6)]
    kept, notes = set_aside(every)
    assert list(kept) == every
    assert "that is usual on this machine" in notes[0]


def test_nothing_is_said_of_calm_trials() -> None:
    assert set_aside([record(0), record(1)]) == ((record(0), record(1)), ())
