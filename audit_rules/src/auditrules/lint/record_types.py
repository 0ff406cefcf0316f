"""Which records a rule of the lists `user` and `exclude` names by their types."""

from __future__ import annotations

from functools import lru_cache

from auditrules.kernel.field_tests import compare
from auditrules.model.kernel_rule import Condition, FieldTest, KernelRule, is_test

RECORDS = frozenset(range(1000, 3000))
"""The types of all records (linux/audit.h)."""

OF_AUDITD = frozenset(range(1200, 1300))
"""Those of auditd, which writes them itself: the kernel never sees them."""

OF_PROGRAMS = frozenset({1005, *range(1100, 1200), *range(2100, 3000)})
"""Those that programs may send, which alone walk the list `user` (`audit_receive_msg`)."""


def types_named(rule: KernelRule) -> frozenset[int]:
    """Return the types for which all that a rule says of types holds."""
    return _all_hold(rule.tests("msgtype"))


@lru_cache(maxsize=4096)
def _all_hold(tests: tuple[FieldTest, ...]) -> frozenset[int]:
    return frozenset(
        number
        for number in RECORDS
        if all(compare(number, one.operator, int(one.value)) for one in tests)
    )


def besides(rule: KernelRule) -> tuple[Condition, ...]:
    """Return a rule's conditions besides those on a record's type."""
    return tuple(one for one in rule.conditions if not is_test(one, "msgtype"))
