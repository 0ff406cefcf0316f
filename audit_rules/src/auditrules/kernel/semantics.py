"""The kernel's decision on a system call under a set of rules: recorded or not, and which key.

Written to be read beside Linux 6.1.192: AF is `kernel/auditfilter.c`, AS `kernel/auditsc.c`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from types import MappingProxyType

from auditrules.auditctl.field_values import OF_A_TASK
from auditrules.kernel.event import NO_INODE, Event, FileId, VisitedName
from auditrules.kernel.field_tests import UnresolvedError, compare, file_at, holds, number
from auditrules.kernel.records import (
    OBJ_PID,
    PATH,
    SYSCALL,
    EventRecord,
    dropped_by,
    is_written,
    of_call,
)
from auditrules.kernel.signal_calls import notes_signals, sends_a_signal
from auditrules.model.kernel_lists import by_rank, check_distinct
from auditrules.model.kernel_rule import UNSET, Action, FieldTest, FilterList, KernelRule
from auditrules.tables import lookup

BUCKETS = 32
"""How many lists the inode hash has (AUDIT_INODE_BUCKETS)."""

_MIDDLE = (1 << 64) // 2 - 1
"""Where priorities begin: ~0ULL/2."""

_UNCOUNTED = frozenset({FilterList.USER, FilterList.EXCLUDE, FilterList.FILESYSTEM})

_OUTRANKS_ALL = (1 << 64) - 1  # ~0: only rules of `exit` and `io_uring` get a place in the order
_RAISED = 1
"""The priority of a record that another part of the kernel asked for (AS:2518)."""


class Verdict(Enum):
    """The result of walking a rule."""

    NOT_NAMED = "its mask does not hold the call"
    OUTRANKED = "a rule of higher priority has decided"
    FAILED = "a condition does not hold"
    MATCHED = "it decides"


@dataclass(frozen=True)
class FilterStep:
    """One rule walked: its index among those loaded, and how many of its conditions were tested.

    `name` is the index of the visited file whose bucket was walked, None in the exit list.
    """

    rule: int
    verdict: Verdict
    tested: int = 0
    name: int | None = None


class FilterDecision(Enum):
    """The decision about a call: to record it, not to, or none."""

    ALWAYS = "always"
    NEVER = "never"
    NONE = "none"


@dataclass(frozen=True)
class Outcome:
    """The filter's decision about a call, and the call's records.

    `decision` is the last deciding rule's; `decided_by` is its index. The call's records are
    `requested` where it is ALWAYS, or NONE and another part of the kernel requests them. `records`
    are the records then to be written, each with the rule of the list `exclude` that drops it;
    `recorded`: the SYSCALL record is written. Without it none is, and there is no `key`, which else
    is the record's and may be a losing rule's. `raised`: the record that another part of the kernel
    made is written. `walked` are all rules that the call paid for, in order. `names` are the files
    that the PATH records list: those that no rule hides; none without such records. `receivers`:
    the receivers of the call's signal are listed, in an OBJ_PID record.
    """

    decision: FilterDecision
    recorded: bool
    key: str
    decided_by: int | None
    walked: tuple[FilterStep, ...] = field(compare=False)
    names: tuple[VisitedName, ...] = field(default=(), compare=False)
    receivers: bool = field(default=False, compare=False)
    requested: bool = field(default=False, compare=False)
    records: tuple[EventRecord, ...] = field(default=(), compare=False)
    raised: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class Loaded:
    """Rules in the kernel: each list and bucket in its order, as indices into `rules`.

    `files` are the files at the paths that rules watch; other paths do not exist. At a mount point,
    that is the directory below the mount (`kern_path_locked`, audit_watch.c).
    """

    rules: tuple[KernelRule, ...]
    priority: tuple[int, ...]
    lists: Mapping[FilterList, tuple[int, ...]]
    buckets: tuple[tuple[int, ...], ...]
    files: Mapping[str, FileId]


def load(rules: Iterable[KernelRule], files: Mapping[str, FileId] | None = None) -> Loaded:
    """Return the rules as the kernel arranges them when they are added one by one (AF:940).

    Raises:
        DuplicateError: A rule repeats an earlier one; the error has both.
        UnresolvedError: A watched path may or may not be a directory.
    """
    files = MappingProxyType(dict(files or {}))
    loaded = tuple(rules)
    for rule in loaded:
        if rule.watch is not None:
            raise UnresolvedError(f"only the target knows whether {rule.watch} is a directory")
    check_distinct(loaded)
    return arrange(loaded, files)


def arrange(loaded: tuple[KernelRule, ...], files: Mapping[str, FileId]) -> Loaded:
    """Return rules that are known to be distinct, and of known kind, as `load` does."""
    lists: dict[FilterList, list[int]] = {name: [] for name in FilterList}
    buckets: list[list[int]] = [[] for _ in range(BUCKETS)]
    for index in by_rank(loaded):
        rule = loaded[index]
        place = buckets[bucket_of(rule, files)] if rule.in_a_bucket else lists[rule.list]
        place.append(index)
    return Loaded(
        loaded,
        tuple(_priorities(loaded)),
        MappingProxyType({name: tuple(found) for name, found in lists.items()}),
        tuple(tuple(found) for found in buckets),
        files,
    )


def _priorities(rules: Iterable[KernelRule]) -> Iterator[int]:
    # `prio_low` and `prio_high` (AF:992), each changed before it is used.
    low, high = _MIDDLE, _MIDDLE - 1
    for rule in rules:
        if rule.list not in {FilterList.EXIT, FilterList.IO_URING}:
            yield _OUTRANKS_ALL
        elif rule.prepend:
            high += 1
            yield high
        else:
            low -= 1
            yield low


def bucket_of(rule: KernelRule, files: Mapping[str, FileId]) -> int:
    """Return the bucket of a rule on an inode; an absent file has the last (audit_watch.c:443)."""
    inode = rule.inode
    if rule.path is not None:
        file = file_at(rule.path, files)
        inode = NO_INODE if file is None else file.inode
    return (NO_INODE if inode is None else inode) % BUCKETS


def decide(loaded: Loaded, event: Event) -> Outcome:
    """Return the decision about a call at its return (`__audit_syscall_exit`, AS:2056).

    It assumes a task that no rule of the list `task` has decided. Without any rule
    (`audit_n_rules`, AF:1013) nothing is recorded, whatever requests it; later releases record what
    was requested, without the files, which were not collected until then. A record that rules of
    the list `exclude` drop is not made, and a dropped one of another part of the kernel requests
    none.
    """
    excluding = excluding_rules(loaded)
    raised = event.raised and (dropped_by(excluding, event, event.raised_by, loaded.files) is None)
    if not any(rule.list not in _UNCOUNTED for rule in loaded.rules):
        raised = raised and event.release in lookup.RAISED_WITHOUT_RULES
        bare = replace(event, names=())
        nothing = Outcome(FilterDecision.NONE, recorded=False, key="", decided_by=None, walked=())
        return _with_records(loaded, nothing, bare, raised=raised) if raised else nothing
    event = replace(without_hidden_names(loaded, event), raised=raised)
    walk = _Walk(loaded, event)
    walk.exit_list()
    walk.inodes()
    decision = walk.decision
    found = Outcome(decision, False, walk.key, walk.decided_by, tuple(walk.steps), raised=raised)  # noqa: FBT003
    if decision is FilterDecision.ALWAYS or (decision is FilterDecision.NONE and raised):
        return _with_records(loaded, found, event, raised=raised)
    return replace(found, key="")


_BY_ROOT = dict.fromkeys(("uid", "euid", "suid", "fsuid", "gid", "egid", "sgid", "fsgid"), 0)


def may_decide_of_task(loaded: Loaded, event: Event) -> bool:
    """Say whether the list `task` may decide about the process that makes a call.

    It decides when a process is made, and the call says nothing about that: the process may have
    been made by the same user, or by root without a login. `never` without conditions is no such
    case.
    """
    return any(
        index is not None and not _exempts_all(loaded.rules[index])
        for index in _deciding_of_task(loaded, event)
    )


def exempted_by(loaded: Loaded, event: Event) -> int | None:
    """Return the rule (by index) that takes every new process out of audit; None if none does.

    That is `never,task` without conditions, where no earlier rule may decide.
    """
    deciding = _deciding_of_task(loaded, event)
    index = next(iter(deciding))
    if len(deciding) > 1 or index is None or not _exempts_all(loaded.rules[index]):
        return None
    return index


def _exempts_all(rule: KernelRule) -> bool:
    return rule.action is Action.NEVER and not rule.conditions


def _deciding_of_task(loaded: Loaded, event: Event) -> set[int | None]:
    """Return the rules that may decide: for a process made by the caller, and by root."""
    by_root = replace(event, **_BY_ROOT, groups=frozenset(), auid=UNSET, sessionid=UNSET)  # type: ignore[arg-type]
    return {_rule_of_task(loaded, one) for one in (event, by_root)}


def _rule_of_task(loaded: Loaded, event: Event) -> int | None:
    """Return the rule (by index) that decides about a new task (`audit_filter_task`, AS:779)."""
    for index in loaded.lists[FilterList.TASK]:
        conditions = loaded.rules[index].conditions
        if all(
            isinstance(one, FieldTest)
            and one.field in OF_A_TASK
            and holds(one, event, None, loaded.files)
            for one in conditions
        ):
            return index
    return None


def excluding_rules(loaded: Loaded) -> tuple[tuple[int, KernelRule], ...]:
    """Return the rules of the list `exclude` with their indices, in the order of the walk."""
    return tuple((index, loaded.rules[index]) for index in loaded.lists[FilterList.EXCLUDE])


def _with_records(loaded: Loaded, found: Outcome, event: Event, *, raised: bool) -> Outcome:
    """Return the outcome, with its records, of a call whose records are requested."""
    receivers = sends_a_signal(event.arch, event.call) and notes_signals(loaded.rules)
    records = of_call(event, excluding_rules(loaded), loaded.files, receivers=receivers)
    written = {record.kind for record in records if record.dropped_by is None}
    recorded = SYSCALL in written
    return replace(
        found,
        recorded=recorded,
        key=found.key if recorded else "",
        names=event.names if PATH in written else (),
        receivers=receivers and recorded and is_written(records, OBJ_PID),
        requested=True,
        records=records,
        raised=raised,
    )


class _Walk:
    """The state of one call's context during the walk (struct audit_context)."""

    def __init__(self, loaded: Loaded, event: Event) -> None:
        self.loaded, self.event = loaded, event
        self.priority = _RAISED if event.raised else 0
        self.decision = FilterDecision.NONE
        self.key = ""
        self.decided_by: int | None = None
        self.steps: list[FilterStep] = []

    def exit_list(self) -> None:
        """`audit_filter_syscall`, AS:841: the first that matches decides."""
        self._first_match(self.loaded.lists[FilterList.EXIT], None)

    def inodes(self) -> None:
        """`audit_filter_inodes`, AS:891: up to the first visited file whose bucket decides."""
        for index, name in enumerate(self.event.names):
            if self._first_match(self.loaded.buckets[name.file.inode % BUCKETS], index):
                return

    def _first_match(self, rules: Sequence[int], name: int | None) -> bool:
        for index in rules:
            rule = self.loaded.rules[index]
            # Before any condition, `arch` too: a 32-bit rule costs 64-bit calls of the same number.
            if not rule.names(self.event.call):
                self.steps.append(FilterStep(index, Verdict.NOT_NAMED, name=name))
            elif self.loaded.priority[index] <= self.priority:
                self.steps.append(FilterStep(index, Verdict.OUTRANKED, name=name))
            elif self._matches(index, name):
                return True
        return False

    def _matches(self, index: int, name: int | None) -> bool:
        """`audit_filter_rules`, AS:460: all conditions hold, so the rule decides."""
        rule = self.loaded.rules[index]
        visited = None if name is None else self.event.names[name]
        for tested, condition in enumerate(rule.conditions, 1):
            if not holds(condition, self.event, visited, self.loaded.files):
                self.steps.append(FilterStep(index, Verdict.FAILED, tested, name))
                return False
        self.steps.append(FilterStep(index, Verdict.MATCHED, len(rule.conditions), name))
        # A rule without a key inherits that of the rule which it outranks (AS:751).
        self.key = rule.key or self.key
        self.priority = self.loaded.priority[index]
        self.decided_by = index
        self.decision = FilterDecision(rule.action.value)
        return True


def hiding_tests(loaded: Loaded) -> tuple[FieldTest, ...]:
    """Return the tests of a file system that hide a file from the rules."""
    return tuple(
        test
        for index in loaded.lists[FilterList.FILESYSTEM]
        for test in loaded.rules[index].conditions
        if loaded.rules[index].action is Action.NEVER
        and isinstance(test, FieldTest)
        and test.field == "fstype"
    )


def without_hidden_names(loaded: Loaded, event: Event) -> Event:
    """Return the call without the files that a rule of the list `filesystem` hides (AS:2291).

    A name given by the call exists before the kernel looks up its file, and stays without one.
    """
    hiding = hiding_tests(loaded)
    if not hiding:
        return event
    names: list[VisitedName] = []
    for name in event.names:
        led = name.file.inode != NO_INODE
        # What was not created, its directory hides; where that is not known, it stays.
        hidden = (led or (name.filesystem != 0 and not name.given)) and any(
            compare(name.filesystem, test.operator, number(test)) for test in hiding
        )
        if not hidden:
            names.append(name)
        elif name.given:
            names.append(VisitedName())
    return replace(event, names=tuple(names))
