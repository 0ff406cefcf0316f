"""The simulated guest: the same numbers for the same job, and failures that are asked for."""

from __future__ import annotations

import asyncio

import pytest

from hardcost.errors import MachineError, TrialError
from hardcost.machines.machine import Execution
from hardcost.protocol.answers import CallAnswer, ClockAnswer, all_of, only
from hardcost.protocol.boot import Boot
from hardcost.protocol.requests import Audit, CallPlan, MeasureCalls, Request, Unwatch, Write
from tests.fakes import guest
from tests.fakes.machine import FakeMachine

CALLS = MeasureCalls(
    clock="tsc",
    calls=tuple(
        CallPlan(name=name, batch=10, samples=3, warmup=0, apart=0) for name in ("null", "chmod")
    ),
)
RULES = Audit(
    rules="-c\n-a never,user -F pid=1\n-d never,user -F pid=1\n"
    "-a always,exit -F arch=b64 -S chmod -k modes\n-w /etc/passwd -p wa -k identity\n",
    backlog_limit=64,
)


def counts(boot: Boot, *job: Request) -> dict[str, float]:
    answers = guest.answers(boot, [*job, CALLS])
    empty = only(answers, ClockAnswer).overhead[0]
    return {one.name: (one.samples[0] - empty) / 10 for one in all_of(answers, CallAnswer)}


def test_rules_cost_every_call_and_most_of_all_the_one_that_they_record() -> None:
    plain, with_rules = counts(Boot()), counts(Boot(), RULES)
    assert counts(Boot()) == plain
    assert with_rules["null"] - plain["null"] == 140  # audit itself, and two rules
    assert with_rules["chmod"] - plain["chmod"] == 2140
    assert counts(Boot(("audit=0",)), RULES) == plain


def test_words_settings_and_layouts_cost_what_the_tables_say() -> None:
    plain = counts(Boot())["null"]
    assert counts(Boot(("init_on_alloc=1",)))["null"] - plain == 300
    assert counts(Boot(("init_on_alloc=1", "init_on_free=1")))["null"] - plain == 370
    written = Write(path="/proc/sys/vm/overcommit_memory", value="2")
    assert counts(Boot(), written)["null"] - plain == 10
    assert len({counts(Boot(layout_seed=seed))["null"] for seed in range(8)}) > 1


def test_kernels_that_exist_cost_something_by_their_names() -> None:
    versions = ("6.1", "6.12", "7.3")
    assert len({counts(Boot(shipped=f"debian:{one}"))["null"] for one in versions}) == 3


def test_a_request_that_it_does_not_know_fails_the_trial() -> None:
    with pytest.raises(TrialError, match="'unwatch'"):
        guest.answers(Boot(), [Unwatch()])


def executed(behaviour: str, limit_seconds: float) -> Execution:
    machine = FakeMachine(guest.answers)
    return asyncio.run(machine.execute(Boot((f"fake={behaviour}",)), [CALLS], limit_seconds))


def test_it_misbehaves_as_the_boot_line_says() -> None:
    with pytest.raises(TrialError, match="panicked"):
        executed("fail", 120)
    with pytest.raises(TrialError, match="within 120 s"):
        executed("hang", 120)
    with pytest.raises(TrialError, match="within 50 s"):
        executed("slow", 50)
    assert executed("slow", 120).answers
    with pytest.raises(MachineError, match="did not boot"):
        asyncio.run(FakeMachine(guest.answers).make_ready(Boot(("fake=unbootable",))))
