"""The settings that a profile of a SCAP datastream requires, as far as they apply to the guest.

Repair scripts are read as text, like those of audit rules: the arguments of `sysctl -w` and
`grubby --args=`, the lines written to auditd.conf and to fstab, SELinux's state. Nothing is run.
Rules about other things (packages, files' owners, accounts, desktops) are counted and skipped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hardcost.controls.control import (
    ENDS_THE_GUEST,
    Auditd,
    BootParameter,
    Lsm,
    MountOptions,
    Sysctl,
)
from hardcost.profiles.importers import scap
from hardcost.profiles.importers.scapfix import mentions_rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from hardcost.controls.control import SystemControl

_ASSIGNED = re.compile(r"^(\w+)='([^'\n]*)'$", re.MULTILINE)
_SYSCTL = re.compile(r"sysctl -q -n -w ([\w./:-]+)=(\"[^\"\n]*\"|\S+)")
_BOOT = re.compile(r"grubby --update-kernel=ALL --args=(\"[^\"\n]*\"|\S+)")
_AUDITD = (
    re.compile(
        r"<<< \"\^(?P<key>\w+)\".{0,500}?\"%s = %s\" \"\$stripped_key\" \"(?P<value>[^\"\n]*)\"",
        re.DOTALL,
    ),
    re.compile(r"(?:printf '%s\\n'|echo) \"(?P<key>\w+) = (?P<value>[^\"\n]*)\" >>"),
)
_MOUNT = re.compile(r"printf \"\[\[:space:\]\]%s\[\[:space:\]\]\" \"?(/[\w/]+)\"?\)")
_OPTION = re.compile(r"defaults,\$\{previous_mount_opts\}(\w+) 0 0")
_SELINUX = re.compile(r"\"SELINUX=(\w+)\" >>")

_APPLIES = ("/tmp", "/dev/shm", "/home", "/var", "/var/log", "/var/log/audit", "/var/tmp")  # noqa: S108
"""Directories of the guest whose mounts get options; others hold nothing that is used."""

_OPTIONS = frozenset({"nodev", "noexec", "nosuid"})
_PREFIXES = ("sysctl_", "grub2_", "auditd_", "mount_option_", "selinux_state")
_DAEMON = "service_auditd_enabled"


@dataclass
class Settings:
    """The settings of the scripts; `notes` say what was left out, and why."""

    sysctls: list[Sysctl] = field(default_factory=list)
    boots: list[BootParameter] = field(default_factory=list)
    system: list[SystemControl] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass
class _Gathered:
    """Mount options and lines of auditd.conf, each with the ids of the rules that require them."""

    mounts: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    auditd: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    daemon: tuple[str, ...] | None = None


def settings(path: Path, wanted: str) -> Settings:
    """Return the settings that the profile `wanted` of a datastream requires.

    Raises:
        InputError: The file is not a datastream, can't be read, or has no such profile.
    """
    found, gathered = Settings(), _Gathered()
    others = 0
    without: dict[str, list[str]] = {}
    for rule in scap.scripted(path, wanted):
        if rule.name == _DAEMON:
            gathered.daemon = rule.ids
        elif not rule.name.startswith(_PREFIXES):
            others += not any(map(mentions_rules, rule.scripts))
        elif why := _take(rule, found, gathered):
            without.setdefault(why, []).append(rule.name)
    found.system += _mounts(gathered)
    found.system += _daemon(gathered, found)
    found.notes += [f"{', '.join(names)} left out: {why}" for why, names in without.items()]
    if others:
        found.notes.append(
            f"{others} of its rules are about other things than audit, sysctls, boot parameters, "
            "auditd.conf, mount options and SELinux's state, and are skipped"
        )
    return found


def _take(rule: scap.Scripted, found: Settings, gathered: _Gathered) -> str | None:
    """Import the settings that a rule requires; return why not."""
    if not rule.scripts:
        return "it has no script with its settings"
    script = _filled(rule.scripts[0])
    if state := _SELINUX.search(script):
        mode = state[1]
        if mode not in {"enforcing", "permissive"}:
            return f"SELinux has no state {mode} here"
        found.system.append(Lsm("enforcing" if mode == "enforcing" else "permissive", rule.ids))
        return None
    if rule.name.startswith("mount_option_"):
        return _mount(script, rule, gathered)
    if rule.name.startswith("auditd_"):
        return _auditd(script, rule, gathered)
    return _kernel(script, rule, found)


def _kernel(script: str, rule: scap.Scripted, found: Settings) -> str | None:
    """Import sysctls and boot parameters."""
    sysctls = [Sysctl(one[1], _bare(one[2]), rule.ids) for one in _SYSCTL.finditer(script)]
    boots = [
        BootParameter(word, rule.ids)
        for one in _BOOT.finditer(script)
        for word in _bare(one[1]).split()
    ]
    if any("$" in name for name in (*(one.name for one in sysctls), *(one.name for one in boots))):
        return "its script computes the value when it runs"
    try:
        _ = [one.path for one in sysctls], [one.word for one in boots]
    except ValueError as error:
        return str(error)
    found.sysctls += sysctls
    found.boots += boots
    return None if sysctls or boots else "its script sets neither a sysctl nor a boot parameter"


def _mount(script: str, rule: scap.Scripted, gathered: _Gathered) -> str | None:
    """Import a mount option."""
    path, option = _MOUNT.search(script), _OPTION.search(script)
    if path is None or option is None:
        return "it is about mounts that the guest doesn't have"
    if option[1] not in _OPTIONS:
        return f"{option[1]} is not a mount option that restricts files"
    if path[1] not in _APPLIES:
        return f"nothing that is used here is in {path[1]}"
    gathered.mounts.setdefault(path[1], {})[option[1]] = rule.ids
    return None


def _auditd(script: str, rule: scap.Scripted, gathered: _Gathered) -> str | None:
    """Import a line of auditd.conf."""
    line = next(filter(None, (pattern.search(script) for pattern in _AUDITD)), None)
    if line is None:
        return "its script writes nothing to auditd.conf that can be read"
    if "$" in line["value"]:
        return "its script computes the value when it runs"
    if line["value"].lower() in ENDS_THE_GUEST:
        return f"{line['key']} = {line['value']} would end the guest"
    gathered.auditd[line["key"]] = (line["value"], rule.ids)
    return None


def _mounts(gathered: _Gathered) -> Iterator[MountOptions]:
    for path in _APPLIES:
        if options := gathered.mounts.get(path):
            yield MountOptions(path, tuple(sorted(options)), _joined(options.values()))


def _daemon(gathered: _Gathered, found: Settings) -> Iterator[Auditd]:
    """Yield auditd with its configuration lines, if the profile requires it to run."""
    if gathered.daemon is None:
        if gathered.auditd:
            found.notes.append("auditd.conf is left out: nothing requires auditd to run")
        return
    lines = {key: value for key, (value, _) in gathered.auditd.items()}
    ids = _joined([gathered.daemon, *(ids for _, ids in gathered.auditd.values())])
    freq = lines.pop("freq", str(Auditd.freq))
    yield Auditd(freq=int(freq), settings=tuple(sorted(lines.items())), ids=ids)


def _filled(script: str) -> str:
    """Return a script with the variables that it sets itself filled in."""
    values = dict(_ASSIGNED.findall(script))
    return re.sub(r"\$(\w+)|\$\{(\w+)\}", lambda one: values.get(one[1] or one[2], one[0]), script)


def _bare(text: str) -> str:
    return text.strip('"')


def _joined(ids: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for some in ids for one in some))
