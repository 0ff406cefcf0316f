"""The audit package's daemon in a Debian guest: its configuration, plug-ins, counts, and its end.

It is started as by Debian's unit, but stays in the foreground. Rules are loaded once it takes the
records. After the workload a message of our own is sent through the kernel's queue: when it is in
the log, so is everything before it. Then the plug-ins' queue is drained, the kernel reports its
losses, and the daemon is stopped. So nothing is cut off that a running daemon would have written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, Field, StrictInt

from hardcost.controls.control import Control, Profile, first, of_kind
from hardcost.errors import InputError, TrialError
from hardcost.mechanisms import replies
from hardcost.mechanisms.ansible import Outside, TaskGroup
from hardcost.mechanisms.audit import AuditDaemon
from hardcost.mechanisms.export import Left
from hardcost.mechanisms.mechanism import TABLE, Mechanism, Phase, ServiceTable, TableSource
from hardcost.protocol import ask
from hardcost.protocol.answers import Answer, StartedAnswer, answer_named
from hardcost.protocol.requests import Ready, Request
from hardcost.toml.write import TomlEntry

SERVICE = "auditd"
LOG = "/var/log/audit/audit.log"
END = "hardcost-end"
"""Messages in the log around the workload, between which events are counted."""

_FOLDER = "/etc/audit"
_PID = "/run/auditd.pid"
_STATE = "/run/auditd.state"
_MISCONFIGURED = f"the service {SERVICE} died: status 6"  # auditd(8), "Exit codes"
_LIMIT = 20.0  # seconds of the guest's time to work off what has been queued

_SETTINGS = {
    "local_events": "yes",
    "write_logs": "yes",
    "log_file": LOG,
    "log_group": "adm",
    "log_format": "ENRICHED",
    "flush": "",
    "freq": "",
    "max_log_file": "8",
    "num_logs": "5",
    "priority_boost": "4",
    "name_format": "NONE",
    "max_log_file_action": "ROTATE",
    "space_left": "75",
    "space_left_action": "SYSLOG",
    "admin_space_left": "50",
    "admin_space_left_action": "SUSPEND",
    "disk_full_action": "SUSPEND",
    "disk_error_action": "SUSPEND",
    "distribute_network": "no",
    "q_depth": "2000",
    "overflow_action": "SYSLOG",
    "max_restarts": "10",
    "plugin_dir": f"{_FOLDER}/plugins.d",
    "end_of_event_timeout": "2",
}
"""Debian's own auditd.conf, but for what concerns the network and mail."""

_PLUGINS = {
    "syslog": ("/sbin/audisp-syslog", "always", "LOG_INFO"),
    "af_unix": ("builtin_af_unix", "builtin", "0640 /var/run/audispd_events"),
}

# auditd writes its state when it is sent SIGCONT.
_DRAIN = f"""
read pid < {_PID}
rm -f {_STATE}
n=0
while [ $n -lt 1000 ]; do
  kill -CONT "$pid" 2>/dev/null
  sleep 0.01
  depth=
  while read -r line; do
    case $line in 'current plugin queue depth = '*) depth=${{line##* }} ;; esac
  done 2>/dev/null < {_STATE}
  [ -s {_STATE} ] && [ "${{depth:-0}}" = 0 ] && break
  n=$((n + 1))
done
exit 0
"""


_DUPLICATE = ("RHEL-09-652035",)
"""Rules that require records in syslog too, by "Reducing RHEL9 STIG Performance Impacts"."""

_IDS = ("CCE-90829-3",)
"""The RHEL 9 rule of SCAP Security Guide that requires the service."""

ENDS_THE_GUEST = frozenset({"single", "halt"})
"""Actions of auditd.conf that would end the guest."""

Flush = Literal["none", "incremental", "incremental_async", "data", "sync"]
"""When auditd flushes its log to the disk, as in auditd.conf(5)."""

_Setting = Annotated[str, Field(pattern=r"^[^\n=]*$")]


@dataclass(frozen=True)
class Auditd(Control):
    """The audit package's daemon, which writes the records to its log.

    `flush` and `freq` determine how it gets them onto the disk; `settings` are further lines of
    auditd.conf, (key, value). Without it the probe takes the records and discards them.
    """

    flush: Flush = "incremental_async"
    freq: int = 50
    settings: tuple[tuple[str, str], ...] = ()

    takes_records: ClassVar[bool] = True
    packages: ClassVar[tuple[str, ...]] = ("auditd",)
    whole_system: ClassVar[bool] = True
    suspect: ClassVar[bool] = True
    mechanism: ClassVar[str] = "auditd"
    single: ClassVar[bool] = True

    @property
    def name(self) -> str:
        plain = Auditd()
        words = ["auditd.service"]
        words += [f"flush={self.flush}"] * (self.flush != plain.flush)
        words += [f"freq={self.freq}"] * (self.freq != plain.freq)
        words += [f"({len(self.settings)} settings)"] * bool(self.settings)
        return " ".join(words)

    def companion(self) -> Control:
        """Return audit itself: the daemon alone switches it on too."""
        return AuditDaemon(assumed=True)


