"""Security modules: SELinux or AppArmor, lockdown, and IMA's policy."""

from __future__ import annotations

import re

from auditrules.model.location import Location
from hardcost.in_force.boot import command_line
from hardcost.in_force.files import MachineFiles
from hardcost.in_force.found import InForce, Survey, lines_of
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.lsm import Lsm, LsmMode

_MODULES = "/sys/kernel/security/lsm"
_ENFORCE = "/sys/fs/selinux/enforce"
_PROFILES = "/sys/kernel/security/apparmor/profiles"
_LOCKDOWN = "/sys/kernel/security/lockdown"
_IMA = "/sys/kernel/security/ima/policy"
_CONFIG = "/etc/selinux/config"
_SELINUX = re.compile(r"SELINUX=(enforcing|permissive|disabled)\b", re.IGNORECASE)
_MODES: dict[str, LsmMode | None] = {
    "enforcing": "enforcing",
    "permissive": "permissive",
    "disabled": None,
}
_CHOSEN = re.compile(r"\[(integrity|confidentiality)\]")
_KIND = "security module"


def read(files: MachineFiles) -> Survey:
    """Return the security modules in force."""
    if not files.live:
        return Survey(tuple(_of_files(files)))
    found: list[InForce] = []
    unseen: list[str] = []
    notes: list[str] = []
    blind: tuple[type[Lsm], ...] = ()
    modules = (files.text(_MODULES) or "").strip().split(",")
    if modules == [""]:
        unseen.append("the security modules: /sys/kernel/security is not mounted")
        blind = (Lsm,)
    if "selinux" in modules:
        _, place = _configured(files)
        mode: LsmMode = "enforcing" if files.text(_ENFORCE) == "1" else "permissive"
        found.append(InForce(_KIND, f"SELinux, {mode}", Lsm(mode), place))
    if "apparmor" in modules:
        profiles = files.text(_PROFILES)
        if profiles is None:
            unseen.append("AppArmor's profiles: only root may read them")
        else:
            notes.append(f"AppArmor has {len(profiles.splitlines())} profiles loaded")
        by_default = not any(word.startswith(("lsm=", "security=")) for word in command_line(files))
        found.append(InForce(_KIND, "AppArmor", Lsm("apparmor"), by_default=by_default))
    locked = _CHOSEN.search(files.text(_LOCKDOWN) or "")
    if locked is not None:
        word = BootParameter(f"lockdown={locked[1]}")
        if word.text not in command_line(files):  # else it is among the boot parameters
            found.append(InForce(_KIND, f"lockdown, {locked[1]}", word))
    policy = files.text(_IMA)
    if policy:
        found.append(InForce(_KIND, f"IMA's policy of {len(policy.splitlines())} lines"))
    elif policy is None and _IMA in files.denied:
        unseen.append("IMA's policy: only root may read it")
    return Survey(tuple(found), tuple(unseen), tuple(notes), blind)


def _of_files(files: MachineFiles) -> list[InForce]:
    """Return the module that a root's files would start."""
    mode, place = _configured(files)
    if mode is None or {"selinux=0", "security=apparmor"} & set(command_line(files)):
        return []
    return [InForce(_KIND, f"SELinux, {mode}", Lsm(mode), place)]


def _configured(files: MachineFiles) -> tuple[LsmMode | None, Location | None]:
    """Return SELinux's configured mode and its line, the first as libselinux has it."""
    for line, place in lines_of(files, _CONFIG):
        found = _SELINUX.match(line)
        if found is not None:
            return _MODES[found[1].lower()], place
    return None, None
