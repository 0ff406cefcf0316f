from __future__ import annotations

import base64
from typing import Any

import pytest

from auditrules.model.location import Location
from auditrules.model.rule import Rule
from hardcost.errors import InputError, TrialError
from hardcost.mechanisms import apply
from hardcost.mechanisms.audit import AuditDaemon, AuditRule
from hardcost.mechanisms.auditd import Auditd, AuditPlugin
from tests.protocol.json_messages import as_sent, typed

RULE = AuditRule(Rule("-w /etc/a", Location("r", 3)))
CONTROLS = (AuditDaemon(backlog_limit=99), RULE, Auditd())
STATUS = "enabled 1\nfailure 1\npid 7\nlost 2\nbacklog 0\nloginuid_immutable 0 unlocked\n"


def ran(name: str, stdout: str = "", status: int = 0, stderr: str = "") -> dict[str, Any]:
    return {"event": "ran", "name": name, "status": status, "stdout": stdout, "stderr": stderr}


def counted(*, whole: bool = True) -> dict[str, Any]:
    numbers = {"records": 9, "events": 3, "whole": int(whole), "bytes": 900, "files": 1}
    return {"event": "counted", "name": "audit-log", "numbers": numbers, "texts": {}}


def answers(**changed: dict[str, Any]) -> list[dict[str, Any]]:
    found = {
        "started": {"event": "started", "name": "auditd", "pid": 7, "context": None},
        "backlog": ran("audit-backlog"),
        "rules": ran("audit-rules"),
        "list": ran("audit-list", "1\n"),
        "status": ran("audit-status", STATUS),
        "end": ran("audit-end", STATUS),
        "state": {"event": "content", "name": "audit-state", "text": "", "bytes": 0},
        "totals": counted(),
    }
    return list((found | changed).values())


def installed(path: str, *controls: Any) -> str:  # noqa: ANN401  (controls of any kind)
    (found,) = (one for one in as_sent(apply.requests(controls)) if one.get("path") == path)
    return base64.b64decode(str(found["base64"])).decode()


def test_the_daemon_has_the_records_before_rules_are_loaded() -> None:
    asked = [(one["do"], one.get("name")) for one in as_sent(apply.requests(CONTROLS))]
    assert asked.index(("start", "auditd")) < asked.index(("run", "audit-rules"))
    assert "audit" not in {do for do, _ in asked}


def test_settings_stand_in_the_daemons_configuration() -> None:
    text = installed("/etc/audit/auditd.conf", Auditd("sync", 7, (("q_depth", "9"),)))
    lines = text.splitlines()
    assert {"flush = SYNC", "freq = 7", "q_depth = 9", "num_logs = 5"} <= set(lines)
    assert len({line.partition(" ")[0] for line in lines}) == len(lines)


def test_a_plug_in_is_active_in_a_file_of_its_own() -> None:
    controls = (Auditd(), AuditPlugin("syslog"))
    lines = installed("/etc/audit/plugins.d/syslog.conf", *controls).splitlines()
    assert {"active = yes", "path = /sbin/audisp-syslog"} <= set(lines)


def test_a_daemon_that_took_and_lost_nothing_needs_no_note() -> None:
    assert apply.verify(CONTROLS, typed(answers())) == ()


def test_what_the_kernel_lost_during_the_trial_is_reported() -> None:
    lost = ran("audit-end", STATUS.replace("lost 2", "lost 5"))
    assert apply.verify(CONTROLS, typed(answers(end=lost))) == (
        "audit lost 3 records in the kernel's queue",
    )


def test_an_overflow_and_a_log_without_its_beginning_are_reported() -> None:
    state = {
        "event": "content",
        "name": "audit-state",
        "text": "x\nplugin queue overflow detected = yes\n",
    }
    first, second = apply.verify(CONTROLS, typed(answers(state=state, totals=counted(whole=False))))
    assert "plug-ins overflowed" in first
    assert "its beginning is gone" in second


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"status": ran("audit-status", STATUS.replace("pid 7", "pid 0"))}, "to process 0"),
        ({"status": ran("audit-status", STATUS.replace("enabled 1", "enabled 0"))}, "audit 0"),
        ({"list": ran("audit-list", "0\n", 1)}, "0 of 1 audit rules are loaded"),
        ({"totals": {"event": "dropped"}}, "did not answer to 'audit-log'"),
        ({"started": {"event": "dropped"}}, "did not answer to 'auditd'"),
        ({"status": {"event": "dropped"}}, "did not answer to 'audit-status'"),
    ],
)
def test_a_daemon_that_did_not_take_fails_the_trial(
    changed: dict[str, dict[str, Any]], message: str
) -> None:
    with pytest.raises(TrialError, match=message):
        apply.verify(CONTROLS, typed(answers(**changed)))


def test_a_configuration_that_it_refuses_is_the_users_error() -> None:
    controls = (Auditd(settings=(("q_depth", "many"),)),)
    refused = apply.explain(controls, "the machine reports: the service auditd died: status 6")
    assert refused is not None
    assert "flush = incremental_async, freq = 50, q_depth = many" in str(refused)
    assert apply.explain(controls, "the machine reports: the service auditd died: signal 9") is None


def test_a_rule_that_auditctl_refuses_is_the_users_error_at_its_line() -> None:
    said = "Unknown user: nobdy\nThere was an error in line 4 of /etc/audit/audit.rules\n"
    refused = answers(
        rules=ran("audit-rules", status=1, stderr=said), list=ran("audit-list", "0\n")
    )
    with pytest.raises(InputError) as caught:
        apply.verify(CONTROLS, typed(refused))
    (problem,) = caught.value.problems
    assert (str(problem.place), problem.hint) == (
        "r:3",
        "the machine has no such account: write the number",
    )
