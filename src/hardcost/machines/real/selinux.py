"""SELinux's mode on a machine that runs SELinux: switched as `setenforce` does, without a reboot.

A control words the security module as boot parameters. Those that name the module which a machine
runs say nothing new to it, and its mode is a setting of the running kernel. Which minor modules
there are stays the machine's own choice.
"""

from __future__ import annotations

from collections.abc import Sequence

from hardcost.machines.real.facts import HostFacts
from hardcost.protocol.requests import Write

ENFORCE = "/sys/fs/selinux/enforce"
"""The mode: 1 enforcing, 0 permissive."""

_MODES = {"enforcing=0": "0", "enforcing=1": "1"}
_MODULE = "selinux"


def without_boot(parameters: Sequence[str], facts: HostFacts) -> tuple[str | None, tuple[str, ...]]:
    """Return the mode that parameters ask for, if it takes no boot, and those that take one."""
    if _MODULE not in facts.modules:
        return None, tuple(parameters)
    rest = tuple(one for one in parameters if one not in _MODES and not _is_known(one))
    modes = [_MODES[one] for one in parameters if one in _MODES]
    return (modes[-1] if modes else None), rest


def change(mode: str | None, facts: HostFacts) -> tuple[Write, ...]:
    """Return the keeper's change for a mode; nothing where it is the machine's own."""
    return () if mode in {None, facts.enforce} else (Write(path=ENFORCE, value=mode),)


def _is_known(parameter: str) -> bool:
    """Say whether a parameter asks for SELinux, which the machine runs."""
    name, _, value = parameter.partition("=")
    return parameter == "selinux=1" or (name == "lsm" and _MODULE in value.split(","))
