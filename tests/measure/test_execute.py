"""A trial is known by all that defines it and by nothing else."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence
from unittest.mock import Mock

import pytest

from auditrules.model.location import Location
from auditrules.read.parse import read_line
from hardcost.controls.configuration import Configuration
from hardcost.controls.control import Control
from hardcost.errors import InputError, MachineError, TrialError
from hardcost.measure.execute import execute
from hardcost.measure.prepare import FIXED_LAYOUT_SEED, prepare
from hardcost.mechanisms.audit import AuditDaemon, AuditRule
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.model.role import AxisLevel, Named
from hardcost.model.workload import Workload
from hardcost.plan.plan import Trial
from hardcost.protocol.answers import Answer, CallAnswer, WrittenAnswer
from hardcost.protocol.boot import Boot
from hardcost.protocol.requests import Request
from hardcost.workloads import syscalls
from hardcost.workloads.names import ReadWorkload
from tests.fakes.machine import FakeMachine
from tests.protocol.json_messages import as_sent, typed

NULL = Workload("syscalls", (("calls", "null"),))


def rule(text: str, line: int = 1) -> AuditRule:
    reading = read_line(text, Location("my.rules", line))
    assert reading.rule is not None
    return AuditRule(reading.rule)


PLAIN = (AuditDaemon(), rule("-w /etc/passwd -p wa -k x"))
TRIAL = Trial(Configuration(Named("a"), PLAIN), NULL, "insn", seed=FIXED_LAYOUT_SEED)


def answers(_boot: Boot, job: Sequence[Request]) -> list[Answer]:
    """Answer as a guest does in which all goes well."""
    written = [
        {"event": "written", "path": one["path"], "before": "0", "after": one["value"]}
        for one in as_sent(job)
        if one["do"] == "write"
    ]
    rules = [
        line for one in as_sent(job) if one["do"] == "audit" for line in one["rules"].splitlines()
    ]
    loaded = sum(line.startswith("-w") for line in rules)
    return typed(
        [
            {"event": "hello"},
            *written,
            {"event": "audit", "loaded": loaded},
            {"event": "clock", "overhead": [3, 4]},
            {"event": "call", "name": "null", "samples": [103] * 25},
        ]
    )


def with_controls(*controls: Control) -> Trial:
    return dataclasses.replace(TRIAL, configuration=Configuration(Named("a"), controls))


def identity(trial: Trial) -> str:
    return prepare(trial, FakeMachine(answers)).identity


DIFFERENT = {
    "another rule": with_controls(AuditDaemon(), rule("-w /etc/passwd -p r -k x")),
    "rules in another order": with_controls(
        AuditDaemon(), rule("-w /etc/shadow"), rule("-w /etc/passwd -p wa -k x")
    ),
    "and in this order": with_controls(
        AuditDaemon(), rule("-w /etc/passwd -p wa -k x"), rule("-w /etc/shadow")
    ),
    "another backlog": with_controls(AuditDaemon(backlog_limit=1), *PLAIN[1:]),
    "a file that is made": with_controls(AuditDaemon(files=("/etc/other",)), *PLAIN[1:]),
    "a boot parameter": with_controls(*PLAIN, BootParameter("audit_backlog_limit=9")),
    "a sysctl": with_controls(*PLAIN, Sysctl("kernel.kptr_restrict", "1")),
    "its other value": with_controls(*PLAIN, Sysctl("kernel.kptr_restrict", "2")),
    "another call": dataclasses.replace(TRIAL, workload=Workload("syscalls", (("calls", "open"),))),
    "all calls": dataclasses.replace(TRIAL, workload=Workload("syscalls")),
    "another instrument": dataclasses.replace(TRIAL, instrument="time"),
    "a random layout": dataclasses.replace(TRIAL, seed=1),
    "another layout": dataclasses.replace(TRIAL, seed=2),
    "a repetition": dataclasses.replace(TRIAL, repetition=1),
    "no control at all": with_controls(),
}


def test_every_part_that_defines_a_trial_changes_its_identity() -> None:
    found = {identity(TRIAL), *map(identity, DIFFERENT.values())}
    assert len(found) == len(DIFFERENT) + 1


def test_the_guest_is_the_one_that_the_workload_needs() -> None:
    compiling = dataclasses.replace(TRIAL, workload=Workload("build"))
    assert prepare(TRIAL, FakeMachine(answers)).boot.guest == "small"
    assert prepare(compiling, FakeMachine(answers)).boot.guest == "compiler"


def test_names_and_places_do_not_change_its_identity() -> None:
    renamed = Configuration(Named("another name", (AxisLevel("rules", "1"),)), PLAIN)
    assert identity(dataclasses.replace(TRIAL, configuration=renamed)) == identity(TRIAL)
    moved = with_controls(AuditDaemon(), rule("-w  /etc/passwd -p wa  -k x", line=7))
    assert identity(moved) == identity(TRIAL)


def test_the_machine_is_part_of_the_identity() -> None:
    class Other(FakeMachine):
        name = "other"

    assert prepare(TRIAL, Other(answers)).identity != identity(TRIAL)


def test_a_record_holds_what_was_measured_and_where() -> None:
    machine = FakeMachine(answers)
    record = asyncio.run(execute(prepare(TRIAL, machine), machine, 5))
    assert record.identity == identity(TRIAL)
    assert (str(record.role), str(record.workload)) == ("a", "syscalls calls=null")
    assert record.measured[0].samples == (100.0,) * 25
    assert record.environment == machine.environment(Boot())


@pytest.mark.parametrize("kind", [TrialError, MachineError])
def test_a_failure_keeps_its_kind_and_says_which_trial_it_was(kind: type[MachineError]) -> None:
    def fail(_boot: Boot, _job: Sequence[Request]) -> list[Answer]:
        raise kind("the guest died", hint="look", console="the end")

    machine = FakeMachine(fail)
    with pytest.raises(MachineError) as error:
        asyncio.run(execute(prepare(TRIAL, machine), machine, 5))
    assert type(error.value) is kind
    assert str(error.value) == "a, syscalls calls=null: the guest died"
    assert (error.value.problems[0].hint, error.value.console) == ("look", "the end")


def test_answers_to_something_else_fail_the_trial_and_not_the_run() -> None:
    def strange(boot: Boot, job: Sequence[Request]) -> list[Answer]:
        return [one for one in answers(boot, job) if not isinstance(one, CallAnswer)]

    machine = FakeMachine(strange)
    with pytest.raises(TrialError, match=r"^a, syscalls calls=null: the machine did not measure"):
        asyncio.run(execute(prepare(TRIAL, machine), machine, 5))


def test_a_mistake_of_ours_is_not_called_the_guests(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = dataclasses.replace(syscalls.KIND, measured=Mock(side_effect=KeyError("ours")))
    load = ReadWorkload(kind, kind.read_parameters({}))
    monkeypatch.setattr("hardcost.measure.execute.load", lambda _: load)
    machine = FakeMachine(answers)
    with pytest.raises(KeyError, match="ours"):
        asyncio.run(execute(prepare(TRIAL, machine), machine, 5))


def test_a_refused_control_is_the_users_error_and_not_the_machines() -> None:
    def refuse(_boot: Boot, _job: Sequence[Request]) -> list[Answer]:
        raise TrialError(
            "the machine reports: /proc/sys/kernel/nonsense: No such file (os error 2)"
        )

    trial = with_controls(Sysctl("kernel.nonsense", "1"))
    machine = FakeMachine(refuse)
    with pytest.raises(InputError, match=r"no setting kernel\.nonsense"):
        asyncio.run(execute(prepare(trial, machine), machine, 5))


def test_rules_without_a_daemon_are_refused_before_any_guest() -> None:
    machine = FakeMachine(answers)
    with pytest.raises(InputError, match="not switched on"):
        prepare(with_controls(rule("-w /etc/passwd")), machine)
    assert machine.started == []


def test_a_setting_that_did_not_take_is_reported_by_its_line() -> None:
    def kept(boot: Boot, job: Sequence[Request]) -> Sequence[Answer]:
        return [
            WrittenAnswer(path=one.path, before="0", after="0")
            if isinstance(one, WrittenAnswer)
            else one
            for one in answers(boot, job)
        ]

    control = Sysctl("kernel.x", "1", place=Location("x.conf", 2))
    trial = dataclasses.replace(TRIAL, configuration=Configuration(Named("a"), (*PLAIN, control)))
    machine = FakeMachine(kept)
    with pytest.raises(TrialError, match=r"^kernel\.x=1 did not take") as raised:
        asyncio.run(execute(prepare(trial, machine), machine, limit_seconds=1))
    assert [one.place for one in raised.value.problems] == [control.place]
