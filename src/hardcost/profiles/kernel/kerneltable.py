"""Kernel configurations side by side: their audit, integrity, LSM and hardening options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hardcost.machines.kernels.config import NOT_SET
from hardcost.profiles.kernel import kerneloptions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

UNSET = "unset"
"""The value of an option that a configuration lists as not set."""

ABSENT = "absent"
"""The value of an unlisted option: that kernel has none, or a dependency is unset."""

_AUDIT = (
    *("AUDIT", "AUDITSYSCALL", "AUDIT_WATCH", "AUDIT_TREE", "AUDIT_ARCH", "AUDIT_GENERIC"),
    *("HAVE_ARCH_AUDITSYSCALL", "AUDIT_COMPAT_GENERIC", "NETFILTER_XT_TARGET_AUDIT"),
    *("INTEGRITY_AUDIT", "IMA_AUDIT", "KVM_MMU_AUDIT", "FSNOTIFY", "FANOTIFY"),
    "FANOTIFY_ACCESS_PERMISSIONS",
)
_INTEGRITY = (
    *("INTEGRITY", "INTEGRITY_SIGNATURE", "INTEGRITY_ASYMMETRIC_KEYS"),
    *("INTEGRITY_TRUSTED_KEYRING", "IMA", "IMA_MEASURE_PCR_IDX", "IMA_LSM_RULES"),
    *("IMA_DEFAULT_HASH", "IMA_READ_POLICY", "IMA_WRITE_POLICY", "IMA_ARCH_POLICY"),
    *("IMA_APPRAISE", "IMA_APPRAISE_BOOTPARAM", "EVM"),
)
_MODULES = (
    *("SECURITY", "SECURITYFS", "SECURITY_NETWORK", "SECURITY_PATH", "SECURITY_SELINUX"),
    *("SECURITY_SELINUX_BOOTPARAM", "SECURITY_SELINUX_DISABLE", "SECURITY_SELINUX_DEVELOP"),
    *("SECURITY_SELINUX_AVC_STATS", "SECURITY_APPARMOR", "SECURITY_SMACK", "SECURITY_TOMOYO"),
    *("SECURITY_YAMA", "SECURITY_LOADPIN", "SECURITY_SAFESETID", "SECURITY_LOCKDOWN_LSM"),
    *("SECURITY_LOCKDOWN_LSM_EARLY", "SECURITY_LANDLOCK", "BPF_LSM", "DEFAULT_SECURITY", "LSM"),
)
_PART_OF_CALLS = "Linux 6.1 has no such option: it is part of AUDITSYSCALL"
_NOTES = {
    "AUDIT_WATCH": _PART_OF_CALLS,
    "AUDIT_TREE": _PART_OF_CALLS,
    "IMA_AUDIT": "Linux 6.1 has no such option",
    "KVM_MMU_AUDIT": "Linux 6.1 has no such option: the feature is gone",
}
_PREFIXES = {"IMA": "integrity", "EVM": "integrity", "INTEGRITY": "integrity", "AUDIT": "audit"}


@dataclass(frozen=True)
class Column:
    """One configuration: its name, and its options' values by name without `CONFIG_`.

    A `published` one lists only some options; the others are unknown.
    """

    name: str
    values: Mapping[str, str]
    published: bool = False

    def value(self, option: str) -> str | None:
        """Return y, m, another value, `UNSET` or `ABSENT`; None if unknown."""
        if option not in self.values:
            return None if self.published else ABSENT
        found = self.values[option]
        return UNSET if found == NOT_SET else found


@dataclass(frozen=True)
class Row:
    """An option of a group, its value in each column, and what the catalogue recommends, if any.

    It `differs` if two known values do, `UNSET` and `ABSENT` counting as one. `note` says what
    became of it in newer kernels.
    """

    group: str
    option: str
    values: tuple[str | None, ...]
    recommended: str | None
    differs: bool
    note: str


def rows(columns: Sequence[Column]) -> tuple[Row, ...]:
    """Return the options of every group, and all others that a published column lists."""
    named = {
        **dict.fromkeys(_AUDIT, "audit"),
        **dict.fromkeys(_INTEGRITY, "integrity"),
        **dict.fromkeys(_MODULES, "security modules"),
    }
    for option in (name for column in columns if column.published for name in column.values):
        named.setdefault(option, _PREFIXES.get(option.partition("_")[0], "security modules"))
    entries = {
        entry.option.option: entry.option.value
        for entry in reversed(kerneloptions.entries())
        if entry.status != "gone"
    }
    for option in sorted(entries):
        named.setdefault(option, "hardening")
    order = {group: place for place, group in enumerate(dict.fromkeys(named.values()))}
    return tuple(
        _row(group, option, columns, entries.get(option))
        for option, group in sorted(named.items(), key=lambda item: order[item[1]])
    )


def _row(group: str, option: str, columns: Iterable[Column], wanted: str | None) -> Row:
    values = tuple(column.value(option) for column in columns)
    known = {UNSET if value == ABSENT else value for value in values if value is not None}
    recommended = UNSET if wanted == NOT_SET else wanted
    note = _NOTES.get(option, "") if ABSENT in values else ""
    return Row(group, option, values, recommended, len(known) > 1, note)
