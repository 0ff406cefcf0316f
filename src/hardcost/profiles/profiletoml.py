"""A profile of any controls as the tables of a TOML file, which `catalogue.load` reads back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardcost.controls import watchedpaths
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
    Rsyslog,
    Scanner,
    Sysctl,
)
from hardcost.controls.unitstate import Service
from hardcost.errors import InputError
from hardcost.profiles.kernelname import is_bare, is_elsewhere

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.controls.control import Control, Profile

_Table = dict[str, Any]


def tables(profile: Profile) -> _Table:
    """Return the keys of a profile's file, with their values.

    Raises:
        InputError: A kind of control has no key.
    """
    head: _Table = {"title": profile.title, "source": profile.source}
    if profile.notes:
        head["notes"] = list(profile.notes)
    found = head | _lists(profile.controls) | _kernel(profile.controls)
    for part in (_audit, _settings, _system, _ids):
        found |= part(profile.controls)
    known = AuditDaemon | AuditRule | Sysctl | BootParameter | Kernel | KernelOption
    system = Lsm | MountOptions | Auditd | AuditPlugin | Rsyslog | Fapolicyd | Scanner | Service
    for control in profile.controls:
        if not isinstance(control, known | system):
            raise InputError(f"'{control.name}' can't be written into a profile")
    return found


def _lists(controls: Sequence[Control]) -> _Table:
    """Return the keys whose values are lists or words; in TOML they precede all tables."""
    boots = [one.text for one in controls if isinstance(one, BootParameter)]
    options = [one.name for one in controls if isinstance(one, KernelOption)]
    modes = [one.mode for one in controls if isinstance(one, Lsm)]
    return {
        **({"boot": boots} if boots else {}),
        **({"lsm": modes[-1]} if modes else {}),
        **({"kconfig": options} if options else {}),
    }


def _kernel(controls: Sequence[Control]) -> _Table:
    found: _Table = {}
    for one in controls:
        if isinstance(one, Kernel):
            found["kernel"] = anywhere(one.base)
            if one.patches:
                found["kernel-patches"] = [anywhere(patch) for patch in one.patches]
            if one.tolerant:
                found["kconfig-tolerant"] = True
    return found


def anywhere(name: str) -> str:
    """Return a name that comes with hardcost, or a path that is right in any folder."""
    return name if is_bare(name) or is_elsewhere(name) else str(Path(name).absolute())


def _audit(controls: Sequence[Control]) -> _Table:
    daemons = [one for one in controls if isinstance(one, AuditDaemon)]
    rules = [one.rule.text for one in controls if isinstance(one, AuditRule)]
    if not daemons and not rules:
        return {}
    daemon = daemons[0] if daemons else AuditDaemon()
    lines = [*["-i"] * daemon.tolerant, *daemon.options, *rules]
    exist = watchedpaths.as_written(daemon.directories, daemon.files)
    return {
        "audit": {
            "backlog_limit": daemon.backlog_limit,
            **({"exist": exist} if exist else {}),
            **({"rules": lines} if lines else {}),
        }
    }


def _settings(controls: Sequence[Control]) -> _Table:
    settings = {one.key: one.value for one in controls if isinstance(one, Sysctl)}
    mounts = {one.path: list(one.options) for one in controls if isinstance(one, MountOptions)}
    return {
        **({"sysctl": settings} if settings else {}),
        **({"mount": mounts} if mounts else {}),
    }


def _system(controls: Sequence[Control]) -> _Table:
    """Return the tables of services."""
    found: _Table = {}
    plugins = [one.plugin for one in controls if isinstance(one, AuditPlugin)]
    for one in controls:
        if isinstance(one, Auditd):
            found["auditd"] = {"flush": one.flush, "freq": one.freq, "plugins": plugins}
            if one.settings:
                found["auditd"]["settings"] = dict(one.settings)
        elif isinstance(one, Service):
            found.setdefault("service", {}).update(service(one)["service"])
        else:
            found |= service(one)
    return found


def service(control: Control) -> _Table:
    """Return the table of a service that has one of its own; nothing for any other control."""
    match control:
        case Rsyslog(forward, rate_limit, burst, interval):
            limit = {"rate-limit": rate_limit, "burst": burst, "interval": interval}
            return {"rsyslog": {"forward": forward, **limit}}
        case Fapolicyd(rules, integrity):
            return {"fapolicyd": {"rules": rules, "integrity": integrity}}
        case Scanner(paths, prevention, signatures):
            own = {"paths": list(paths), "prevention": prevention, "signatures": signatures}
            return {"scanner": own}
        case Service(unit, running, files):
            named = {"files": dict(files)} if files else {}
            return {"service": {unit: {"running": running, **named}}}
    return {}


def _ids(controls: Sequence[Control]) -> _Table:
    """Return the names of controls in benchmarks, and their severities there."""
    named = {one.name: list(one.ids) for one in controls if one.ids}
    severity = {one.name: one.severity for one in controls if one.severity}
    return {
        **({"ids": named} if named else {}),
        **({"severity": severity} if severity else {}),
    }
