"""The real auditd in a Debian guest: it takes the records, and what it did is counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditrules.model.rule import Rule
from hardcost.errors import InputError, TrialError
from hardcost.mechanisms import apply
from hardcost.mechanisms.audit import AuditDaemon, AuditRule
from hardcost.mechanisms.auditd import Auditd
from hardcost.mechanisms.lsm import Lsm
from hardcost.protocol import ask
from tests.vm.controls_applied import EXACT, applied, shell

pytestmark = pytest.mark.vm

MKDIR = AuditRule(Rule("-a always,exit -F arch=b64 -S mkdir -F auid>=1000 -k made"))
RMDIR = AuditRule(Rule("-a always,exit -F arch=b64 -S rmdir -F auid>=1000 -k gone"))
WORK = shell(
    "work",
    "cd /home/user && for i in 1 2 3 4 5 6 7; do mkdir d$i; done && rmdir d1 d2",
    clock="tsc",
)


def test_events_are_counted_by_key_under_selinux_too(cache_root: Path) -> None:
    controls = (AuditDaemon(), MKDIR, RMDIR, Auditd("sync"), Lsm("enforcing"))
    found = applied(cache_root, controls, [WORK])
    assert "lsm=enforcing: services ran as auditd: auditd_t" in found.notes()
    log = found.counted("audit-log")
    assert (log.texts["made"], log.texts["gone"]) == (7, 2)
    assert log.numbers["whole"] == 1
    assert log.numbers["records"] > 9 * 4  # each event has SYSCALL, CWD, PATH and PROCTITLE
    assert log.numbers["bytes"] > 9 * 500


@pytest.mark.slow
@pytest.mark.lengthy
def test_two_trials_under_auditd_are_alike_to_the_instruction(cache_root: Path) -> None:
    controls = (AuditDaemon(), MKDIR, Auditd())
    first, second = (applied(cache_root, controls, [WORK], hardware=EXACT) for _ in range(2))
    assert first.ran("work").ticks == second.ran("work").ticks
    assert first.counted("audit-log") == second.counted("audit-log")


@pytest.mark.slow
def test_a_configuration_that_auditd_refuses_is_the_users_error(cache_root: Path) -> None:
    controls = (AuditDaemon(), Auditd(settings=(("q_depth", "many"),)))
    with pytest.raises(TrialError, match="the service auditd died") as caught:
        applied(cache_root, controls)
    refused = apply.explain(controls, str(caught.value))
    assert refused is not None
    assert "q_depth = many" in str(refused)


@pytest.mark.slow
def test_a_rule_that_auditctl_refuses_is_the_users_error(cache_root: Path) -> None:
    rule = AuditRule(Rule("-a always,exit -F arch=b64 -S mkdir -F uid=nobdy -k x"))
    found = applied(cache_root, (AuditDaemon(), rule, Auditd()))
    with pytest.raises(InputError, match="nobdy"):
        found.notes()


@pytest.mark.slow
def test_records_that_another_takes_fail_the_trial(cache_root: Path) -> None:
    steal = ask.run("steal", ["sh", "-c", "auditctl -e 0"])
    controls = (AuditDaemon(), Auditd())
    with pytest.raises(TrialError, match=r"audit-logged did not come within .*/audit.log does not"):
        applied(cache_root, controls, [steal, ask.run("again", ["auditctl", "-s"])])
