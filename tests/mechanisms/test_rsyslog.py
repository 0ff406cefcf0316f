from __future__ import annotations

import base64
from typing import Any

import pytest

from hardcost.controls.control import Control
from hardcost.errors import TrialError
from hardcost.mechanisms.auditd import Auditd, AuditPlugin
from hardcost.mechanisms.rsyslog import SYSLOG_DAEMON, Rsyslog
from tests.protocol.json_messages import as_sent, typed

DUPLICATE = (Auditd(), AuditPlugin("syslog"))
RECEIVER = "the syslog receiver runs in the guest: its work is part of what is measured"

DROPPED = "syslog dropped 40 of 100 audit records"


def counted(name: str, texts: dict[str, int] | None = None, **numbers: int) -> dict[str, Any]:
    return {"event": "counted", "name": name, "numbers": numbers, "texts": texts or {}}


def answers(
    audit: int,
    limited: int = 0,
    beginnings: int = 0,
    received: int | None = None,
    *,
    whole: bool = True,
) -> list[dict[str, Any]]:
    return [
        counted("audit-log", records=100, events=30, whole=int(whole)),
        counted("syslog-totals", audit=audit, limited=limited, beginnings=beginnings),
        *([] if received is None else [counted("syslog-received", audit=received)]),
    ]


def configuration(control: Rsyslog) -> str:
    asked = as_sent(SYSLOG_DAEMON.requests((control,)))
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
    assert [
        one["name"] for one in as_sent(SYSLOG_DAEMON.requests(controls)) if one["do"] == "start"
    ] == [
        "rsyslog-receiver",
        "rsyslog",
    ]
    assert [
        one["name"] for one in as_sent(SYSLOG_DAEMON.finish(controls)) if one["do"] == "stop"
    ] == [
        "rsyslog",
        "rsyslog-receiver",
    ]


@pytest.mark.parametrize(
    ("daemon", "found", "notes"),
    [
        (Rsyslog(), answers(100), ()),
        (
            Rsyslog(rate_limit=True),
            answers(60, limited=55, beginnings=1),
            (f"{DROPPED}: it says that its rate limit dropped 55 messages",),
        ),
        (
            Rsyslog(rate_limit=True),
            answers(60, beginnings=1),
            (f"{DROPPED}: it says that its rate limit begins to drop, and not how many",),
        ),
        (
            Rsyslog(),
            answers(99),
            ("syslog dropped 1 of 100 audit records: its rate limit did not act",),
        ),
        (
            Rsyslog(forward=True),
            answers(100, received=98),
            (RECEIVER, "2 of 100 audit records did not come to the receiver"),
        ),
    ],
)
def test_what_did_not_come_through_is_counted(
    daemon: Rsyslog, found: list[dict[str, Any]], notes: tuple[str, ...]
) -> None:
    controls: tuple[Control, ...] = (*DUPLICATE, daemon)
    assert SYSLOG_DAEMON.verify(controls, typed(found)) == notes


def test_nothing_is_called_dropped_where_the_log_has_lost_its_beginning() -> None:
    found = SYSLOG_DAEMON.verify((*DUPLICATE, Rsyslog()), typed(answers(900, whole=False)))
    assert found == ("900 audit records came to /var/log/messages",)


def test_records_are_not_looked_for_where_they_are_not_sent() -> None:
    assert SYSLOG_DAEMON.verify((Rsyslog(), Auditd()), typed(answers(0))) == ()


def test_a_guest_that_does_not_say_what_was_dropped_fails_the_trial() -> None:
    found = [counted("audit-log", records=100, events=30, whole=1), counted("syslog-totals")]
    with pytest.raises(TrialError, match="did not say how many 'audit'"):
        SYSLOG_DAEMON.verify((*DUPLICATE, Rsyslog()), typed(found))
