"""The syslog daemon in a Debian guest, with a receiver to forward to, and what was dropped.

Its files are those of RHEL's rsyslog.conf: everything from info up in /var/log/messages. It takes
messages from /dev/log only; the kernel's own log is left out. Its rate limit is off by default, as
in Debian; if it is on, its numbers are those of RHEL's imjournal, for messages from /dev/log. The
receiver is a second rsyslogd, which writes everything to one file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hardcost.controls.control import Rsyslog
from hardcost.controls.mechanisms import answered, auditd
from hardcost.errors import TrialError
from hardcost.machines import requests as ask

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hardcost.controls.control import Control
    from hardcost.machines.machine import Request

SERVICE = "rsyslog"
RECEIVER = "rsyslog-receiver"
LOG = "/var/log/messages"
RECEIVED = "/var/log/received"
PORT = 514
_MARK = "hardcost-end"
_LIMIT = 300.0  # seconds of the guest's time to work off what has been queued

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

_CHECK = f"""
logger -p user.info hardcost-begin || exit 1
for i in $(seq 200); do grep -q -a hardcost-begin {LOG} && exit 0; sleep 0.01; done
echo 'what is logged does not reach {LOG}' >&2
exit 1
"""

_WAIT = f"""
logger -p user.info {_MARK} || exit 1
for file; do
  for i in $(seq 1000); do grep -q -a {_MARK} "$file" && break; sleep 0.01; done
  grep -q -a {_MARK} "$file" || {{ echo "rsyslog does not write to $file"; df "$file"; exit 1; }}
done
"""

# What the plug-in logs has each record's own text; the records that only end an event are left out,
# since auditd doesn't write them to its own log.
_RECORD = "audisp-syslog[^:]*: (node=[^ ]* )?type="
_COUNT = f"""
audit() {{ grep -a -E '{_RECORD}' "$1" | grep -a -c -v -E '{_RECORD}EOE '; }}
echo audit $(audit {LOG})
echo limited $(sed -n -E 's/.*: ([0-9]+) messages lost due to rate-limiting.*/\\1/p' {LOG} \
  | awk '{{ n += $1 }} END {{ print n + 0 }}')
echo beginnings $(grep -a -c 'begin to drop messages' {LOG})
[ -e {RECEIVED} ] && echo received $(audit {RECEIVED})
exit 0
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
                ready={"tcp": PORT},
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
            ready={"run": ["test", "-S", "/dev/log"]},
            logs=[LOG],
        ),
        ask.run("rsyslog-check", ["sh", "-c", _CHECK]),
    )


def finish(controls: Sequence[Control]) -> tuple[Request, ...]:
    """Return what lets the daemon finish its work and stops it, its receiver last."""
    daemon = _daemon(controls)
    if daemon is None:
        return ()
    files = [LOG, *[RECEIVED] * daemon.forward]
    wait = ["sh", "-c", _WAIT, "sh", *files]
    return (
        ask.run("syslog-drain", wait, expect=None, limit_seconds=_LIMIT),
        ask.stop(SERVICE),
        *[ask.stop(RECEIVER)] * daemon.forward,
    )


def counting(controls: Sequence[Control]) -> tuple[Request, ...]:
    """Return what counts the messages, once every service has stopped."""
    if _daemon(controls) is None:
        return ()
    return (ask.run("syslog-totals", ["sh", "-c", _COUNT], limit_seconds=_LIMIT),)


def verify(controls: Sequence[Control], answers: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Check that the daemon wrote what it was given, and forwarded it.

    Returns notes: what was dropped, counted.

    Raises:
        TrialError: It does not write.
    """
    daemon = _daemon(controls)
    if daemon is None:
        return ()
    answered.named(answers, "ran", "rsyslog-check")
    notes = []
    if daemon.forward:
        notes.append("the syslog receiver runs in the guest: its work is part of what is measured")
    if not any(answer.get("name") == "syslog-drain" for answer in answers):
        return tuple(notes)
    drained = answered.named(answers, "ran", "syslog-drain")
    if drained["status"] != 0:
        said = " ".join(f"{drained['stdout']} {drained['stderr']}".split())
        raise TrialError(f"rsyslog did not log what it was sent: {said}", hint="is the disk full?")
    if auditd.duplicates(controls):
        notes += _dropped(daemon, answers)
    return tuple(notes)


def _dropped(daemon: Rsyslog, answers: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return notes of how many audit records did not come through."""
    totals = answered.numbers(answers, "audit-totals")
    counted = answered.numbers(answers, "syslog-totals")
    records, written = int(totals["records"]), int(counted["audit"])
    if totals.get("whole") != "yes":
        return [f"{written} audit records came to {LOG}"]
    notes = []
    if dropped := records - written:
        notes.append(f"syslog dropped {dropped} of {records} audit records: {_reason(counted)}")
    if daemon.forward and (missing := written - int(counted["received"])):
        notes.append(f"{missing} of {written} audit records did not come to the receiver")
    return notes


def _reason(counted: Mapping[str, str]) -> str:
    """Return what rsyslog itself says of its rate limit; it counts what ends an event too."""
    if own := int(counted["limited"]):
        return f"it says that its rate limit dropped {own} messages"
    if int(counted["beginnings"]):
        return "it says that its rate limit begins to drop, and not how many"
    return "its rate limit did not act"


def _limit(daemon: Rsyslog) -> str:
    if not daemon.rate_limit:
        return _UNLIMITED
    return _LIMITED.format(interval=daemon.interval, burst=daemon.burst)


def _daemon(controls: Sequence[Control]) -> Rsyslog | None:
    return next((control for control in controls if isinstance(control, Rsyslog)), None)