@dataclass(frozen=True)
class AuditPlugin(Control):
    """A program that receives every record from auditd: `syslog`, or `af_unix` (a socket)."""

    plugin: str

    packages: ClassVar[tuple[str, ...]] = ("auditd",)
    requires: ClassVar[type[Control]] = Auditd
    whole_system: ClassVar[bool] = True
    suspect: ClassVar[bool] = True
    mechanism: ClassVar[str] = "auditd"

    @property
    def slot(self) -> str:
        """Return the slot, which at most one control may have."""
        return self.name

    @property
    def name(self) -> str:
        return f"auditd plug-in {self.plugin}"


class AuditdTable(ServiceTable):
    """`auditd = true | { … }`: the audit package's daemon.

    `flush` and `freq` are those of auditd.conf(5), `settings` other lines of it; `plugins` are the
    programs that receive every record.
    """

    flush: Flush = Auditd.flush
    freq: Annotated[StrictInt, Field(ge=0, le=2**31 - 1)] = Auditd.freq
    settings: dict[Annotated[str, Field(pattern=r"^[a-z_]+$")], StrictInt | _Setting] = Field({})
    plugins: tuple[Literal["syslog", "af_unix"], ...] = ()


class AuditdKeys(BaseModel):
    """`auditd` is the audit package's daemon."""

    model_config = TABLE

    auditd: AuditdTable | None = None


