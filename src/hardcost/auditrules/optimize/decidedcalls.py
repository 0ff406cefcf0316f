"""Calls that a rule decides, made by changing a typical call as little as possible."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hardcost.auditrules.conditions import SINGLE, allowed
from hardcost.auditrules.event import Event, FileId, Name
from hardcost.auditrules.fieldtests import holds
from hardcost.auditrules.kernelrule import UNSET, Comparison, Operator, Test

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hardcost.auditrules.kernelrule import Condition, KernelRule

FRESH_INODE = (1 << 40) + 7
"""The inode number of a file that no rule names."""

DEVICE = (8, 1)
"""The device of all files that rules name, and of invented ones."""

_ROUNDS = 4
_ATTRIBUTE = {"pers": "personality", "saddr_fam": "socket_family"}
_OTHER_ID = 1001
_FAILED = -13  # EACCES
_OF_NAMES = frozenset({"obj_uid", "obj_gid"})


def witness(rule: KernelRule, typical: Event, files: Mapping[str, FileId]) -> Event | None:
    """Return a call that meets all conditions of a rule, None if none was found.

    It has the typical call's number and ABI, and its other values where possible. A file visited
    only to meet a condition is one that no rule names.
    """
    event = typical
    for _ in range(_ROUNDS):
        failing = [test for test in rule.conditions if not _holds(test, event, files)]
        if not failing:
            return event
        for test in failing:
            event = _mended(rule, test, event, files)
    return None


def _mended(
    rule: KernelRule, condition: Condition, event: Event, files: Mapping[str, FileId]
) -> Event:
    """Return the call changed so that a condition holds, breaking as few others as possible."""
    if _holds(condition, event, files):
        return event
    own = list(_changes(rule, condition, event, files))
    held = [changed for changed in own if _holds(condition, changed, files)]
    return min(
        held,
        key=lambda one: sum(not _holds(test, one, files) for test in rule.conditions),
        default=event,
    )


def _holds(condition: Condition, event: Event, files: Mapping[str, FileId]) -> bool:
    if isinstance(condition, Test) and condition.field == "path":
        return any(holds(condition, event, name, files) for name in event.names)
    return holds(condition, event, None, files)


def _changes(
    rule: KernelRule, condition: Condition, event: Event, files: Mapping[str, FileId]
) -> Iterator[Event]:
    """Yield calls for which a condition might hold."""
    if isinstance(condition, Comparison):
        yield from _compared(condition, event)
        return
    kind, value = condition.field, condition.value
    if kind in {"path", "dir"}:
        lies_at = str(value) if kind == "path" else f"{str(value).rstrip('/')}/~"
        file = files[str(value)] if kind == "path" else FileId(*DEVICE, FRESH_INODE)
        yield replace(event, names=(file_at(lies_at, file, event),))
    elif kind == "exe":
        equal = condition.operator is Operator.EQUAL
        yield replace(event, exe=files[str(value)] if equal else FileId(0, 0, FRESH_INODE))
    elif kind == "perm":
        yield from _opened(event)
    elif kind == "success":
        yield replace(event, exit=0)
        yield replace(event, exit=_FAILED)
    elif kind == "loginuid_set":
        yield replace(event, auid=UNSET)
        yield replace(event, auid=1000)
    elif kind.startswith("subj_"):
        yield replace(event, subject={**event.subject, kind: str(value)})
        yield replace(event, subject={**event.subject, kind: f"not {value}"})
    elif isinstance(value, int):
        yield from _numbered(rule, condition, value, event)


def _numbered(rule: KernelRule, test: Test, value: int, event: Event) -> Iterator[Event]:
    """Yield calls that have other numbers where a condition looks."""
    kind = test.field
    numbers = [value, value + 1 & UNSET, value - 1 & UNSET, 0, _OTHER_ID]
    if test.operator is Operator.ANY_BIT and value:
        numbers = [1 << value.bit_length() - 1, value & -value, *numbers]
    if kind in SINGLE:
        ranges = allowed(kind, rule.conditions)
        numbers = [number for first, last in ranges for number in (first, last)] + numbers
        # If any large number will do, take a login user, not the largest number.
        numbers.sort(key=lambda number: number == UNSET)
    for number in numbers:
        if kind in {"a0", "a1", "a2", "a3"}:
            arguments = list(event.arguments)
            arguments[int(kind[1])] = number
            yield replace(event, arguments=tuple(arguments))  # type: ignore[arg-type]  # four stay four
        elif kind == "exit":
            yield replace(event, exit=number - (1 << 32) if number > UNSET >> 1 else number)
        elif kind in _OF_NAMES | {"devmajor", "devminor", "inode", "filetype"}:
            yield replace(event, names=(_with(kind, number, event),))
        else:
            changed: dict[str, Any] = {_ATTRIBUTE.get(kind, kind): number}
            yield replace(event, **changed)


def _with(kind: str, number: int, event: Event) -> Name:
    name = event.names[0] if event.names else file_at("/~", FileId(*DEVICE, FRESH_INODE), event)
    match kind:
        case "obj_uid":
            return replace(name, uid=number)
        case "obj_gid":
            return replace(name, gid=number)
        case "filetype":
            return replace(name, mode=number | 0o644)
        case "devmajor":
            return replace(name, file=name.file._replace(major=number))
        case "devminor":
            return replace(name, file=name.file._replace(minor=number))
        case _:
            return replace(name, file=name.file._replace(inode=number))


def _compared(condition: Comparison, event: Event) -> Iterator[Event]:
    """Yield calls with other ids on either side of a comparison."""
    for side, other in ((condition.left, condition.right), (condition.right, condition.left)):
        if side in _OF_NAMES:
            number = getattr(event, other)
            for value in (number, number + 1 & UNSET):
                yield replace(event, names=(_with(side, value, event),))
            continue
        values = {0, 1000, _OTHER_ID}
        if other not in _OF_NAMES:
            values.add(getattr(event, other))
        elif not event.names:
            event = replace(event, names=(_with(other, 0, event),))
        for value in sorted(values):
            changed: dict[str, Any] = {side: value}
            yield replace(event, **changed)


def _opened(event: Event) -> Iterator[Event]:
    """Yield the call with other flags and arguments that decide what it is permitted."""
    for flags in (0, 1, 2):
        first, second, third, last = event.arguments
        yield replace(event, arguments=(first, flags, third, last), open_flags=flags)
        yield replace(event, arguments=(first, second, flags, last))
        yield replace(event, arguments=(flags, second, third, last))


def file_at(path: str, file: FileId, event: Event) -> Name:
    """Return a regular file that belongs to whoever makes the call."""
    return Name(path=path, file=file, mode=0o100644, uid=event.fsuid, gid=event.fsgid)
