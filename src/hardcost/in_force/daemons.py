"""Daemons that hardening brings, by their processes, or by the units that would start them."""

from __future__ import annotations

from hardcost.in_force.files import MachineFiles
from hardcost.in_force.found import InForce, Survey

_WANTS = ("/etc/systemd/system/multi-user.target.wants", "/etc/systemd/system/sysinit.target.wants")
_KIND = "daemon"
_DAEMONS = {
    "auditd": ("auditd",),
    "rsyslog": ("rsyslogd",),
    "fapolicyd": ("fapolicyd",),
    "usbguard": ("usbguard-daemon",),
    "clamav-daemon": ("clamd",),
    "clamav-clamonacc": ("clamonacc",),
    "laurel": ("laurel",),
    "osqueryd": ("osqueryd",),
    "falco": ("falco", "falco-bpf", "falco-modern-bpf"),
    "wazuh-agent": ("wazuh-agentd", "wazuh-syscheckd"),
    "auditbeat": ("auditbeat",),
    "tetragon": ("tetragon",),
    "sysdig": ("sysdig",),
    "aide": ("aide",),
}
"""The units, and what the kernel calls their processes, of which it keeps 15 characters."""

_LONGEST = 15


def read(files: MachineFiles) -> Survey:
    """Return the daemons that run, or that would be started."""
    if not files.live:
        wanted = {one.removesuffix(".service") for folder in _WANTS for one in files.names(folder)}
        started = (one for one in _DAEMONS if one in wanted and not _is_masked(files, one))
        return Survey(tuple(InForce(_KIND, name) for name in started))
    running = files.processes()
    return Survey(
        tuple(
            InForce(_KIND, name)
            for name, processes in _DAEMONS.items()
            if running & {one[:_LONGEST] for one in processes}
        )
    )


def _is_masked(files: MachineFiles, unit: str) -> bool:
    return files.link(f"/etc/systemd/system/{unit}.service") == "/dev/null"
