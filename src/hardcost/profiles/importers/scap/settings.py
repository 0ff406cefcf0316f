"""The settings that a profile of a SCAP datastream requires, as far as they apply to the guest.

Repair scripts are read as text, like those of audit rules: the arguments of `sysctl -w` and
`grubby --args=`, the lines written to auditd.conf and to fstab, SELinux's state. Nothing is run. A
rule that wants a daemon to run has a control of its own in `_SERVICES`. Rules about other things
(packages, files' owners, accounts, desktops) are counted and skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypedDict

from hardcost.controls.control import Control
from hardcost.mechanisms.auditd import ENDS_THE_GUEST, Auditd, AuditPlugin
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.fapolicyd import Fapolicyd
from hardcost.mechanisms.lsm import Lsm
from hardcost.mechanisms.mount import MountOptions
from hardcost.mechanisms.rsyslog import Rsyslog
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.profiles.importers.scap.datastream import BenchmarkRule, Selected, selection_of
from hardcost.profiles.importers.scap.fix_scripts import mentions_rules
from hardcost.profiles.importers.scap.rules import gravest

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
# The line of /etc/fstab that is looked for; SCAP Security Guide 0.1.76 leaves out comments there.
_MOUNT = re.compile(
    r"printf \"(?:\^\[\[:space:\]\]\*\[\^#\]\.\*)?\[\[:space:\]\]%s\[\[:space:\]\]\""
    r" \"?(/[\w/]+)\"?\)"
)
_OPTION = re.compile(r"defaults,\$\{previous_mount_opts\}(\w+) 0 0")
_SELINUX = re.compile(r"\"SELINUX=(\w+)\" >>")

_APPLIES = ("/tmp", "/dev/shm", "/home", "/var", "/var/log", "/var/log/audit", "/var/tmp")  # noqa: S108
"""Directories of the guest whose mounts get options; others hold nothing that is used."""

_OPTIONS = frozenset({"nodev", "noexec", "nosuid"})
_PREFIXES = ("sysctl_", "grub2_", "auditd_", "mount_option_", "selinux_state")
_DAEMON = "service_auditd_enabled"
_POLICY = "selinux_policytype"
_SYSLOG, _FORWARDS = "service_rsyslog_enabled", "rsyslog_remote_loghost"
_PLUGIN = "auditd_audispd_syslog_plugin_activated"
_APPLICATION_CONTROL = "service_fapolicyd_enabled"
_SERVICES = (_DAEMON, _SYSLOG, _FORWARDS, _PLUGIN, _APPLICATION_CONTROL, _POLICY)
"""Rules that are carried out by what the guest has, whatever their scripts do."""


class _Names(TypedDict):
    ids: tuple[str, ...]
    severity: str


@dataclass
class RequiredSettings:
    """The settings of the scripts.

    `notes` say what was left out, and why; `left_out` says that by rule.
    """

    sysctls: list[Sysctl] = field(default_factory=list)
    boots: list[BootParameter] = field(default_factory=list)
    system: list[Control] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)


@dataclass
class _Gathered:
    """Settings made of several rules: mount options, lines of auditd.conf, services, SELinux."""

    mounts: dict[str, dict[str, list[BenchmarkRule]]] = field(default_factory=dict)
    auditd: dict[str, tuple[str, BenchmarkRule]] = field(default_factory=dict)
    services: dict[str, BenchmarkRule] = field(default_factory=dict)
    states: list[tuple[Literal["permissive", "enforcing"], BenchmarkRule]] = field(
        default_factory=list
    )


def settings_of(path: Path, wanted: str) -> RequiredSettings:
    """Return the settings that the profile `wanted` of a datastream requires.

    Raises:
        InputError: The file is not a datastream, can't be read, or has no such profile.
    """
    return settings_of_selected(selection_of(path, wanted))


def settings_of_selected(profile: Selected) -> RequiredSettings:
    """Return the settings among what a profile selects."""
    found, gathered = RequiredSettings(), _Gathered()
    others = 0
    for rule in profile.rules:
        if rule.elsewhere:
            continue
        if rule.name in _SERVICES:
            gathered.services[rule.name] = rule
        elif not rule.name.startswith(_PREFIXES):
            others += not any(map(mentions_rules, rule.scripts))
        elif why := _take(rule, found, gathered):
            found.left_out[rule.name] = why
    _merge_repeated(found)
    _add_mounts(gathered, found)
    _add_selinux(gathered, found)
    _add_auditd(gathered, found)
    _add_services(gathered, found)
    _note(found, others)
    return found


def _note(found: RequiredSettings, others: int) -> None:
    """Say what was left out, and why."""
    without: dict[str, list[str]] = {}
    for name, why in found.left_out.items():
        without.setdefault(why, []).append(name)
    found.notes += [f"{', '.join(names)} left out: {why}" for why, names in without.items()]
    if others:
        found.notes.append(
            f"{others} of its rules are about other things than audit, sysctls, boot parameters, "
            "auditd.conf, mount options, services and SELinux's state, and are skipped"
        )


def _take(rule: BenchmarkRule, found: RequiredSettings, gathered: _Gathered) -> str | None:
    """Import the settings that a rule requires; return why not."""
    if not rule.scripts:
        return "it has no script with its settings"
    script = _fill_variables(rule.scripts[0])
    if state := _SELINUX.search(script):
        mode = state[1]
        if mode not in {"enforcing", "permissive"}:
            return f"SELinux has no state {mode} here"
        gathered.states.append(("enforcing" if mode == "enforcing" else "permissive", rule))
        return None
    if rule.name.startswith("mount_option_"):
        return _mount(script, rule, gathered)
    if rule.name.startswith("auditd_"):
        return _auditd(script, rule, gathered)
    return _kernel(script, rule, found)


def _kernel(script: str, rule: BenchmarkRule, found: RequiredSettings) -> str | None:
    """Import sysctls and boot parameters."""
    named = _origin([rule])
    sysctls = [Sysctl(one[1], _bare(one[2]), **named) for one in _SYSCTL.finditer(script)]
    boots = [
        BootParameter(word, **named)
        for one in _BOOT.finditer(script)
        for word in _bare(one[1]).split()
    ]
    if any("$" in name for name in (*(one.name for one in sysctls), *(one.name for one in boots))):
        return "its script computes the value when it runs"
    try:
        _ = [one.path for one in sysctls], [one.word for one in boots]
    except ValueError as error:
        return str(error)
    if not sysctls and not boots:
        return "its script sets neither a sysctl nor a boot parameter"
    found.sysctls += sysctls
    found.boots += boots
    return None


def _mount(script: str, rule: BenchmarkRule, gathered: _Gathered) -> str | None:
    """Import a mount option."""
    path, option = _MOUNT.search(script), _OPTION.search(script)
    if path is None or option is None:
        return "it is about mounts that the guest doesn't have"
    if option[1] not in _OPTIONS:
        return f"{option[1]} is not a mount option that restricts files"
    if path[1] not in _APPLIES:
        return f"nothing that is used here is in {path[1]}"
    gathered.mounts.setdefault(path[1], {}).setdefault(option[1], []).append(rule)
    return None


def _auditd(script: str, rule: BenchmarkRule, gathered: _Gathered) -> str | None:
    """Import a line of auditd.conf."""
    line = next(filter(None, (pattern.search(script) for pattern in _AUDITD)), None)
    if line is None:
        return "its script writes nothing to auditd.conf that can be read"
    if "$" in line["value"]:
        return "its script computes the value when it runs"
    if line["value"].lower() in ENDS_THE_GUEST:
        return f"{line['key']} = {line['value']} would end the guest"
    gathered.auditd[line["key"]] = (line["value"], rule)
    return None


def _merge_repeated(found: RequiredSettings) -> None:
    """Merge what several rules set alike; of different values of a sysctl, the last one counts."""
    sysctls: dict[str, Sysctl] = {}
    for one in found.sysctls:
        # Taken out, to come back at the end: of several, the last script decides.
        before = sysctls.pop(one.path, one)
        if before.value == one.value:
            sysctls[one.path] = replace(one, **_both(before, one))
        else:
            found.left_out |= dict.fromkeys(before.ids[:1], f"another rule sets {one.name}")
            sysctls[one.path] = one
    boots: dict[str, BootParameter] = {}
    for boot in found.boots:
        before_it = boots.get(boot.text, boot)
        boots[boot.text] = replace(before_it, **_both(before_it, boot))
    found.sysctls[:], found.boots[:] = sysctls.values(), boots.values()


def _both(a: Sysctl | BootParameter, b: Sysctl | BootParameter) -> _Names:
    """Return the names and the gravest severity of two controls that are one."""
    return {
        "ids": tuple(dict.fromkeys((*a.ids, *b.ids))),
        "severity": gravest((a.severity, b.severity)),
    }


def _add_mounts(gathered: _Gathered, found: RequiredSettings) -> None:
    """Add the mount options of each directory as one control."""
    for path in _APPLIES:
        if options := gathered.mounts.get(path):
            rules = [rule for of in options.values() for rule in of]
            found.system.append(MountOptions(path, tuple(sorted(options)), **_origin(rules)))


def _add_selinux(gathered: _Gathered, found: RequiredSettings) -> None:
    """Add SELinux's state; the guest's policy stands for the one that is required."""
    policy = gathered.services.get(_POLICY)
    for mode, rule in gathered.states[-1:]:  # the last script that writes the state decides
        rules = [rule, *([policy] if policy else [])]
        found.system.append(Lsm(mode, **_origin(rules)))
    if policy and not gathered.states:
        found.left_out[policy.name] = "nothing requires SELinux's state"


def _add_auditd(gathered: _Gathered, found: RequiredSettings) -> None:
    """Add auditd with its configuration lines, if the profile requires it to run."""
    daemon = gathered.services.get(_DAEMON)
    if daemon is None:
        for _, rule in gathered.auditd.values():
            found.left_out[rule.name] = "nothing requires auditd to run"
        return
    lines = {key: value for key, (value, _) in gathered.auditd.items()}
    rules = [daemon, *(rule for _, rule in gathered.auditd.values())]
    named = _origin(rules)
    freq = lines.pop("freq", str(Auditd.freq))  # a field of its own in the control
    configured = tuple(sorted(lines.items()))
    found.system.append(Auditd(freq=int(freq), settings=configured, **named))
    if plugin := gathered.services.get(_PLUGIN):
        found.system.append(AuditPlugin("syslog", **_origin([plugin])))


def _add_services(gathered: _Gathered, found: RequiredSettings) -> None:
    """Add the other daemons that the profile requires to run."""
    log, forward = gathered.services.get(_SYSLOG), gathered.services.get(_FORWARDS)
    if log is not None:
        named = _origin([log, *([forward] if forward else [])])
        found.system.append(Rsyslog(forward=bool(forward), **named))
    elif forward is not None:
        found.left_out[forward.name] = "nothing requires rsyslog to run"
    if control := gathered.services.get(_APPLICATION_CONTROL):
        found.system.append(Fapolicyd(**_origin([control])))


def _origin(rules: Iterable[BenchmarkRule]) -> _Names:
    """Return the names in benchmarks of a control that rules require, and its gravest severity."""
    known = list(rules)
    names = (one for rule in known for one in (rule.name, *rule.ids))
    return {
        "ids": tuple(dict.fromkeys(names)),
        "severity": gravest(rule.severity for rule in known),
    }


def _fill_variables(script: str) -> str:
    """Return a script with the variables that it sets itself filled in."""
    values = dict(_ASSIGNED.findall(script))
    return re.sub(r"\$(\w+)|\$\{(\w+)\}", lambda one: values.get(one[1] or one[2], one[0]), script)


def _bare(text: str) -> str:
    return text.strip('"')
