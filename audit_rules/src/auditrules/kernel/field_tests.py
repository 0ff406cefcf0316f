"""Whether one condition of a rule holds: for a call, or for one file that it visited.

Written to be read beside Linux 6.1.192: AF is `kernel/auditfilter.c`, AS `kernel/auditsc.c`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import assert_never

from auditrules.kernel.event import FORMAT, NO_INODE, Event, FileId, VisitedName
from auditrules.model.kernel_rule import (
    ATTRIBUTES,
    EXECUTE,
    READ,
    UNSET,
    WRITE,
    Condition,
    FieldTest,
    IdComparison,
    KernelRule,
    Operator,
)
from auditrules.model.rule import plain_path
from auditrules.tables import lookup
from auditrules.tables.lookup import Arch

_U32 = 0xFFFFFFFF


class UnresolvedError(ValueError):
    """Only the target knows a value of a rule: a user's number, or a watched path's kind."""


def compare(left: int, operator: Operator, right: int) -> bool:
    """Return the result of `audit_comparator` for two numbers, both cut to 32 bits (AF:1210)."""
    left, right = left & _U32, right & _U32
    return _COMPARISONS[operator](left, right)


_COMPARISONS: Mapping[Operator, Callable[[int, int], bool]] = MappingProxyType({
    Operator.EQUAL: lambda left, right: left == right,
    Operator.NOT_EQUAL: lambda left, right: left != right,
    Operator.LESS: lambda left, right: left < right,
    Operator.LESS_OR_EQUAL: lambda left, right: left <= right,
    Operator.GREATER: lambda left, right: left > right,
    Operator.GREATER_OR_EQUAL: lambda left, right: left >= right,
    Operator.ANY_BIT: lambda left, right: bool(left & right),
    Operator.ALL_BITS: lambda left, right: left & right == right,
})  # fmt: skip


def arches_of(rule: KernelRule) -> tuple[Arch, ...]:
    """Return the ABIs that a rule's tests of `arch` let through."""
    tests = rule.tests("arch")
    return tuple(
        arch
        for arch, number in lookup.ARCH_NUMBERS.items()
        if all(compare(number, test.operator, int(test.value)) for test in tests)
    )


_IDS = frozenset({"uid", "euid", "suid", "fsuid", "gid", "egid", "sgid", "fsgid", "auid"})
_PLAIN = {
    "pid": "pid", "ppid": "ppid", "sessionid": "sessionid", "pers": "personality", "exit": "exit",
    "saddr_fam": "socket_family",
}  # fmt: skip
_LABELS = frozenset({"obj_user", "obj_role", "obj_type", "obj_lev_low", "obj_lev_high"})
_OF_FILES = frozenset({"devmajor", "devminor", "inode", "obj_uid", "obj_gid"}) | _LABELS


def holds(
    condition: Condition, event: Event, name: VisitedName | None, files: Mapping[str, FileId]
) -> bool:
    """Say whether one condition holds: for a call (`name` None), or for one file that it visited.

    Raises:
        UnresolvedError: The condition names an unresolved user or group.
    """
    if isinstance(condition, IdComparison):
        return _ids_compare(condition, event)
    if isinstance(condition, FieldTest):
        return _test_holds(condition, event, name, files)
    assert_never(condition)


def _test_holds(
    test: FieldTest, event: Event, name: VisitedName | None, files: Mapping[str, FileId]
) -> bool:
    kind = test.field
    if kind in _OF_FILES:
        # Of a call: any file that it visited. Of a file in its bucket: that file.
        visited = event.names if name is None else (name,)
        return any(_file_holds(test, file) for file in visited)
    if kind in _IDS:
        return _id_holds(test, event)
    if kind in _YES_OR_NO:
        held = _YES_OR_NO[kind](test, event, name, files)
        return held is not None and held is (test.operator is Operator.EQUAL)
    if kind.startswith("subj_"):
        return _label_holds(test, event.subject)
    # AUDIT_FILTERKEY is ignored. Other lists' fields, msgtype and fstype, never hold (AF:300).
    found = _number_of(test, event)
    return kind == "key" or (
        found is not None and compare(found, test.operator, _compared_number(test))
    )


def _number_of(test: FieldTest, event: Event) -> int | None:
    """Return the number that a condition on the call itself tests; None if there is none."""
    kind = test.field
    if kind in _PLAIN:
        found: int | None = getattr(event, _PLAIN[kind])
        return found
    if kind in {"a0", "a1", "a2", "a3"}:
        return event.arguments[int(kind[1])]
    marks = {
        "arch": lookup.ARCH_NUMBERS[event.arch],
        "success": None if event.exit is None else _SUCCESS if event.success else _FAILURE,
        "loginuid_set": int(event.auid != UNSET),
    }
    return marks.get(kind)


def _compared_number(test: FieldTest) -> int:
    """Return the number that a test compares with; `success` is one of the kernel's own marks."""
    meant = number(test)
    if test.field == "success":
        return _SUCCESS if meant else _FAILURE
    return meant


_SUCCESS, _FAILURE = 1, 2  # AUDITSC_SUCCESS and AUDITSC_FAILURE (linux/audit.h), AS:560


