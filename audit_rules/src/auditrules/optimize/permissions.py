"""Rules narrowed to permissions, written so that each kernel puts in its own calls.

A rule for all calls that tests `perm` is narrowed to the calls of these permissions. Later kernels
assign more calls to them (fchmodat2, for example), which a list of names would miss. The top bits
of a mask represent the kernel's own classes of calls, which it expands when it loads the rule
(AF:284); auditctl accepts their numbers like those of calls.
"""

from __future__ import annotations

from collections.abc import Sequence

from auditrules.auditctl.field_rules import CLASS_BIT, CLASSES, expand_classes
from auditrules.kernel.field_tests import arches_of
from auditrules.model.kernel_rule import (
    ALL_CALLS,
    ATTRIBUTES,
    READ,
    WRITE,
    KernelRule,
    Operator,
    mask_of,
)

_BITS = {"read": READ, "write": WRITE, "attributes": ATTRIBUTES}

NUMBERS = {
    (arch, name): CLASS_BIT - index for index, (arch, name) in enumerate(CLASSES) if name in _BITS
}
"""The numbers by which a rule names the kernel's classes of calls."""


def class_numbers(rule: KernelRule, origins: Sequence[KernelRule], *, b32: bool) -> tuple[int, ...]:
    """Return the classes that a narrowed rule names, by their numbers; none where it may not.

    `origins` are the rules that it replaces: if one of them is for all calls, the rule is for every
    call that a kernel assigns to its permissions.
    """
    own = [number for number in map(_permissions, [rule]) if number is not None]
    of_all = [_permissions(one) for one in origins if one.mask == ALL_CALLS]
    wanted = 0
    for number in own or of_all:
        if number is None or not of_all:
            return ()
        wanted |= number
    arches = arches_of(rule)
    found = tuple(
        number
        for (arch, name), number in NUMBERS.items()
        if _BITS[name] & wanted and (b32 or arch == "b64") and arch in arches
    )
    mask = expand_classes(mask_of(found))
    return found if of_all and not mask & ~rule.mask and rule.mask != ALL_CALLS else ()


def _permissions(rule: KernelRule) -> int | None:
    """Return the permissions that a rule's test of `perm` asks for."""
    for test in rule.tests("perm"):
        if test.operator is Operator.EQUAL:
            return int(test.value)
    return None
