"""The controls of a profile by kind, so that those of several tables can be merged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hardcost.auditrules import parse
from hardcost.auditrules.rule import RuleSet
from hardcost.controls import watchedpaths
from hardcost.controls.control import (
    Auditd,
    AuditDaemon,
    AuditRule,
    BootParameter,
    Kernel,
    KernelOption,
    Sysctl,
    SystemControl,
)
from hardcost.profiles.importers.scap import Origin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.auditrules.rule import Place as RulePlace
    from hardcost.controls.accounted import Accounted
    from hardcost.controls.control import Control, Profile

_DEFAULT_BACKLOG_LIMIT = AuditDaemon().backlog_limit

Asked = tuple[tuple[tuple["RulePlace", str], Origin], ...]
"""The origins of audit rules, by the location and text of the rule."""

_NO_ORIGIN = Origin((), "")


@dataclass(frozen=True)
class Controls:
    """Controls by kind, so that those of several tables can be merged.

    `kernel` is None if no table names one, even with `kernel_options` or `kernel_patches`: a
    default here would override what another table names. `tolerant` says that some of the options
    come from the catalogue, and on each base some of them lack a dependency. `system` are those
    that need a whole Debian system, one for each slot. `asked` are the origins of audit rules.
    `accounting` has each rule of a benchmark's profile. `exist` are paths that the guest has beside
    those that audit rules watch; a directory's ends in a slash.
    """

    audit: RuleSet | None = None
    sysctls: tuple[Sysctl, ...] = ()
    boots: tuple[BootParameter, ...] = ()
    notes: tuple[str, ...] = ()
    kernel: Kernel | None = None
    kernel_options: tuple[KernelOption, ...] = ()
    kernel_patches: tuple[str, ...] = ()
    tolerant: bool = False
    system: tuple[SystemControl, ...] = ()
    asked: Asked = ()
    accounting: tuple[Accounted, ...] = ()
    exist: tuple[str, ...] = ()

    def listed(self) -> tuple[Control, ...]:
        """Return the controls in the order of a profile.

        That is: audit, its rules, sysctls, boot parameters, controls of a whole system, the kernel
        to build, its options.
        """
        built: tuple[Control, ...] = ()
        if self.kernel is not None or self.kernel_options or self.kernel_patches:
            kernel = replace(
                self.kernel or Kernel(), tolerant=self.tolerant, patches=self.kernel_patches
            )
            built = (kernel, *self.kernel_options)
        return (*self._audit(), *self.sysctls, *self.boots, *self.system, *built)

    def _audit(self) -> tuple[Control, ...]:
        """Return audit and its rules; its daemon alone switches it on too."""
        if self.audit is None:
            daemon_alone = any(isinstance(one, Auditd) for one in self.system)
            return (AuditDaemon(),) if daemon_alone else ()
        limit = self.audit.backlog_limit
        daemon = AuditDaemon(
            backlog_limit=_DEFAULT_BACKLOG_LIMIT if limit is None else limit,
            options=self.audit.options,
            tolerant=self.audit.tolerant,
            directories=tuple(path.rstrip("/") for path in self.exist if path.endswith("/")),
            files=tuple(path for path in self.exist if not path.endswith("/")),
        )
        asked = dict(self.asked)
        origins = (
            asked.get((rule.place, rule.text), _NO_ORIGIN) if rule.place else _NO_ORIGIN
            for rule in self.audit.rules
        )
        return (
            daemon,
            *(
                AuditRule(rule, origin.ids, origin.severity)
                for rule, origin in zip(self.audit.rules, origins, strict=True)
            ),
        )


def together(parts: Sequence[Controls]) -> Controls:
    """Return the controls of several tables.

    Rules and patches add up; for a sysctl, a kernel option, the kernel itself and each slot of a
    system, the last one wins.
    """
    sets = [part.audit for part in parts if part.audit is not None]
    sysctls = {sysctl.path: sysctl for part in parts for sysctl in part.sysctls}
    boots = (boot for part in parts for boot in part.boots)
    kernels = [part.kernel for part in parts if part.kernel is not None]
    options = {option.option: option for part in parts for option in part.kernel_options}
    system = {one.slot: one for part in parts for one in part.system}
    return Controls(
        audit=parse.join(sets) if sets else None,
        sysctls=tuple(sysctls.values()),
        boots=tuple(dict.fromkeys(boots)),
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        kernel=kernels[-1] if kernels else None,
        kernel_options=tuple(options.values()),
        kernel_patches=tuple(dict.fromkeys(one for part in parts for one in part.kernel_patches)),
        tolerant=any(part.tolerant for part in parts),
        system=tuple(system.values()),
        asked=tuple(dict.fromkeys(one for part in parts for one in part.asked)),
        accounting=tuple(one for part in parts for one in part.accounting),
        exist=tuple(dict.fromkeys(path for part in parts for path in part.exist)),
    )


def of_profile(profile: Profile) -> Controls:
    """Return a profile's controls by kind."""
    daemons = [control for control in profile.controls if isinstance(control, AuditDaemon)]
    rules = tuple(one.rule for one in profile.controls if isinstance(one, AuditRule))
    audit = None
    daemon = daemons[0] if daemons else AuditDaemon()
    if daemons or rules:
        audit = RuleSet(rules, daemon.backlog_limit, daemon.options, daemon.tolerant)
    kernel = next((one for one in profile.controls if isinstance(one, Kernel)), None)
    options = tuple(one for one in profile.controls if isinstance(one, KernelOption))
    tolerant = kernel is not None and kernel.tolerant
    patches = kernel.patches if kernel is not None else ()
    if (options or patches) and kernel is not None and kernel.base == Kernel().base:
        kernel = None  # what `listed` adds; so these can go on another table's kernel
    return Controls(
        audit=audit,
        sysctls=tuple(one for one in profile.controls if isinstance(one, Sysctl)),
        boots=tuple(one for one in profile.controls if isinstance(one, BootParameter)),
        notes=profile.notes,
        kernel=kernel if kernel is None else replace(kernel, patches=()),
        kernel_options=options,
        kernel_patches=patches,
        tolerant=tolerant,
        system=tuple(one for one in profile.controls if isinstance(one, SystemControl)),
        asked=tuple(
            ((one.rule.place, one.rule.text), Origin(one.ids, one.severity))
            for one in profile.controls
            if isinstance(one, AuditRule) and one.rule.place and one.ids
        ),
        accounting=profile.accounting,
        exist=watchedpaths.as_written(daemon.directories, daemon.files),
    )
