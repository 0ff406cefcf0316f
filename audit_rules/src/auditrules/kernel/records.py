"""Which records an event has, and which of them rules of the list `exclude` drop.

Read in Linux 6.1.192: `audit_log_exit` (AS: auditsc.c) writes a call's records one by one, and
`audit_log_start` (audit.c:1878) asks `audit_filter` (auditfilter.c:1331) about each by its type and
the process that is running. Where the SYSCALL record is dropped, `audit_log_exit` ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from auditrules.auditctl.field_values import OF_A_RECORD
from auditrules.kernel.event import Event, FileId
from auditrules.kernel.field_tests import compare, holds, number
from auditrules.model.kernel_rule import (
    Action,
    Condition,
    FieldTest,
    FilterList,
    IdComparison,
    KernelRule,
    is_test,
)
from auditrules.tables import lookup

SYSCALL, PATH, CWD, PROCTITLE, EOE, OBJ_PID = (
    lookup.records()[name] for name in ("SYSCALL", "PATH", "CWD", "PROCTITLE", "EOE", "OBJ_PID")
)

KERNELS = (1000, 2999)
"""The types of records that the kernel or a program can write, the first and the last."""

RAISING = tuple(lookup.records()[name] for name in ("AVC", "ANOM_LINK", "SECCOMP", "LOGIN"))
"""Types of records by which other parts of the kernel request those of a call."""

WITH_SYSCALL = frozenset(
    lookup.records()[name]
    for name in (
        "PATH", "IPC", "SOCKETCALL", "SOCKADDR", "CWD", "EXECVE", "IPC_SET_PERM", "MQ_OPEN",
        "MQ_SENDRECV", "MQ_NOTIFY", "MQ_GETSETATTR", "FD_PAIR", "OBJ_PID", "EOE", "BPRM_FCAPS",
        "CAPSET", "MMAP", "PROCTITLE", "KERN_MODULE", "OPENAT2",
    )
)  # fmt: skip
"""The types that are only written after their event's SYSCALL record."""

_ON_SUCCESS: Mapping[str, str] = MappingProxyType({
    "execve": "EXECVE", "execveat": "EXECVE", "capset": "CAPSET", "pipe": "FD_PAIR",
    "pipe2": "FD_PAIR", "socketpair": "FD_PAIR", "mq_open": "MQ_OPEN",
    "mq_timedsend": "MQ_SENDRECV", "mq_timedreceive": "MQ_SENDRECV", "mq_notify": "MQ_NOTIFY",
    "init_module": "KERN_MODULE", "finit_module": "KERN_MODULE", "delete_module": "KERN_MODULE",
})  # fmt: skip
"""The records of successful calls beside those that every call writes."""

_MAP_ANONYMOUS = 0x20  # linux/mman.h
_ATTACHING = frozenset({16, 0x4206})  # PTRACE_ATTACH and PTRACE_SEIZE, linux/ptrace.h
_SOCKETPAIR = 8  # SYS_SOCKETPAIR, linux/net.h


@dataclass(frozen=True)
class EventRecord:
    """A record of an event: its type, and the index of the rule that drops it, None if none does.

    What the SYSCALL record takes with it has that record's rule.
    """

    kind: int
    dropped_by: int | None = None

    @property
    def name(self) -> str:
        """The type's name, such as PATH."""
        return type_name(self.kind)


def type_name(kind: int) -> str:
    """Return the name of a type of records, or its number as text where it has none."""
    names = {number: name for name, number in lookup.records().items()}
    return names.get(kind, str(kind))


def goes_with_syscall(kind: int) -> bool:
    """Say whether records of a type are only written after their event's SYSCALL record."""
    return kind in WITH_SYSCALL


def kinds(event: Event, *, receivers: bool) -> tuple[int, ...]:
    """Return the types of the records of a call, in the order of writing (`audit_log_exit`).

    `receivers`: the kernel notes whom signals go to. Left out is what the event does not show: a
    program's file capabilities (BPRM_FCAPS), System V IPC, changes of the clock, and further
    receivers of one signal.
    """
    return (
        SYSCALL,
        *(lookup.records()[name] for name in _own_records(event)),
        *((OBJ_PID,) if _has_receiver(event, receivers=receivers) else ()),
        *((CWD,) if event.names else ()),
        *(PATH for _ in event.names),
        PROCTITLE,
        EOE,
    )