def _id_holds(test: FieldTest, event: Event) -> bool:
    held = compare(getattr(event, test.field), test.operator, number(test))
    if test.field in {"gid", "egid"}:  # a supplementary group counts as well (AS:508)
        among = number(test) in event.groups
        if test.operator is Operator.EQUAL:
            return held or among
        if test.operator is Operator.NOT_EQUAL:
            return held and not among
    return held


def _file_holds(test: FieldTest, name: VisitedName) -> bool:
    kind, operator = test.field, test.operator
    if kind in _LABELS:
        return _label_holds(test, name.label)
    value = number(test)
    numbers: tuple[int, ...]
    match kind:
        case "devmajor":
            numbers = (name.file.major, name.special_device[0])
        case "devminor":
            numbers = (name.file.minor, name.special_device[1])
        case "inode":
            numbers = (name.file.inode,)
        case "obj_uid":
            numbers = (name.uid,)
        case _:
            numbers = (name.gid,)
    return any(compare(number, operator, value) for number in numbers)


def _label_holds(test: FieldTest, label: Mapping[str, str]) -> bool:
    """Compare a part of a label; without an LSM that provides labels, no condition on one holds."""
    if test.field not in label:
        return False
    return (label[test.field] == test.value) is (test.operator is Operator.EQUAL)


def file_at(path: str, files: Mapping[str, FileId]) -> FileId | None:
    """Return the file at a path: as written, or else without redundant parts."""
    return files.get(path) or files.get(plain_path(path))


def _path_holds(
    test: FieldTest, _event: Event, name: VisitedName | None, files: Mapping[str, FileId]
) -> bool | None:
    if name is None:
        return None  # in the exit list, where no rule with a path stands, it would not hold
    file = file_at(str(test.value), files)
    return file is not None and name.file == file


def _directory_holds(
    test: FieldTest, event: Event, _name: VisitedName | None, files: Mapping[str, FileId]
) -> bool:
    """Say whether a file that the call visited is in the tree: by its path, or by the root's inode.

    The inode also matches a file's other names if the file is the tree, and a directory that the
    rule reaches through a symbolic link, if `files` has both of its paths.
    """
    directory = str(test.value)
    root = file_at(directory, files)
    return root is not None and any(
        visited.lies_in(directory)
        or visited.file == root
        or any(files.get(above) == root for above in visited.directories())
        for visited in event.names
    )


def _exe_holds(
    test: FieldTest, event: Event, _name: VisitedName | None, files: Mapping[str, FileId]
) -> bool:
    file = file_at(str(test.value), files)
    return file is not None and event.exe == file


def _filetype_holds(
    test: FieldTest, event: Event, _name: VisitedName | None, _files: Mapping[str, FileId]
) -> bool:
    kind = number(test)
    return any(name.file.inode != NO_INODE and name.mode & FORMAT == kind for name in event.names)


def _perm_holds(
    test: FieldTest, event: Event, _name: VisitedName | None, _files: Mapping[str, FileId]
) -> bool:
    return bool(permissions(event) & number(test))


_YES_OR_NO: Mapping[
    str, Callable[[FieldTest, Event, VisitedName | None, Mapping[str, FileId]], bool | None]
] = MappingProxyType({
    "path": _path_holds, "dir": _directory_holds, "exe": _exe_holds, "perm": _perm_holds,
    "filetype": _filetype_holds,
})  # fmt: skip


_ACCESS = (READ, WRITE, READ | WRITE, READ | WRITE)
"""The permissions of an opening call, by the low two bits of its flags (ACC_MODE, linux/fs.h)."""


def permissions(event: Event) -> int:
    """Return the permissions of a call: r 4, w 2, x 1, a 8 (AS:148)."""
    call = lookup.call_name(event.arch, event.call)
    flags = {"open": event.arguments[1], "openat": event.arguments[2], "openat2": event.open_flags}
    if call in flags:
        return _ACCESS[(flags[call] or 0) & 3]
    if call in {"execve", "execveat"}:
        return EXECUTE
    if call == "socketcall":
        return WRITE if event.arguments[0] == _BIND else 0
    return class_permissions(event.arch, event.call, event.release)


_BIND = 2  # SYS_BIND, linux/net.h


def class_permissions(arch: lookup.Arch, call: int, release: lookup.Release = lookup.OLDEST) -> int:
    """Return the permissions of a call that its number alone determines."""
    by_class: tuple[tuple[lookup.Class, int], ...] = (
        ("write", WRITE),
        ("read", READ),
        ("attributes", ATTRIBUTES),
    )
    return sum(bit for name, bit in by_class if call in lookup.class_calls(arch, name, release))


def _ids_compare(condition: IdComparison, event: Event) -> bool:
    """`audit_field_compare`, AS:378."""
    if condition.right in {"obj_uid", "obj_gid"}:
        own = getattr(event, condition.left)
        # Of a file in its bucket too: any other file that the call visited will do (AS:335).
        owners = [getattr(file, condition.right.removeprefix("obj_")) for file in event.names]
        return any(compare(own, condition.operator, owner) for owner in owners)
    left, right = getattr(event, condition.left), getattr(event, condition.right)
    return compare(left, condition.operator, right)


def number(test: FieldTest) -> int:
    """Return the number that a test compares with.

    Raises:
        UnresolvedError: It is an unresolved user or group.
    """
    if isinstance(test.value, str):
        raise UnresolvedError(f"{test.field}{test.operator}{test.value}: only the target knows it")
    return test.value
