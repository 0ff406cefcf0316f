"""Daemons that hardening brings, by their processes, or by the units that would start them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from auditrules.model.location import Location
from hardcost.in_force.files import MachineFiles
from hardcost.in_force.found import InForce, Survey, lines_of

_WANTS = ("/etc/systemd/system/multi-user.target.wants", "/etc/systemd/system/sysinit.target.wants")
_KIND = "daemon"
_AUDITD = "auditd"
_CONFIGURATION = "/etc/audit/auditd.conf"
_PLUGINS = "/etc/audit/plugins.d"
_SETTING = re.compile(r"(\w+)\s*=\s*(.*)", re.ASCII)
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
        return Survey(tuple(_daemon(files, name) for name in started))
    running = files.processes()
    return Survey(
        tuple(
            _daemon(files, name)
            for name, processes in _DAEMONS.items()
            if running & {one[:_LONGEST] for one in processes}
        )
    )


def _daemon(files: MachineFiles, name: str) -> InForce:
    """Return a daemon; auditd with what decides what it costs."""
    settings = auditd_settings(files) if name == _AUDITD else {}
    said = [f"{key} {settings[key]}" for key in ("flush", "freq") if key in settings]
    if name == _AUDITD:
        plugins = [one.removesuffix(".conf") for one in _active_plugins(files)]
        said += [f"plug-in {one}" for one in plugins]
    place = Location(_CONFIGURATION, None) if settings else None
    return InForce(_KIND, name, place=place, note=", ".join(said))


def auditd_settings(files: MachineFiles) -> Mapping[str, str]:
    """Return the lines of auditd's configuration, keys and values in lower case."""
    return _settings(files, _CONFIGURATION)


def _active_plugins(files: MachineFiles) -> Iterator[str]:
    for name in files.names(_PLUGINS):
        if _settings(files, f"{_PLUGINS}/{name}").get("active") == "yes":
            yield name


def _settings(files: MachineFiles, path: str) -> Mapping[str, str]:
    found = (_SETTING.fullmatch(line) for line, _ in lines_of(files, path))
    return {one[1].lower(): one[2].strip().lower() for one in found if one is not None}


def _is_masked(files: MachineFiles, unit: str) -> bool:
    return files.link(f"/etc/systemd/system/{unit}.service") == "/dev/null"
