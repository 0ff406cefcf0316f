"""Loading audit rules in a guest: the requests, and the result that auditctl reports."""

from __future__ import annotations

from collections.abc import Sequence

from hardcost.errors import TrialError
from hardcost.mechanisms import replies
from hardcost.mechanisms.auditctl_messages import MOST_SHOWN
from hardcost.protocol import ask
from hardcost.protocol.answers import Answer, AuditAnswer, RanAnswer, find, only
from hardcost.protocol.requests import Audit, Request

BEGIN = "hardcost-begin"
"""The message in auditd's log before the workload; events are counted from there."""

_RULES = "/etc/audit/audit.rules"


def path_requests(directories: Sequence[str], files: Sequence[str]) -> tuple[Request, ...]:
    """Return the request that makes the watched paths, if there are any."""
    return (ask.make(directories, files),) if directories or files else ()


def loading_requests(text: str, backlog_limit: int, *, by_probe: bool) -> tuple[Request, ...]:
    """Return the requests that load rules: by the probe, which is the daemon, or beside auditd."""
    if by_probe:
        return (Audit(rules=text, backlog_limit=backlog_limit),)
    return _beside_auditd(text, backlog_limit)


def loading_result(answers: Sequence[Answer], *, by_probe: bool) -> AuditAnswer:
    """Return the result of loading rules in either way."""
    return only(answers, AuditAnswer) if by_probe else _auditctl(answers)


def _beside_auditd(text: str, backlog_limit: int) -> tuple[Request, ...]:
    """Return the requests that load rules beside auditd, and mark the beginning in its log."""
    asked: list[Request] = [ask.run("audit-backlog", ["auditctl", "-b", str(backlog_limit)])]
    if text:
        asked += [
            ask.install(_RULES, text, 0o640),
            ask.run("audit-rules", ["auditctl", "-R", _RULES], expect=None),
        ]
    return (
        *asked,
        ask.run("audit-list", ["sh", "-c", "auditctl -l | grep -c ^-"], expect=None),
        ask.run("audit-status", ["auditctl", "-s"]),
        ask.run("audit-begin", ["auditctl", "-m", BEGIN], expect=None),
    )


def _auditctl(answers: Sequence[Answer]) -> AuditAnswer:
    """Return the result of loading rules beside auditd, in the form of the probe's own answer."""
    said = replies.output(answers, "audit-list").strip() or "0"
    if not replies.is_number(said):
        raise TrialError(
            f"the machine does not say how many rules are loaded: {said[:MOST_SHOWN]!r}"
        )
    ran = find(answers, RanAnswer, "audit-rules")
    if ran is None:
        return AuditAnswer(exit=0, stdout="", stderr="", loaded=int(said))
    return AuditAnswer(exit=ran.status, stdout=ran.stdout, stderr=ran.stderr, loaded=int(said))
