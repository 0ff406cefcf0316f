"""The mechanisms: a line for each kind of control. Whoever adds a kind adds its line here."""

from __future__ import annotations

from typing import Any

from hardcost.kind_files import import_kinds
from hardcost.mechanisms.mechanism import Mechanism

_FILES = (
    "audit",
    "sysctl",
    "boot",
    "lsm",
    "mount",
    "auditd",
    "rsyslog",
    "fapolicyd",
    "scanner",
    "service",
    "kconfig",
    "placebo",
)

ALL: tuple[Mechanism[Any], ...] = import_kinds(__package__, _FILES, Mechanism)
"""In the order in which a profile lists their controls, and TOML their keys."""


class MechanismKeys(*(one.keys for one in reversed(ALL))):  # type: ignore[misc]  # from the list
    """The keys of all mechanisms."""
