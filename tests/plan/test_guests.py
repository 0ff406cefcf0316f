"""A plan's guests: one kind for all that is compared."""

from __future__ import annotations

import pytest

from hardcost.controls.configuration import Configuration, Setup
from hardcost.errors import InputError
from hardcost.measure.prepare import prepare
from hardcost.mechanisms.lsm import Lsm
from hardcost.model.role import Named
from hardcost.model.workload import Workload
from hardcost.plan.plan import Plan, Trial
from tests.fakes.machine import FakeMachine

PLAIN = Configuration(Named("plain"))
ENFORCING = Configuration(Named("enforcing"), (Lsm("enforcing"),))


def plan(workload: str, *configurations: Configuration) -> Plan:
    trials = tuple(Trial(one, Workload(workload), "insn", 0) for one in configurations)
    return Plan("x", "x", "insn", Named("plain"), trials)


def guests(of: Plan) -> list[str]:
    return [prepare(trial, FakeMachine(lambda *_: [])).boot.guest for trial in of.trials]


def test_one_control_that_needs_a_whole_system_gives_every_trial_one() -> None:
    assert guests(plan("syscalls", PLAIN, ENFORCING).set_up(Setup())) == ["debian", "debian"]


def test_without_such_a_control_a_small_guest_will_do() -> None:
    assert guests(plan("syscalls", PLAIN).set_up(Setup())) == ["small"]


def test_systemd_needs_a_whole_system() -> None:
    assert guests(plan("syscalls", PLAIN).set_up(Setup(init="systemd"))) == ["debian"]


def test_a_workload_with_a_guest_of_its_own_is_refused_beside_a_whole_system() -> None:
    with pytest.raises(InputError, match="build has a guest of its own"):
        guests(plan("build", PLAIN, ENFORCING).set_up(Setup()))
