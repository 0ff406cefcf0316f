"""What becomes of a bill where guests do not bear each control."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

import pytest

from auditrules.model.location import Location
from hardcost.controls.control import Profile
from hardcost.errors import InputError, MachineError, TrialError
from hardcost.measure import control_failures
from hardcost.measure.carry_out import Concurrency
from hardcost.measure.monitor import Silent
from hardcost.measure.prepare import prepare_all
from hardcost.measure.run import Run
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.model.workload import Workload
from hardcost.plan import leave_one_out
from hardcost.protocol.answers import Answer
from hardcost.protocol.boot import Boot
from hardcost.protocol.requests import Request
from hardcost.store.store import Store
from tests.fakes import guest
from tests.fakes.machine import FakeMachine

CONTROLS = (BootParameter("a"), BootParameter("b"), Sysctl("kernel.x", "1"))
WORKLOADS = (Workload("syscalls", (("calls", "null"),)),)
planned = functools.partial(leave_one_out.bill_plan, workloads=WORKLOADS)


def measured(folder: Path, deadly: Sequence[set[str]]) -> control_failures.Spared:
    """Measure a bill in guests that die of all boot words of a set together."""

    def answer(boot: Boot, job: Sequence[Request]) -> Sequence[Answer]:
        for words in deadly:
            if words <= set(boot.parameters):
                raise TrialError("the guest panicked")
        return guest.answers(boot, job)

    machine, monitor = FakeMachine(answer), Silent()
    profile = Profile("p", "p", "", CONTROLS)
    plan = planned(profile)
    with Store(folder / "x.sqlite") as store:
        prepared = prepare_all(plan, machine, monitor)
        run = Run.of(plan, prepared, machine, store, monitor, limits=Concurrency(1))
        return control_failures.measure_and_drop_failing(profile, planned, run)


def test_a_control_that_kills_its_guest_leaves_the_others_a_bill(tmp_path: Path) -> None:
    found = measured(tmp_path, [{"b"}])
    assert [(one.control, one.reason) for one in found.unmeasured] == [("b", "the guest panicked")]
    assert found.profile.controls == (CONTROLS[0], CONTROLS[2])
    names = {str(one.role) for one in found.measured.records}
    assert names >= {"baseline", "profile", "alone:0", "without:1"}


def test_of_two_that_kill_only_together_one_is_left_out(tmp_path: Path) -> None:
    found = measured(tmp_path, [{"a", "b"}])
    (lost,) = found.unmeasured
    assert lost.control == "a"
    assert lost.reason == "together with the others: the guest panicked"


def test_each_that_kills_its_guest_is_named(tmp_path: Path) -> None:
    found = measured(tmp_path, [{"a"}, {"b"}])
    assert [one.control for one in found.unmeasured] == ["a", "b"]


def test_what_no_control_is_to_blame_for_is_raised(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="panicked"):
        measured(tmp_path, [set()])


def test_an_error_names_the_setting_that_was_refused_by_its_line() -> None:
    at = Location("x.conf", 2)
    kept, refused = (
        Sysctl("kernel.x", "1", place=Location("x.conf", 1)),
        Sysctl("a.b", "1", place=at),
    )
    error = InputError("the kernel has no setting a.b", place=at, hint="is it misspelt?")
    found = control_failures.refused_setting(Profile("p", "p", "", (kept, refused)), error)
    assert found is not None
    profile, unmeasured = found
    assert profile.controls == (kept,)
    assert (unmeasured.control, unmeasured.reason) == (
        "a.b=1",
        "the kernel has no setting a.b (is it misspelt?)",
    )
    assert control_failures.refused_setting(profile, error) is None
    assert control_failures.refused_setting(profile, TrialError("the guest panicked")) is None
