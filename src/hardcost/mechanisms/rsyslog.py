"""The syslog daemon in a Debian guest, with a receiver to forward to, and what was dropped.

Its files are those of RHEL's rsyslog.conf: everything from info up in /var/log/messages. It takes
messages from /dev/log only; the kernel's own log is left out. Its rate limit is off by default, as
in Debian; if it is on, its numbers are those of RHEL's imjournal, for messages from /dev/log. The
receiver is a second rsyslogd, which writes everything to one file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import BaseModel, Field, StrictBool, StrictInt

from hardcost.controls.control import Control, Profile, first, of_kind
from hardcost.mechanisms import replies
from hardcost.mechanisms.ansible import TaskGroup
from hardcost.mechanisms.auditd import AuditPlugin
from hardcost.mechanisms.export import Left
from hardcost.mechanisms.mechanism import TABLE, Mechanism, Phase, ServiceTable, TableSource
from hardcost.protocol import ask
from hardcost.protocol.answers import Answer
from hardcost.protocol.requests import Ready, Request
from hardcost.toml.write import TomlEntry

SERVICE = "rsyslog"
RECEIVER = "rsyslog-receiver"
LOG = "/var/log/messages"
RECEIVED = "/var/log/received"
PORT = 514  # the usual one of syslog
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


_IDS = ("CCE-83989-4",)
"""The RHEL 9 rule of SCAP Security Guide that requires the service."""

_Positive = Annotated[StrictInt, Field(ge=1, le=2**31 - 1)]


@dataclass(frozen=True)
class Rsyslog(Control):
    """The syslog daemon, which writes what programs log to /var/log.

    With `forward` it also sends everything, over TCP, to a receiver in the guest. With `rate_limit`
    it takes at most `burst` messages of one process in `interval` seconds, and drops the rest.
    """

    forward: bool = False
    rate_limit: bool = False
    burst: int = 20_000
    interval: int = 600

    packages: ClassVar[tuple[str, ...]] = ("rsyslog",)
    whole_system: ClassVar[bool] = True
    suspect: ClassVar[bool] = True
    mechanism: ClassVar[str] = "rsyslog"
    single: ClassVar[bool] = True

    @property
    def name(self) -> str:
        limit = f"rate-limit={self.burst}/{self.interval}s"
        words = ["rsyslog.service", *["forward"] * self.forward, *[limit] * self.rate_limit]
        return " ".join(words)


class RsyslogTable(ServiceTable):
    """`rsyslog = true | { … }`: the syslog daemon.

    `forward` sends its messages to a receiver in the guest too; `rate-limit` drops the messages of
    a process beyond `burst` in `interval` seconds.
    """

    forward: StrictBool = False
    rate_limit: Annotated[StrictBool, Field(alias="rate-limit")] = False
    burst: _Positive = Rsyslog.burst
    interval: Annotated[StrictInt, Field(ge=1, le=65535)] = Rsyslog.interval


class RsyslogKeys(BaseModel):
    """`rsyslog` is the syslog daemon."""

    model_config = TABLE

    rsyslog: RsyslogTable | None = None


class RsyslogMechanism(Mechanism[RsyslogKeys]):
    """The syslog daemon, and a receiver to forward to."""

    name = "rsyslog"
    toml = "`rsyslog = true`, or `{ forward, rate-limit, burst, interval }`"
    verified_by = "a message that comes through"
    keys = RsyslogKeys
    phase = Phase.SYSLOG

    def read(self, table: RsyslogKeys, source: TableSource) -> Iterator[Control]:
        own = table.rsyslog
        if own is not None and own.enabled:
            limit = (own.rate_limit, own.burst, own.interval)
            yield Rsyslog(own.forward, *limit, ids=_IDS, place=source.place("rsyslog"))

    def write(self, controls: Sequence[Control]) -> Iterator[TomlEntry]:
        for one in of_kind(controls, Rsyslog):
            for key, value in {
                "forward": one.forward,
                "rate-limit": one.rate_limit,
                "burst": one.burst,
                "interval": one.interval,
            }.items():
                yield TomlEntry(("rsyslog", key), value, (one.name,))

    def ansible_tasks(self, profile: Profile) -> tuple[Sequence[TaskGroup], Sequence[Left]]:
        """Return the group of the daemon as it is installed."""
        found = of_kind(profile.controls, Rsyslog)
        left = [one for one in found if one.rate_limit or one.forward]
        why = "the rate limit and the receiver are your site's"
        group = TaskGroup("syslog", "the syslog daemon", len(found) - len(left))
        return [group], [(one.name, why) for one in left]

    def requests(self, controls: Sequence[Control]) -> tuple[Request, ...]:
        """Return the requests that configure and start the daemon, after its receiver."""
        daemon = first(controls, Rsyslog)
        if daemon is None:
            return ()
        asked: list[Request] = []
        if daemon.forward:
            asked += [
                ask.install("/etc/rsyslog-receiver.conf", _RECEIVER),
                ask.start(
                    RECEIVER,
                    [
                        "rsyslogd",
                        "-n",
                        "-i",
                        "/run/receiver.pid",
                        "-f",
                        "/etc/rsyslog-receiver.conf",
                    ],
                    ready=Ready(tcp=PORT),
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
                ready=Ready(run=("test", "-S", "/dev/log")),
                logs=[LOG],
            ),
            *_say("syslog-begin", _BEGIN, [LOG]),
        )

    def finish(self, controls: Sequence[Control]) -> tuple[Request, ...]:
        """Return the requests that let the daemon finish and stop it, its receiver last."""
        daemon = first(controls, Rsyslog)
        if daemon is None:
            return ()
        return (
            *_say("syslog-end", _END, [LOG, *[RECEIVED] * daemon.forward]),
            ask.stop(SERVICE),
            *[ask.stop(RECEIVER)] * daemon.forward,
        )

    def counting(self, controls: Sequence[Control]) -> tuple[Request, ...]:
        """Return the requests that count the messages, once every service has stopped."""
        daemon = first(controls, Rsyslog)
        if daemon is None:
            return ()
        received = ask.count("syslog-received", "messages", RECEIVED)
        return (ask.count("syslog-totals", "messages", LOG), *[received] * daemon.forward)

    def verify(self, controls: Sequence[Control], answers: Sequence[Answer]) -> tuple[str, ...]:
        """Return notes of messages that the daemon dropped or did not forward, counted.

        That it writes was waited for.

        Raises:
            TrialError: The guest does not say what was dropped.
        """
        daemon = first(controls, Rsyslog)
        if daemon is None:
            return ()
        notes = []
        if daemon.forward:
            notes.append(
                "the syslog receiver runs in the guest: its work is part of what is measured"
            )
        if replies.counted_answer(answers, "syslog-totals") and _takes_audit(controls):
            notes += _notes_of_drops(daemon, answers)
        return tuple(notes)


def _takes_audit(controls: Sequence[Control]) -> bool:
    """Say whether every audit record goes to syslog too."""
    return any(one.plugin == "syslog" for one in of_kind(controls, AuditPlugin))


def _notes_of_drops(daemon: Rsyslog, answers: Sequence[Answer]) -> list[str]:
    """Return notes of how many audit records did not come through."""
    records = replies.number(answers, "audit-log", "records")
    written = replies.number(answers, "syslog-totals", "audit")
    if not replies.number(answers, "audit-log", "whole"):
        return [f"{written} audit records came to {LOG}"]
    notes = []
    if dropped := records - written:
        notes.append(f"syslog dropped {dropped} of {records} audit records: {_reason(answers)}")
    if not daemon.forward:
        return notes
    if missing := written - replies.number(answers, "syslog-received", "audit"):
        notes.append(f"{missing} of {written} audit records did not come to the receiver")
    return notes


def _reason(answers: Sequence[Answer]) -> str:
    """Return rsyslog's words on its rate limit, which also counts records that end events."""
    if own := replies.number(answers, "syslog-totals", "limited"):
        return f"it says that its rate limit dropped {own} messages"
    if replies.number(answers, "syslog-totals", "beginnings"):
        return "it says that its rate limit begins to drop, and not how many"
    return "its rate limit did not act"


def _say(name: str, message: str, files: Sequence[str]) -> tuple[Request, ...]:
    """Return the requests to log a message and to wait until each file has it."""
    return (
        ask.run(name, ["logger", "-p", "user.info", message]),
        *(
            ask.until(f"{name} in {file}", Ready(file=file, contains=message), _LIMIT)
            for file in files
        ),
    )


def _limit(daemon: Rsyslog) -> str:
    if not daemon.rate_limit:
        return _UNLIMITED
    return _LIMITED.format(interval=daemon.interval, burst=daemon.burst)


SYSLOG_DAEMON = RsyslogMechanism()
