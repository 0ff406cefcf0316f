"""The syslog daemon in a Debian guest, with a receiver to forward to, and what was dropped.

Its files are those of RHEL's rsyslog.conf: everything from info up in /var/log/messages. It takes
messages from /dev/log only; the kernel's own log is left out. Its rate limit is off by default, as
in Debian; if it is on, its numbers are those of RHEL's imjournal, for messages from /dev/log. The
receiver is a second rsyslogd, which writes everything to one file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.controls.control import Rsyslog
from hardcost.controls.mechanisms import answered, auditd
from hardcost.protocol import requests as ask

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.controls.control import Control
    from hardcost.protocol.answers import Answer
    from hardcost.protocol.requests import Request

SERVICE = "rsyslog"
RECEIVER = "rsyslog-receiver"
LOG = "/var/log/messages"
RECEIVED = "/var/log/received"
PORT = 514
_BEGIN = "hardcost-begin"
_END = "hardcost-end"
_LIMIT = 20.0  # seconds of the guest's time to work off what has been queued

_CONFIGURATION = """\
module(load="imuxsock"{limit})
global(workDirectory="/var/spool/rsyslog")
module(load="builtin:omfile" fileOwner="root" fileGroup="adm" fileCreateMode="0640")
{forward}*.info;mail.none;authpriv.none;cron.none /var/log/messages
authpriv.* /var/log/secure
mail.* -/var/log/maillog
cron.* /var/log/cron
*.emerg :omusrmsg:*
"""
_LIMITED = ' SysSock.RateLimit.Interval="{interval}" SysSock.RateLimit.Burst="{burst}"'
_UNLIMITED = ' SysSock.RateLimit.Interval="0"'
_FORWARD = f'*.* action(type="omfwd" target="127.0.0.1" port="{PORT}" protocol="tcp")\n'
_RECEIVER = f"""\
module(load="imptcp")
input(type="imptcp" port="{PORT}" address="127.0.0.1")
*.* action(type="omfile" file="{RECEIVED}")
"""


def requests(controls: Sequence[Control]) -> tuple[Request, ...]:
    """Return what configures and starts the daemon, behind its receiver."""
    daemon = _daemon(controls)
    if daemon is None:
        return ()
    asked: list[Request] = []
    if daemon.forward:
        asked += [
            ask.install("/etc/rsyslog-receiver.conf", _RECEIVER),
            ask.start(
                RECEIVER,
                ["rsyslogd", "-n", "-i", "/run/receiver.pid", "-f", "/etc/rsyslog-receiver.conf"],
                ready=ask.Ready(tcp=PORT),
            ),
        ]
    written = _CONFIGURATION.format(
        limit=_limit(daemon), forward=_FORWARD if daemon.forward else ""
    )
    return (
        *asked,
        ask.install("/etc/rsyslog.conf", written),
        ask.start(
            SERVICE,
            ["rsyslogd", "-n", "-iNONE"],
            ready=ask.Ready(run=("test", "-S", "/dev/log")),
            logs=[LOG],
        ),
        *_say("syslog-begin", _BEGIN, [LOG]),
    )


def finish(controls: Sequence[Control]) -> tuple[Request, ...]:
    """Return what lets the daemon finish its work and stops it, its receiver last."""
    daemon = _daemon(controls)
    if daemon is None:
        return ()
    return (
        *_say("syslog-end", _END, [LOG, *[RECEIVED] * daemon.forward]),
        ask.stop(SERVICE),
        *[ask.stop(RECEIVER)] * daemon.forward,
    )


def counting(controls: Sequence[Control]) -> tuple[Request, ...]:
    """Return what counts the messages, once every service has stopped."""
    daemon = _daemon(controls)
    if daemon is None:
        return ()
    received = ask.count("syslog-received", "messages", RECEIVED)
    return (ask.count("syslog-totals", "messages", LOG), *[received] * daemon.forward)


def verify(controls: Sequence[Control], answers: Sequence[Answer]) -> tuple[str, ...]:
    """Return notes of what the daemon dropped or did not forward, counted.

    That it writes was waited for.

    Raises:
        TrialError: The guest does not say what was dropped.
    """
    daemon = _daemon(controls)
    if daemon is None:
        return ()
    notes = []
    if daemon.forward:
        notes.append("the syslog receiver runs in the guest: its work is part of what is measured")
    if answered.counted(answers, "syslog-totals") and auditd.duplicates(controls):
        notes += _dropped(daemon, answers)
    return tuple(notes)


def _dropped(daemon: Rsyslog, answers: Sequence[Answer]) -> list[str]:
    """Return notes of how many audit records did not come through."""
    records = answered.number(answers, "audit-log", "records")
    written = answered.number(answers, "syslog-totals", "audit")
    if not answered.number(answers, "audit-log", "whole"):
        return [f"{written} audit records came to {LOG}"]
    notes = []
    if dropped := records - written:
        notes.append(f"syslog dropped {dropped} of {records} audit records: {_reason(answers)}")
    if not daemon.forward:
        return notes
    if missing := written - answered.number(answers, "syslog-received", "audit"):
        notes.append(f"{missing} of {written} audit records did not come to the receiver")
    return notes


def _reason(answers: Sequence[Answer]) -> str:
    """Return what rsyslog itself says of its rate limit; it counts what ends an event too."""
    if own := answered.number(answers, "syslog-totals", "limited"):
        return f"it says that its rate limit dropped {own} messages"
    if answered.number(answers, "syslog-totals", "beginnings"):
        return "it says that its rate limit begins to drop, and not how many"
    return "its rate limit did not act"


def _say(name: str, message: str, files: Sequence[str]) -> tuple[Request, ...]:
    """Return the requests to log a message and to wait until it stands in each file."""
    return (
        ask.run(name, ["logger", "-p", "user.info", message]),
        *(
            ask.until(f"{name} in {file}", ask.Ready(file=file, contains=message), _LIMIT)
            for file in files
        ),
    )


def _limit(daemon: Rsyslog) -> str:
    if not daemon.rate_limit:
        return _UNLIMITED
    return _LIMITED.format(interval=daemon.interval, burst=daemon.burst)


def _daemon(controls: Sequence[Control]) -> Rsyslog | None:
    return next((control for control in controls if isinstance(control, Rsyslog)), None)
