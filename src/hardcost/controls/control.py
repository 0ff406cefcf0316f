"""Controls: security settings that can be on or off, as plain values.

How a control is applied is the business of `mechanisms/`, a file for each kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hardcost.auditrules.rule import Rule


@dataclass(frozen=True)
class AuditDaemon:
    """Audit switched on, with a daemon that takes the records.

    `options` are the control lines of a rules file that are loaded before its rules, such as
    `--backlog_wait_time 60000`; `tolerant` says that the file asks auditctl (`-i`, `-c`) to go on
    after a rule that is refused.
    """

    backlog_limit: int = 8192
    options: tuple[str, ...] = ()
    tolerant: bool = False

    @property
    def name(self) -> str:
        """Return the name in reports."""
        return "auditd"


@dataclass(frozen=True)
class AuditRule:
    """One rule of the kernel's audit filter, as auditctl reads it."""

    rule: Rule

    @property
    def name(self) -> str:
        """Return the rule's own text, which is its name in reports."""
        return self.rule.text


@dataclass(frozen=True)
class Sysctl:
    """A kernel setting under /proc/sys; `key` is dotted, as sysctl(8) writes it."""

    key: str
    value: str

    @property
    def name(self) -> str:
        """Return `key=value`."""
        return f"{self.key}={self.value}"


@dataclass(frozen=True)
class BootParameter:
    """A word on the kernel's command line."""

    text: str

    @property
    def name(self) -> str:
        """Return the parameter as it stands on the command line."""
        return self.text


Control = AuditDaemon | AuditRule | Sysctl | BootParameter


@dataclass(frozen=True)
class Profile:
    """A named list of controls, with what a reader has to know of where it comes from."""

    name: str
    title: str
    source: str
    controls: tuple[Control, ...]
    notes: tuple[str, ...] = ()
