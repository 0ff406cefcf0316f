"""fapolicyd decides in a Debian guest, and a trial says so where it does not."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Sequence
from pathlib import Path

import pytest

from hardcost.controls.control import Control
from hardcost.errors import TrialError
from hardcost.instruments.traces import ASKS
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.mechanisms import apply
from hardcost.mechanisms.fapolicyd import UNTRUSTED, Fapolicyd
from hardcost.mechanisms.lsm import Lsm
from hardcost.protocol import ask
from hardcost.protocol.answers import Answer, RanAnswer, answer_named
from hardcost.protocol.boot import Boot
from hardcost.protocol.requests import Request
from hardcost.supply.cache.cache import Cache
from hardcost.workloads import programs
from tests.vm import controls_applied
from tests.vm.controls_applied import EXACT, FAST, before_start

pytestmark = pytest.mark.vm

# Seconds of host time, for a job of seconds, on a host that is busy.
carried_out = functools.partial(controls_applied.carried_out, limit_seconds=240)

RULES = "/etc/fapolicyd/compiled.rules"
CONTROL = Fapolicyd()
NOBODY = 0
"""Who is answered by what the kernel refuses: fapolicyd 1.3's first answer to a program's start."""
COPY = ask.run(
    "copy",
    ["/bin/cp", "-a", "/usr/share/fapolicyd", "/home/user/x"],
    clock="tsc",
    user="user",
)


def execute(
    cache_root: Path,
    controls: Sequence[Control],
    work: Sequence[Request],
    hardware: Hardware = EXACT,
) -> tuple[Answer, ...]:
    job = [*apply.requests(controls), *work, *apply.finish(controls)]
    return carried_out(cache_root, controls, job, hardware)


def ticks(answers: Sequence[Answer]) -> int:
    return programs.ticks(answer_named(answers, RanAnswer, "copy"))


@pytest.mark.slow
def test_what_fapolicyd_decides_costs_a_copy_much_and_the_same_each_time(cache_root: Path) -> None:
    first, second = (execute(cache_root, [CONTROL], [COPY]) for _ in range(2))
    assert first == second
    assert ticks(first) > 4 * ticks(execute(cache_root, [], [COPY]))
    (note,) = apply.verify([CONTROL], first)
    assert "accesses and denied 1;" in note


@pytest.mark.slow
@pytest.mark.lengthy
def test_each_answer_of_a_trace_goes_to_a_process_that_waits_for_one(cache_root: Path) -> None:
    job = [*apply.requests([CONTROL]), COPY, *apply.finish([CONTROL])]
    boot = Boot(apply.boot_parameters([CONTROL]), guest="debian", by_function=True, traced=True)
    machine = VirtualMachine(Cache(cache_root), EXACT)
    seen = asyncio.run(machine.execute(boot, job, 240)).stacks
    assert seen is not None
    found = set[str]()
    asked, answered = 0, 0
    for noted in (one.schedule for one in seen.windows if one.schedule is not None):
        runs, waiting = 0, set[int]()
        for note in noted.notes:
            if note.kind == "runs":
                runs = note.process
            elif note.kind == "begins" and seen.frames[note.place - 1].name == ASKS:
                asked += 1
                waiting.add(runs)
            elif note.kind == "leaves":
                waiting.discard(runs)
            elif note.kind == "answers" and note.process != NOBODY:
                answered += 1
                assert note.process in waiting
                found.add(noted.processes[note.process - 1])
    assert "cp" in found
    assert 0.9 * asked < answered <= asked  # the kernel does not pass on each event


def test_it_runs_under_selinux_enforcing(cache_root: Path) -> None:
    controls = (Lsm("enforcing"), CONTROL)
    answers = execute(cache_root, controls, [], FAST)
    notes = apply.verify(controls, answers)
    assert any("fapolicyd allowed" in note for note in notes)


@pytest.mark.slow
def test_an_ordinary_user_may_copy_scripts_and_not_run_them(cache_root: Path) -> None:
    script = ask.install("/home/user/x.py", "#!/usr/bin/perl\nprint 1;\n", 0o755, "user")
    work: list[Request] = [
        script,
        ask.run("copied", ["cp", "/home/user/x.py", "/home/user/y"], user="user"),
        ask.run("run", ["/usr/bin/perl", "/home/user/y"], user="user", expect=None),
    ]
    answers = execute(cache_root, [CONTROL], work, FAST)
    assert answer_named(answers, RanAnswer, "run").status != 0


@pytest.mark.slow
def test_rules_that_allow_everything_fail_the_trial(cache_root: Path) -> None:
    job = before_start(ask.install(RULES, "allow perm=any all : all\n", 0o644), CONTROL)
    answers = carried_out(cache_root, [CONTROL], job)
    with pytest.raises(TrialError, match="a program that is not trusted could be executed"):
        apply.verify([CONTROL], answers)


@pytest.mark.slow
def test_a_daemon_that_does_not_start_fails_the_trial_with_what_it_says(cache_root: Path) -> None:
    job = before_start(ask.install(RULES, "allow everything\n", 0o644), CONTROL)
    with pytest.raises(TrialError, match="fapolicyd died") as caught:
        carried_out(cache_root, [CONTROL], job)
    assert "allow everything" in caught.value.console


@pytest.mark.slow
def test_a_list_that_lacks_the_programs_denies_them(cache_root: Path) -> None:
    shorter = ["sed", "-i", "\\#^/usr/bin/true #d", "/etc/fapolicyd/trust.d/debian"]
    trusted = ask.run("shorter", shorter)
    answers = carried_out(cache_root, [CONTROL], before_start(trusted, CONTROL))
    with pytest.raises(TrialError, match="denies /usr/bin/true"):
        apply.verify([CONTROL], answers)


@pytest.mark.slow
def test_what_the_workload_is_denied_is_noted(cache_root: Path) -> None:
    tried = ask.run("tried", ["sh", "-c", f"{UNTRUSTED}; true"], user="user")
    answers = execute(cache_root, [CONTROL], [tried], FAST)
    notes = apply.verify([CONTROL], answers)
    assert any("denied 1 accesses of others than our test" in note for note in notes)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("signal", "why"), [("KILL", "fapolicyd died: signal 9"), ("STOP", "did not end within 5 s")]
)
def test_a_daemon_that_dies_or_hangs_in_the_middle_fails_the_trial(
    cache_root: Path, signal: str, why: str
) -> None:
    work: list[Request] = [
        ask.run("blow", ["sh", "-c", f"kill -{signal} $(pidof fapolicyd)"]),
        ask.run("victim", ["/usr/bin/true"], user="user", limit_seconds=5),
    ]
    with pytest.raises(TrialError, match=why) as caught:
        execute(cache_root, [CONTROL], work, FAST)
    assert "Loaded 17 rules" in caught.value.console
