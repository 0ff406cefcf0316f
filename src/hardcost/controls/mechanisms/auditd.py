"""The audit package's daemon in a Debian guest: its configuration, plug-ins, counts, and its end.

It is started as by Debian's unit, but stays in the foreground. Rules are loaded once it takes the
records. After the workload a message of our own is sent through the kernel's queue: when it is in
the log, so is everything before it. Then the plug-ins' queue is drained, the kernel reports its
losses, and the daemon is stopped. So nothing is cut off that a running daemon would have written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.controls.control import ENDS_THE_GUEST, Auditd, AuditPlugin, Rsyslog
from hardcost.controls.mechanisms import answered
from hardcost.errors import InputError, TrialError
from hardcost.protocol import requests as ask
from hardcost.protocol.answers import StartedAnswer, named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.controls.control import Control
    from hardcost.protocol.answers import Answer
    from hardcost.protocol.requests import Request

SERVICE = "auditd"
LOG = "/var/log/audit/audit.log"
BEGIN = "hardcost-begin"
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


def requests(controls: Sequence[Control]) -> tuple[Request, ...]:
    """Return what configures the daemon and its plug-ins, and starts it.

    Raises:
        InputError: There are plug-ins without the daemon, or it would end the guest.
    """
    daemon = daemon_of(controls)
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
        ask.install(f"{_FOLDER}/plugins.d/{name}.conf", _plugin(name), 0o640) for name in plugins
    ]
    takes = f'read pid < {_PID} && auditctl -s | grep -q "^pid $pid$"'
    return (
        *files,
        ask.start(
            SERVICE,
            ["/sbin/auditd", "-n"],
            ready=ask.Ready(file=_PID, contains="\n"),
            logs=[LOG, "/var/log/messages"],
        ),
        ask.until("audit-takes", ask.Ready(run=("sh", "-c", takes))),
    )


def finish(controls: Sequence[Control]) -> tuple[Request, ...]:
    """Return what lets the daemon finish its work, counts it, and stops it."""
    if daemon_of(controls) is None:
        return ()
    return (
        ask.run("audit-mark", ["auditctl", "-m", END], expect=None),
        ask.until("audit-logged", ask.Ready(file=LOG, contains=END), _LIMIT),
        ask.run("audit-drain", ["sh", "-c", _DRAIN], expect=None, limit_seconds=_LIMIT),
        ask.run("audit-end", ["auditctl", "-s"]),
        ask.read("audit-state", _STATE),
        ask.stop(SERVICE),
    )


def counting(controls: Sequence[Control]) -> tuple[Request, ...]:
    """Return what counts the records, once every service has stopped."""
    if daemon_of(controls) is None:
        return ()
    return (ask.count("audit-log", "audit", LOG),)


def verify(controls: Sequence[Control], answers: Sequence[Answer]) -> tuple[str, ...]:
    """Check that the daemon takes the records, wrote all of them, and ended when it was asked to.

    Returns notes: what the kernel lost, and how the daemon was configured unlike Debian's.

    Raises:
        TrialError: It does not have the kernel's records, or stopped writing.
    """
    daemon = daemon_of(controls)
    if daemon is None:
        return ()
    started = named(answers, StartedAnswer, SERVICE)
    before = answered.words(answers, "audit-status")
    if before.get("pid") != str(started.pid) or before.get("enabled") not in {"1", "2"}:
        raise TrialError(
            f"{daemon.name} did not take: the kernel gives its records to process "
            f"{before.get('pid')}, with audit {before.get('enabled')}, "
            f"and auditd is {started.pid}"
        )
    notes: list[str] = []
    if answered.has_run(answers, "audit-end"):
        notes += _ended(answers)
    return tuple(notes)


def explain(controls: Sequence[Control], message: str) -> InputError | None:
    """Return the user's error behind a daemon that refuses its configuration; None if another.

    It tells syslog alone what is wrong, which nobody takes down yet: its exit status says so much.
    """
    daemon = daemon_of(controls)
    if daemon is None or _MISCONFIGURED not in message:
        return None
    lines = [f"flush = {daemon.flush}", f"freq = {daemon.freq}"]
    lines += [f"{key} = {value}" for key, value in daemon.settings]
    return InputError(
        f"auditd refuses its configuration, which has {', '.join(lines)}",
        hint="auditd.conf(5) says what each setting takes",
    )


def daemon_of(controls: Sequence[Control]) -> Auditd | None:
    """Return the daemon among the controls."""
    return next((control for control in controls if isinstance(control, Auditd)), None)


def duplicates(controls: Sequence[Control]) -> bool:
    """Say whether every record goes to syslog too."""
    kinds = [one for one in controls if isinstance(one, AuditPlugin) and one.plugin == "syslog"]
    return bool(kinds) and any(isinstance(one, Rsyslog) for one in controls)


def _ended(answers: Sequence[Answer]) -> list[str]:
    """Check how the daemon ended; return notes of what was lost."""
    before = answered.numbers(answers, "audit-status")
    after = answered.numbers(answers, "audit-end")
    notes = []
    lost = after.get("lost", 0) - before.get("lost", 0)
    if lost:
        notes.append(f"audit lost {lost} records in the kernel's queue")
    state = answered.text(answers, "audit-state") or ""
    if "overflow detected = yes" in state:
        notes.append("auditd's queue to its plug-ins overflowed: records did not reach them")
    if not answered.number(answers, "audit-log", "whole"):
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