def _own_records(event: Event) -> Iterator[str]:
    """Yield a call's records beside those that every call writes."""
    call = lookup.call_name(event.arch, event.call)
    mapped = call == "mmap2" or (call == "mmap" and event.arch == "b64")
    if mapped and not event.arguments[3] & _MAP_ANONYMOUS:
        yield "MMAP"
    if call == "socketcall":
        yield "SOCKETCALL"
    if event.open_flags is not None:
        yield "OPENAT2"
    # The two ends of a pipe are there before their numbers are handed over.
    handed = call in {"pipe", "pipe2"} and event.exit == -lookup.errors()["EFAULT"]
    # A module's name is noted before it is looked for.
    unfit = {-lookup.errors()[name] for name in ("EPERM", "EFAULT")}
    handed = handed or (call == "delete_module" and event.exit not in unfit)
    if (event.success or handed) and call in _ON_SUCCESS:
        yield _ON_SUCCESS[call]
    if event.success and call == "socketcall" and event.arguments[0] == _SOCKETPAIR:
        yield "FD_PAIR"
    if event.socket_family is not None:
        yield "SOCKADDR"


def _has_receiver(event: Event, *, receivers: bool) -> bool:
    """Say whether a process is noted that a call signals or traces, also if it may not."""
    found = event.success or event.exit == -lookup.errors()["EPERM"]
    attaching = event.arguments[0] in _ATTACHING and found
    traced = lookup.call_name(event.arch, event.call) == "ptrace" and attaching
    return (receivers and found) or traced


def of_call(
    event: Event,
    excluding: Sequence[tuple[int, KernelRule]],
    files: Mapping[str, FileId],
    *,
    receivers: bool,
) -> tuple[EventRecord, ...]:
    """Return the records of a call, each with the rule that drops it, if any."""
    whole = dropped_by(excluding, event, SYSCALL, files)
    found: dict[int, int | None] = {}
    for kind in kinds(event, receivers=receivers):
        if kind not in found:
            by = whole if whole is not None else dropped_by(excluding, event, kind, files)
            found[kind] = by
    return tuple(EventRecord(kind, found[kind]) for kind in kinds(event, receivers=receivers))


def is_written(records: Iterable[EventRecord], kind: int) -> bool:
    """Say whether a record of a type is among those of an event and written."""
    return any(record.kind == kind and record.dropped_by is None for record in records)


def dropped_by(
    rules: Iterable[tuple[int, KernelRule]],
    event: Event,
    kind: int,
    files: Mapping[str, FileId],
) -> int | None:
    """Return the index of the rule that drops a record of a type; None if it is written.

    `rules` are those of one list, `exclude` or `user`, in the order of the walk; other lists' are
    passed over. `event` says whose process writes it. In `exclude` a rule drops, whatever its
    action is.
    """
    by = decided_by(rules, event, kind, files)
    if by is None or (by[1].list is FilterList.USER and by[1].action is Action.ALWAYS):
        return None
    return by[0]


def decided_by(
    rules: Iterable[tuple[int, KernelRule]],
    event: Event,
    kind: int,
    files: Mapping[str, FileId],
) -> tuple[int, KernelRule] | None:
    """Return the first rule of the list `user` or `exclude` that a record matches (AF:1331)."""
    event = replace(event, groups=frozenset())  # they do not count here
    for index, rule in rules:
        held = False
        # The key is the last field, and ends the walk as any that can't be asked.
        for condition in (*rule.conditions, *([None] if rule.key else [])):
            if condition is None or not is_of_a_record(condition):
                return None
            held = _record_holds(condition, event, kind, files, before=held)
            if not held:
                break
        if held:
            return index, rule
    return None


def is_of_a_record(condition: Condition) -> bool:
    """Say whether a condition can be asked when a record is to be written."""
    return not isinstance(condition, IdComparison) and condition.field in OF_A_RECORD


def _record_holds(
    condition: Condition,
    event: Event,
    kind: int,
    files: Mapping[str, FileId],
    *,
    before: bool,
) -> bool:
    """Say whether a condition holds; `before`: the one before it did.

    A label's field that no LSM provides leaves the result as it was: after another field that
    held, it counts as held.
    """
    if is_test(condition, "msgtype"):
        return compare(kind, condition.operator, number(condition))
    if (
        isinstance(condition, FieldTest)
        and condition.field.startswith("subj_")
        and condition.field not in event.subject
    ):
        return before
    return holds(condition, event, None, files)
