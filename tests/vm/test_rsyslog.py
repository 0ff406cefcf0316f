"""The syslog daemon in a Debian guest: the duplicate of audit's records, and what is dropped."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditrules.model.rule import Rule
from hardcost.errors import TrialError
from hardcost.mechanisms.audit import AuditDaemon, AuditRule
from hardcost.mechanisms.auditd import Auditd, AuditPlugin
from hardcost.mechanisms.rsyslog import Rsyslog
from hardcost.protocol import ask
from tests.vm.controls_applied import EXACT, applied, shell

pytestmark = pytest.mark.vm

RULE = AuditRule(Rule("-a always,exit -F arch=b64 -S mkdir -F auid>=1000 -k made"))
DUPLICATE = (AuditDaemon(), RULE, Auditd(), AuditPlugin("syslog"))
WORK = shell("work", "cd /home/user && for i in $(seq 60); do mkdir d$i; done")


def test_every_record_comes_to_syslog_and_to_the_receiver(cache_root: Path) -> None:
    found = applied(cache_root, (*DUPLICATE, Rsyslog(forward=True)), [WORK])
    assert not any("dropped" in note or "did not come" in note for note in found.notes())
    records = found.counted("audit-log").numbers["records"]
    written, received = found.counted("syslog-totals"), found.counted("syslog-received")
    assert written.numbers["audit"] == received.numbers["audit"] == records
    assert records > 60 * 4


@pytest.mark.slow
def test_what_the_rate_limit_drops_is_counted(cache_root: Path) -> None:
    found = applied(cache_root, (*DUPLICATE, Rsyslog(rate_limit=True, burst=100)), [WORK])
    records = found.counted("audit-log").numbers["records"]
    written = found.counted("syslog-totals").numbers["audit"]
    assert 0 < written <= 100 < records
    dropped = records - written
    assert any(note.startswith(f"syslog dropped {dropped} of {records}") for note in found.notes())


@pytest.mark.slow
def test_a_syslog_that_can_not_write_fails_the_trial(cache_root: Path) -> None:
    blocked = ask.run("block", ["mkdir", "-p", "/var/log/messages"])
    with pytest.raises(TrialError, match="syslog-begin in /var/log/messages did not come"):
        applied(cache_root, (Rsyslog(),), before=[blocked], hardware=EXACT)
