"""ClamAV scans on access in a Debian guest, and a trial says so where it does not."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

import pytest

from hardcost.controls.control import Control
from hardcost.errors import TrialError
from hardcost.machines.vm.argv import Hardware
from hardcost.mechanisms import apply
from hardcost.mechanisms.audit import AuditDaemon
from hardcost.mechanisms.auditd import Auditd, AuditPlugin
from hardcost.mechanisms.fapolicyd import Fapolicyd
from hardcost.mechanisms.lsm import Lsm
from hardcost.mechanisms.rsyslog import Rsyslog
from hardcost.mechanisms.scanner import Scanner
from hardcost.protocol import ask
from hardcost.protocol.answers import Answer, RanAnswer, all_of, answer_named
from hardcost.protocol.requests import Request
from hardcost.workloads import programs
from tests.vm import controls_applied
from tests.vm.controls_applied import EXACT, FAST, before_start

pytestmark = pytest.mark.vm

# Seconds of host time, for a job of seconds, on a host that is busy.
carried_out = functools.partial(controls_applied.carried_out, limit_seconds=240)

CONTROL = Scanner()
COPY = ask.run(
    "copy",
    ["/bin/cp", "-a", "/usr/share/fapolicyd", "/home/user/x"],
    clock="tsc",
    user="user",
)
READ = ask.run("read", ["sh", "-c", "cat /home/user/x/*/*"], clock="tsc", user="user")


def execute(
    cache_root: Path,
    controls: Sequence[Control],
    work: Sequence[Request],
    hardware: Hardware = FAST,
) -> tuple[Answer, ...]:
    job = [*apply.requests(controls), *work, *apply.finish(controls)]
    return carried_out(cache_root, controls, job, hardware)


def ticks(answers: Sequence[Answer], name: str) -> int:
    return programs.ticks(answer_named(answers, RanAnswer, name))


@pytest.mark.slow
def test_scanning_costs_a_read_much_and_the_same_each_time(cache_root: Path) -> None:
    first, second = (execute(cache_root, [CONTROL], [COPY, READ], EXACT) for _ in range(2))
    assert first == second
    bare = execute(cache_root, [], [COPY, READ], EXACT)
    assert ticks(first, "read") > 3 * ticks(bare, "read")
    (note,) = apply.verify([CONTROL], first)
    assert "101 signatures of our own" in note


def test_without_prevention_what_is_infected_is_read_and_reported(cache_root: Path) -> None:
    control = Scanner(prevention=False, signatures=0)
    answers = execute(cache_root, [control], [])
    assert apply.verify([control], answers)[0].startswith("the scanner's database has 1 ")
    refused = [one for one in all_of(answers, RanAnswer) if one.name.startswith("scanner-refuses")]
    assert [one.status for one in refused] == [0, 0]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["enforcing", "apparmor"])
def test_it_scans_where_a_security_module_confines_daemons(cache_root: Path, mode: str) -> None:
    controls = (Lsm("enforcing" if mode == "enforcing" else "apparmor"), CONTROL)
    notes = apply.verify(controls, execute(cache_root, controls, []))
    assert any("signatures of our own" in note for note in notes)


@pytest.mark.slow
@pytest.mark.lengthy
def test_all_daemons_of_a_whole_profile_run_side_by_side(cache_root: Path) -> None:
    services = (AuditDaemon(), Rsyslog(), Auditd(), AuditPlugin("syslog"))
    controls = (*services, Fapolicyd(), CONTROL)
    notes = apply.verify(controls, execute(cache_root, controls, [COPY, READ]))
    assert any("signatures of our own" in note for note in notes)
    assert any("accesses and denied 1;" in note for note in notes)


@pytest.mark.slow
def test_a_database_that_does_not_know_the_test_file_fails_the_trial(cache_root: Path) -> None:
    unknown = ask.install("/var/lib/clamav/hardcost.hdb", f"{'0' * 32}:68:Other\n")
    answers = carried_out(cache_root, [CONTROL], before_start(unknown, CONTROL))
    with pytest.raises(TrialError, match="did not detect the EICAR test file in /home"):
        apply.verify([CONTROL], answers)


@pytest.mark.slow
def test_a_daemon_without_a_database_fails_the_trial_with_what_it_says(cache_root: Path) -> None:
    removed = ask.run("removed", ["sh", "-c", "rm -f /var/lib/clamav/*"])
    with pytest.raises(TrialError, match="clamd died") as caught:
        carried_out(cache_root, [CONTROL], before_start(removed, CONTROL))
    assert "database" in caught.value.console


@pytest.mark.slow
@pytest.mark.parametrize(
    ("service", "signal", "why"),
    [
        ("clamonacc", "STOP", "did not end within 5 s"),
        ("clamd", "STOP", "clamd hung|did not end within 5 s"),
        ("clamd", "KILL", "clamd died: signal 9"),
    ],
)
def test_a_daemon_that_dies_or_hangs_in_the_middle_fails_the_trial(
    cache_root: Path, service: str, signal: str, why: str
) -> None:
    work = [
        COPY,
        ask.run("blow", ["sh", "-c", f"kill -{signal} $(pidof {service})"]),
        ask.run("victim", ["sh", "-c", "cat /home/user/x/*/*"], user="user", limit_seconds=5),
    ]
    with pytest.raises(TrialError, match=why) as caught:
        execute(cache_root, [CONTROL], work)
    assert "ClamInotif: watching '/home'" in caught.value.console
