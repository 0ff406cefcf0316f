"""Combinations that a rule may have: fields with lists, operators and each other; call classes.

The checks are auditctl's (3.0.9), then the kernel's (`audit_field_valid`, AF:320).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from auditrules.auditctl.field_values import (
    BIT_FIELDS,
    EQUAL_ONLY,
    EQUAL_OR_NOT,
    EXCLUDABLE,
    EXIT_ONLY,
    GROUPS,
    USERS,
    RefusedError,
)
from auditrules.model.kernel_rule import (
    ALL_CALLS,
    UNSET,
    WATCH,
    Condition,
    FieldTest,
    FilterList,
    Operator,
    mask_of,
)
from auditrules.tables import lookup
from auditrules.tables.lookup import Arch

_PLACES: Mapping[str, set[FilterList]] = {
    "fstype": {FilterList.FILESYSTEM},
    "msgtype": {FilterList.EXCLUDE, FilterList.USER},
    "sessionid": {FilterList.EXCLUDE, FilterList.USER, FilterList.EXIT},
    "field_compare": {FilterList.EXIT},
    **{field: {FilterList.EXIT, FilterList.IO_URING} for field in EXIT_ONLY},
}
"""The lists that accept a field, if not all do."""


def check_list(name: str, where: FilterList) -> None:
    """Check that a field is allowed in a list (auditctl's checks, then the kernel's, AF:300)."""
    problems = (
        (where is FilterList.EXCLUDE and name not in EXCLUDABLE, "exclude takes"),
        (where is FilterList.FILESYSTEM and name not in {"fstype", "key"}, "filesystem takes"),
    )
    for wrong, what in problems:
        if wrong:
            allowed = EXCLUDABLE if where is FilterList.EXCLUDE else {"fstype"}
            raise RefusedError(
                f"a rule in the list {where} can't test {name}",
                f"{what} {', '.join(sorted(allowed))}",
            )
    if name in _PLACES and where not in _PLACES[name]:
        allowed_lists = " or ".join(sorted(_PLACES[name] - {FilterList.IO_URING}))
        raise RefusedError(
            f"{name} can't be tested in the list {where}", f"it belongs to {allowed_lists}"
        )


def check_operator(test: FieldTest) -> None:
    """Check that a field takes an operator and a value (`audit_field_valid`, AF:320)."""
    name, operator = test.field, test.operator
    shown = "auid=unset" if name == "loginuid_set" else name
    if name in EQUAL_ONLY and operator is not Operator.EQUAL:
        raise RefusedError(f"{name} takes only the operator =", f"write {name}=VALUE")
    if name in EQUAL_OR_NOT and operator not in {Operator.EQUAL, Operator.NOT_EQUAL}:
        raise RefusedError(f"{shown} takes only the operators = and !=", "use one of these")
    bits = operator in {Operator.ANY_BIT, Operator.ALL_BITS}
    if bits and name not in BIT_FIELDS:
        raise RefusedError(
            f"{name} has no bits to test", f"{operator} is for {', '.join(sorted(BIT_FIELDS))}"
        )
    if name in USERS | GROUPS and test.value == UNSET:
        raise RefusedError(f"{name} can't be compared with unset", "only auid can be unset")


def check_together(where: FilterList, conditions: Sequence[Condition]) -> None:
    """Check the fields that a rule may have only once."""
    names = [test.field for test in conditions if isinstance(test, FieldTest)]
    places = [name for name in names if name in {"path", "dir", "inode", WATCH}]
    if len(places) > 1:
        said = " and ".join("-w" if name == WATCH else name for name in places)
        raise RefusedError(f"{said} can't be combined in one rule", "split it into two rules")
    if names.count("exe") > 1:
        raise RefusedError("exe occurs twice in one rule", "split it into two rules")
    for test in conditions:
        if (
            isinstance(test, FieldTest)
            and test.field in {"path", "exe"}
            and str(test.value).endswith(("/", "/.", "/.."))
        ):
            raise RefusedError(
                f"{test.field} names a directory by its end",
                "remove the end, or use dir",
            )
    if where is FilterList.FILESYSTEM and "perm" in names:
        raise RefusedError("a rule in the list filesystem has no permissions", "remove -p")
    if where is FilterList.IO_URING and "perm" in names:
        raise RefusedError("io_uring operations have no permissions", "remove perm")


CLASSES: tuple[tuple[Arch, lookup.Class], ...] = tuple(
    (arch, name)
    for name in ("dir_write", "attributes", "read", "write", "signal")
    for arch in lookup.ARCHES
)
"""The classes of calls by their numbers in the kernel (AUDIT_CLASS_…, linux/audit.h)."""

CLASS_BIT = 2047
"""The mask bit of the first class; the next class has the bit below."""


def expand_classes(mask: int, release: lookup.Release = lookup.OLDEST) -> int:
    """Return a mask with the calls of the classes whose bits are set (AF:284)."""
    if mask <= ALL_CALLS:
        return mask
    calls_too = mask & ALL_CALLS
    for index, (arch, name) in enumerate(CLASSES):
        if mask >> (CLASS_BIT - index) & 1:
            calls_too |= mask_of(lookup.class_calls(arch, name, release))
    return calls_too
