"""What a profile's controls are in an Ansible role: groups of tasks, with their values and files.

Audit rules, sysctls and GRUB's words are files, which Ansible copies as they are. Other text of a
profile is a value that is `Outside`: Ansible must not evaluate it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from hardcost.controls.control import (
    Auditd,
    AuditDaemon,
    AuditPlugin,
    AuditRule,
    BootParameter,
    Fapolicyd,
    Kernel,
    KernelOption,
    Lsm,
    MountOptions,
    Placebo,
    Rsyslog,
    Scanner,
    Sysctl,
)
from hardcost.controls.unitstate import Service
from hardcost.profiles import exporters

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hardcost.controls.control import Control, Profile

_PATH = re.compile(r"/[^\s#\\]*")  # as fstab writes it without escapes
_OPTION = re.compile(r"[\w=.:/%+-]+", re.ASCII)
_NEVER: Mapping[type[Control], str] = {
    Kernel: "a kernel is built with it, which a role does not do",
    KernelOption: "a kernel is built with it, which a role does not do",
    Placebo: "it changes nothing",
    Scanner: "the scanner and its signatures are your choice",
    Service: "which services run, and with which files, is your site's",
}


@dataclass(frozen=True)
class Outside:
    """Texts from outside, which Ansible must not evaluate: a list, or by name.

    They are tagged together. Ansible would make a number of a text such as "2" that is tagged
    itself, whether quoted or not.
    """

    texts: Mapping[str, str] | Sequence[str]


@dataclass(frozen=True)
class Group:
    """A file of tasks: what it sets, for how many controls, with which values and files.

    Values are named without the role's name in front; ROLE stands for it in the names of files.
    """

    name: str
    about: str
    controls: int
    values: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Sorted:
    """A profile's groups, and the controls that a role can't set, with why."""

    groups: tuple[Group, ...]
    left: tuple[tuple[str, str], ...]


_Found = tuple[Group, tuple[tuple[str, str], ...]]


def groups(profile: Profile) -> Sorted:
    """Return the groups of tasks that a role of the profile has, in the order of the tasks."""
    made = [make(profile) for make in _MAKERS]
    left = [one for _, lacking in made for one in lacking]
    left += [(one.name, _NEVER[type(one)]) for one in profile.controls if type(one) in _NEVER]
    return Sorted(tuple(group for group, _ in made if group.controls), tuple(left))


def _part(profile: Profile, *kinds: type[Control]) -> Profile:
    """Return the profile with the controls of some kinds."""
    kept = tuple(one for one in profile.controls if isinstance(one, kinds))
    return replace(profile, controls=kept)


def _audit(profile: Profile) -> _Found:
    made = exporters.augenrules(_part(profile, AuditRule, AuditDaemon))
    return Group("audit", "audit rules", made.controls, {}, made.files("ROLE")), made.left


def _auditd(profile: Profile) -> _Found:
    """Return the daemon's group: the lines of auditd.conf that its control sets, and plug-ins."""
    settings: dict[str, str] = {}
    plugins: list[str] = []
    left: list[tuple[str, str]] = []
    done = 0
    for control in profile.controls:
        if isinstance(control, Auditd):
            lines = {"flush": control.flush.upper(), "freq": str(control.freq)}
            lines |= dict(control.settings)
            if not all(text.isprintable() for pair in lines.items() for text in pair):
                left.append((control.name, "a setting is not one printable line"))
                continue
            settings |= lines
        elif isinstance(control, AuditPlugin):
            plugins.append(control.plugin)
        else:
            continue
        done += 1
    values = {
        "auditd_settings": [
            Outside({"key": key, "value": value}) for key, value in settings.items()
        ],
        "auditd_plugins": Outside(plugins),
    }
    return Group("auditd", "auditd's configuration and plug-ins", done, values), tuple(left)


def _sysctl(profile: Profile) -> _Found:
    made = exporters.sysctl(_part(profile, Sysctl))
    lacking = {name for name, _ in made.left}
    kept = {
        one.key: one.value
        for one in profile.controls
        if isinstance(one, Sysctl) and one.name not in lacking
    }
    pairs = [Outside({"key": key, "value": value}) for key, value in kept.items()]
    files = {"90-ROLE.conf": made.text}
    return Group("sysctl", "sysctls", made.controls, {"sysctls": pairs}, files), made.left


def _boot(profile: Profile) -> _Found:
    made = exporters.cmdline(_part(profile, BootParameter), "grub")
    lacking = {name for name, _ in made.left}
    words = [
        one.text
        for one in profile.controls
        if isinstance(one, BootParameter) and one.name not in lacking
    ]
    files, values = {"50-ROLE.cfg": made.text}, {"boot_parameters": Outside(words)}
    return Group("boot", "boot parameters", made.controls, values, files), made.left


def _mount(profile: Profile) -> _Found:
    options: list[Outside] = []
    left: list[tuple[str, str]] = []
    done = 0
    for control in profile.controls:
        if not isinstance(control, MountOptions):
            continue
        if not _PATH.fullmatch(control.path) or not control.path.isprintable():
            left.append((control.name, "fstab can't hold its path as it is"))
        elif not all(_OPTION.fullmatch(one) for one in control.options):
            left.append((control.name, "these are not mount options of one word"))
        else:
            done += 1
            options += [Outside({"path": control.path, "option": one}) for one in control.options]
    return Group("mount", "mount options", done, {"mount_options": options}), tuple(left)


def _syslog(profile: Profile) -> _Found:
    left: list[tuple[str, str]] = []
    done = 0
    for control in profile.controls:
        if not isinstance(control, Rsyslog):
            continue
        if control.rate_limit or control.forward:
            left.append((control.name, "the rate limit and the receiver are your site's"))
        else:
            done += 1
    return Group("syslog", "the syslog daemon", done), tuple(left)


def _fapolicyd(profile: Profile) -> _Found:
    left: list[tuple[str, str]] = []
    integrity: list[str] = []
    for control in profile.controls:
        if not isinstance(control, Fapolicyd):
            continue
        if control.rules == Fapolicyd.rules:
            integrity.append(control.integrity)
        else:
            left.append((control.name, "a role that swaps its rules can lock a machine out"))
    values = {"fapolicyd_integrity": integrity[-1]} if integrity else {}
    return Group("fapolicyd", "application control", len(integrity), values), tuple(left)


def _selinux(profile: Profile) -> _Found:
    modes = [
        one.mode
        for one in profile.controls
        if isinstance(one, Lsm) and one.mode in {"permissive", "enforcing"}
    ]
    values = {"selinux_mode": modes[-1]} if modes else {}
    return Group("selinux", "SELinux's mode", len(modes), values), ()


def _apparmor(profile: Profile) -> _Found:
    """Return AppArmor's group; that there is no security module is nothing to set."""
    modes = [one for one in profile.controls if isinstance(one, Lsm)]
    found = [one for one in modes if one.mode == "apparmor"]
    left = tuple((one.name, "it is the lack of one") for one in modes if one.mode == "none")
    return Group("apparmor", "AppArmor", len(found)), left


_MAKERS: tuple[Callable[[Profile], _Found], ...] = (
    _audit,
    _auditd,
    _sysctl,
    _boot,
    _mount,
    _syslog,
    _fapolicyd,
    _selinux,
    _apparmor,
)
"""In the order of the tasks: what can refuse a machine comes last."""
