from __future__ import annotations

import base64
from typing import Any

import pytest
from tests.protocol.said import as_sent, typed

from hardcost.controls.control import Auditd, AuditPlugin, Control, Rsyslog
from hardcost.controls.mechanisms import rsyslog
from hardcost.errors import TrialError

DUPLICATE = (Auditd(), AuditPlugin("syslog"))
RECEIVER = "the syslog receiver runs in the guest: its work is part of what is measured"

DROPPED = "syslog dropped 40 of 100 audit records"


def ran(name: str, stdout: str = "", status: int = 0) -> dict[str, Any]:
    return {"event": "ran", "name": name, "status": status, "stdout": stdout, "stderr": ""}


def answers(counted: str, whole: str = "yes") -> list[dict[str, Any]]:
    return [
        ran("rsyslog-check"),
        ran("syslog-drain"),
        ran("audit-totals", f"records 100\nevents 30\nwhole {whole}\n"),
        ran("syslog-totals", counted),
    ]


def configuration(control: Rsyslog) -> str:
    asked = as_sent(rsyslog.requests((control,)))
    (found,) = (one for one in asked if one.get("path") == "/etc/rsyslog.conf")
    return base64.b64decode(str(found["base64"])).decode()


def test_a_rate_limit_is_written_only_where_it_is_on() -> None:
    limited = configuration(Rsyslog(rate_limit=True, burst=7, interval=3))
    assert 'RateLimit.Interval="3" SysSock.RateLimit.Burst="7"' in limited
    assert 'RateLimit.Interval="0")' in configuration(Rsyslog())


def test_everything_is_forwarded_only_where_that_is_on() -> None:
    assert "omfwd" in configuration(Rsyslog(forward=True))
    assert "omfwd" not in configuration(Rsyslog())


def test_its_receiver_is_started_before_it_and_stopped_after_it() -> None:
    controls = (Rsyslog(forward=True),)
    assert [one["name"] for one in as_sent(rsyslog.requests(controls)) if one["do"] == "start"] == [
        "rsyslog-receiver",
        "rsyslog",
    ]
    assert [one["name"] for one in as_sent(rsyslog.finish(controls)) if one["do"] == "stop"] == [
        "rsyslog",
        "rsyslog-receiver",
    ]


@pytest.mark.parametrize(
    ("daemon", "counted", "notes"),
    [
        (Rsyslog(), "audit 100\nlimited 0\nbeginnings 0\n", ()),
        (
            Rsyslog(rate_limit=True),
            "audit 60\nlimited 55\nbeginnings 1\n",
            (f"{DROPPED}: it says that its rate limit dropped 55 messages",),
        ),
        (
            Rsyslog(rate_limit=True),
            "audit 60\nlimited 0\nbeginnings 1\n",
            (f"{DROPPED}: it says that its rate limit begins to drop, and not how many",),
        ),
        (
            Rsyslog(),
            "audit 99\nlimited 0\nbeginnings 0\n",
            ("syslog dropped 1 of 100 audit records: its rate limit did not act",),
        ),
        (
            Rsyslog(forward=True),
            "audit 100\nlimited 0\nbeginnings 0\nreceived 98\n",
            (RECEIVER, "2 of 100 audit records did not come to the receiver"),
        ),
    ],
)
def test_what_did_not_come_through_is_counted(
    daemon: Rsyslog, counted: str, notes: tuple[str, ...]
) -> None:
    controls: tuple[Control, ...] = (*DUPLICATE, daemon)
    assert rsyslog.verify(controls, typed(answers(counted))) == notes


def test_nothing_is_called_dropped_where_the_log_has_lost_its_beginning() -> None:
    found = rsyslog.verify(
        (*DUPLICATE, Rsyslog()), typed(answers("audit 900\nlimited 0\nbeginnings 0\n", whole="no"))
    )
    assert found == ("900 audit records came to /var/log/messages",)


def test_records_are_not_looked_for_where_they_are_not_sent() -> None:
    assert rsyslog.verify((Rsyslog(), Auditd()), typed(answers("audit 0\nlimited 0\n"))) == ()


@pytest.mark.parametrize(
    ("index", "answer", "message"),
    [
        (1, ran("syslog-drain", "x full\n", 1), "did not log what it was sent: x full"),
        (0, {"event": "dropped"}, "did not answer to 'rsyslog-check'"),
    ],
)
def test_a_daemon_that_does_not_write_fails_the_trial(
    index: int, answer: dict[str, Any], message: str
) -> None:
    found = answers("audit 100\nlimited 0\nbeginnings 0\n")
    found[index] = answer
    with pytest.raises(TrialError, match=message):
        rsyslog.verify((*DUPLICATE, Rsyslog()), typed(found))
