"""What a machine is not to be changed for is refused before anything runs, all at once."""

from __future__ import annotations

import pytest

from hardcost.controls.configuration import Configuration, Setup
from hardcost.errors import InputError
from hardcost.machines.machine import Capabilities
from hardcost.measure.monitor import Silent
from hardcost.measure.prepare import prepare_all
from hardcost.mechanisms.lsm import Lsm
from hardcost.mechanisms.mount import MountOptions
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.model.role import Named
from hardcost.model.workload import Workload
from hardcost.plan.plan import Plan, Trial
from tests.fakes import guest
from tests.fakes.machine import FakeMachine

CALLS = Workload("syscalls", (("calls", "null"),))
COPIES = Workload("syscalls", (("calls", "null"), ("copies", "4")))
LOOKED_AT = Capabilities(frozenset({"time"}), requests=frozenset({"calls", "command"}))


def plan(*configurations: Configuration, setup: Setup | None = None) -> Plan:
    trials = tuple(Trial(one, CALLS, "time", 0) for one in configurations)
    made = Plan("s", "s", "time", Named("a"), trials)
    return made if setup is None else made.set_up(setup)


def refused(wanted: Plan) -> list[str]:
    machine = FakeMachine(guest.answers, capabilities=LOOKED_AT)
    with pytest.raises(InputError) as raised:
        prepare_all(wanted, machine, Silent())
    assert not machine.started
    return [problem.message for problem in raised.value.problems]


def test_states_that_change_a_machine_are_named_by_what_they_need() -> None:
    as_it_is = Configuration(Named("a"))
    sysctls = [Configuration(Named(f"s{n}"), (Sysctl("kernel.x", str(n)),)) for n in range(3)]
    mounted = Configuration(Named("m"), (MountOptions("/tmp", ("noexec",)),))  # noqa: S108  (a path of Linux's)
    beginning = "the machine fake is not to be changed, and the configuration "
    said = refused(plan(as_it_is, *sysctls, mounted))
    assert {one.removeprefix(beginning) for one in said} == {
        "'s0' (as do 2 others) needs writing settings of the kernel",
        "'m' needs mounting",
    }


def test_recorders_are_named_once() -> None:
    (message,) = refused(plan(Configuration(Named("a")), setup=Setup(record=("cpu",))))
    assert message.endswith("the configuration 'a' needs recorders")


def test_what_changes_nothing_is_prepared() -> None:
    machine = FakeMachine(guest.answers, capabilities=LOOKED_AT)
    assert len(prepare_all(plan(Configuration(Named("a"))), machine, Silent())) == 1


def test_a_machine_that_runs_no_programs_as_root_is_not_asked_to_for_a_security_module() -> None:
    able = Capabilities(frozenset({"time"}), requests=frozenset({"calls", "read"}))
    machine = FakeMachine(guest.answers, capabilities=able)
    wanted = plan(Configuration(Named("a")), Configuration(Named("e"), (Lsm("enforcing"),)))
    asked = {one.do for trial in prepare_all(wanted, machine, Silent()) for one in trial.job}
    assert asked == {"calls", "read"}


@pytest.mark.parametrize(("there", "hint"), [(1, "are machines with several"), (3, "copies=3 is")])
def test_more_copies_than_processors_are_refused_with_the_number(there: int, hint: str) -> None:
    able = Capabilities(frozenset({"time"}), processors=there)
    machine = FakeMachine(guest.answers, capabilities=able)
    wanted = Plan(
        "s", "s", "time", Named("a"), (Trial(Configuration(Named("a")), COPIES, "time", 0),)
    )
    said = f"copies=4 needs 4 processors, and the machine fake has {there} that may be used"
    with pytest.raises(InputError, match=said) as raised:
        prepare_all(wanted, machine, Silent())
    assert hint in str(raised.value.problems[0].hint)
    assert not machine.started


def test_as_many_copies_as_processors_are_prepared() -> None:
    able = Capabilities(frozenset({"time"}), processors=4)
    machine = FakeMachine(guest.answers, capabilities=able)
    wanted = Plan(
        "s", "s", "time", Named("a"), (Trial(Configuration(Named("a")), COPIES, "time", 0),)
    )
    (prepared,) = prepare_all(wanted, machine, Silent())
    assert [one.as_json()["copies"] for one in prepared.job if one.do == "calls"] == [4]
