"""Calls that send signals: while a rule names one, the kernel records the receivers.

Read in Linux 6.1.192: `audit_match_signal` (auditfilter.c:211), `audit_signals` (1015 there)
and `audit_signal_info_syscall` (auditsc.c:2745).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from auditrules.model.kernel_rule import KernelRule, Operator, mask_of
from auditrules.tables import lookup


def notes_signals(rules: Iterable[KernelRule]) -> bool:
    """Say whether the kernel notes the receivers of signals.

    Rules of every list count, also of those that do not make the kernel look at calls.
    """
    return any(signal_calls(rule) for rule in rules)


def sends_a_signal(arch: lookup.Arch, call: int) -> bool:
    """Say whether a call is one of those that send signals."""
    return call in lookup.class_calls(arch, "signal")


def signal_calls(rule: KernelRule) -> int:
    """Return a mask of the calls that send signals and that a rule names."""
    arches = rule.tests("arch")
    mask = 0
    for arch in lookup.ARCHES:
        number = lookup.ARCH_NUMBERS[arch]
        if all((test.value == number) is (test.operator is Operator.EQUAL) for test in arches):
            mask |= signal_mask(arch)
    return mask & rule.mask


@cache
def signal_mask(arch: lookup.Arch) -> int:
    """Return a mask of an ABI's calls that send signals."""
    return mask_of(lookup.class_calls(arch, "signal"))