class AuditdMechanism(Mechanism[AuditdKeys]):
    """The audit package's daemon and its log, and plug-ins that receive every record."""

    name = "auditd"
    toml = '`auditd = true`, or `{ flush, freq, settings, plugins = ["syslog"] }`'
    verified_by = "who the kernel gives its records to, and the rules that it holds"
    keys = AuditdKeys
    phase = Phase.AUDIT_DAEMON

    def read(self, table: AuditdKeys, source: TableSource) -> Iterator[Control]:
        own = table.auditd
        if own is None or not own.enabled:
            return
        settings = tuple((key, str(value)) for key, value in own.settings.items())
        place = source.place("auditd")
        yield Auditd(own.flush, own.freq, settings, ids=_IDS, place=place)
        for at, plugin in enumerate(own.plugins):
            ids = _DUPLICATE if plugin == "syslog" else ()
            yield AuditPlugin(plugin, ids=ids, place=source.place("auditd", "plugins", at))

    def write(self, controls: Sequence[Control]) -> Iterator[TomlEntry]:
        for one in of_kind(controls, Auditd):
            yield TomlEntry(("auditd", "flush"), one.flush, (one.name,))
            yield TomlEntry(("auditd", "freq"), one.freq, (one.name,))
        for plugin in of_kind(controls, AuditPlugin):
            yield TomlEntry(("auditd", "plugins"), plugin.plugin, (plugin.name,), element=True)
        for one in of_kind(controls, Auditd):
            for key, value in one.settings:
                yield TomlEntry(("auditd", "settings", key), value, (one.name,))

    def ansible_tasks(self, profile: Profile) -> tuple[Sequence[TaskGroup], Sequence[Left]]:
        """Return the daemon's group: the lines of auditd.conf that it sets, and its plug-ins."""
        settings: dict[str, str] = {}
        left: list[Left] = []
        daemons = of_kind(profile.controls, Auditd)
        for daemon in daemons:
            lines = {"flush": daemon.flush.upper(), "freq": str(daemon.freq)}
            lines |= dict(daemon.settings)
            if all(text.isprintable() for pair in lines.items() for text in pair):
                settings |= lines
            else:
                left.append((daemon.name, "a setting is not one printable line"))
        plugins = [one.plugin for one in of_kind(profile.controls, AuditPlugin)]
        values = {
            "auditd_settings": [
                Outside({"key": key, "value": value}) for key, value in settings.items()
            ],
            "auditd_plugins": Outside(plugins),
        }
        done = len(daemons) - len(left) + len(plugins)
        return [TaskGroup("auditd", "auditd's configuration and plug-ins", done, values)], left

    def requests(self, controls: Sequence[Control]) -> tuple[Request, ...]:
        """Return the requests that configure the daemon and its plug-ins, and start it.

        Raises:
            InputError: There are plug-ins without the daemon, or it would end the guest.
        """
        daemon = first(controls, Auditd)
        plugins = [one.plugin for one in controls if isinstance(one, AuditPlugin)]
        if daemon is None:
            if plugins:
                raise InputError(
                    f"the auditd plug-in {plugins[0]} is on, and auditd is not",
                    hint="switch auditd on beside it",
                )
            return ()
        files = [ask.install(f"{_FOLDER}/auditd.conf", _configuration(daemon), 0o640)]
        files += [
            ask.install(f"{_FOLDER}/plugins.d/{name}.conf", _plugin(name), 0o640)
            for name in plugins
        ]
        takes = f'read pid < {_PID} && auditctl -s | grep -q "^pid $pid$"'
        return (
            *files,
            ask.start(
                SERVICE,
                ["/sbin/auditd", "-n"],
                ready=Ready(file=_PID, contains="\n"),
                logs=[LOG, "/var/log/messages"],
            ),
            ask.until("audit-takes", Ready(run=("sh", "-c", takes))),
        )

    def finish(self, controls: Sequence[Control]) -> tuple[Request, ...]:
        """Return the requests that let the daemon finish, count its work, and stop it."""
        if first(controls, Auditd) is None:
            return ()
        return (
            ask.run("audit-mark", ["auditctl", "-m", END], expect=None),
            ask.until("audit-logged", Ready(file=LOG, contains=END), _LIMIT),
            ask.run("audit-drain", ["sh", "-c", _DRAIN], expect=None, limit_seconds=_LIMIT),
            ask.run("audit-end", ["auditctl", "-s"]),
            ask.read("audit-state", _STATE),
            ask.stop(SERVICE),
        )

    def counting(self, controls: Sequence[Control]) -> tuple[Request, ...]:
        """Return the requests that count the records, once every service has stopped."""
        if first(controls, Auditd) is None:
            return ()
        return (ask.count("audit-log", "audit", LOG),)

    def verify(self, controls: Sequence[Control], answers: Sequence[Answer]) -> tuple[str, ...]:
        """Check that the daemon takes the records, wrote all of them, and ended when asked to.

        Returns notes: what the kernel lost, and how the daemon was configured unlike Debian's.

        Raises:
            TrialError: It does not have the kernel's records, or stopped writing.
        """
        daemon = first(controls, Auditd)
        if daemon is None:
            return ()
        started = answer_named(answers, StartedAnswer, SERVICE)
        before = replies.words(answers, "audit-status")
        if before.get("pid") != str(started.pid) or before.get("enabled") not in {"1", "2"}:
            raise TrialError(
                f"{daemon.name} did not take: the kernel gives its records to process "
                f"{before.get('pid')}, with audit {before.get('enabled')}, "
                f"and auditd is {started.pid}"
            )
        notes: list[str] = []
        if replies.has_run(answers, "audit-end"):
            notes += _check_end(answers)
        return tuple(notes)

    def explain(self, controls: Sequence[Control], message: str) -> InputError | None:
        """Return the user's error behind a daemon that refuses its configuration.

        It reports what is wrong to syslog alone, which does not run yet; its exit status says that
        it is the configuration.
        """
        daemon = first(controls, Auditd)
        if daemon is None or _MISCONFIGURED not in message:
            return None
        lines = [f"flush = {daemon.flush}", f"freq = {daemon.freq}"]
        lines += [f"{key} = {value}" for key, value in daemon.settings]
        return InputError(
            f"auditd refuses its configuration, which has {', '.join(lines)}",
            hint="auditd.conf(5) says what each setting takes",
        )


def _check_end(answers: Sequence[Answer]) -> list[str]:
    """Check how the daemon ended; return notes of lost records."""
    before = replies.numbers(answers, "audit-status")
    after = replies.numbers(answers, "audit-end")
    notes = []
    lost = after.get("lost", 0) - before.get("lost", 0)
    if lost:
        notes.append(f"audit lost {lost} records in the kernel's queue")
    state = replies.text(answers, "audit-state") or ""
    if "overflow detected = yes" in state:
        notes.append("auditd's queue to its plug-ins overflowed: records did not reach them")
    if not replies.number(answers, "audit-log", "whole"):
        notes.append("audit's log was rotated so far that its beginning is gone: more was logged")
    return notes


def _configuration(daemon: Auditd) -> str:
    """Return auditd.conf."""
    own = dict(daemon.settings)
    for key, value in own.items():
        if value.lower() in ENDS_THE_GUEST:
            raise InputError(
                f"auditd's {key} = {value} would end the guest",
                hint="choose an action such as SYSLOG or SUSPEND",
            )
    settings = _SETTINGS | {"flush": daemon.flush.upper(), "freq": str(daemon.freq)} | own
    return "".join(f"{key} = {value}\n" for key, value in settings.items())


def _plugin(name: str) -> str:
    """Return a plug-in's configuration."""
    path, kind, arguments = _PLUGINS[name]
    return (
        f"active = yes\ndirection = out\npath = {path}\ntype = {kind}\n"
        f"args = {arguments}\nformat = string\n"
    )


AUDITD = AuditdMechanism()
