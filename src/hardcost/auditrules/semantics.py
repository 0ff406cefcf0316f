"""What the kernel does with a set of rules and a system call: recorded or not, with which key.

Written to be read beside Linux 6.1.192: AF is `kernel/auditfilter.c`, AS `kernel/auditsc.c`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, assert_never

from hardcost.auditrules.event import NO_INODE, Name
from hardcost.auditrules.kernelrule import (
    ATTRIBUTES,
    EXECUTE,
    READ,
    UNSET,
    WRITE,
    Action,
    Comparison,
    FilterList,
    KernelRule,
    Operator,
    Test,
)
from hardcost.auditrules.loadedrules import by_rank, check_distinct
from hardcost.auditrules.rule import plain_path
from hardcost.auditrules.sending import notes_signals, sends_a_signal
from hardcost.auditrules.tables import lookup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from hardcost.auditrules.event import Event, FileId
    from hardcost.auditrules.kernelrule import Condition

BUCKETS = 32
"""How many lists the inode hash has (AUDIT_INODE_BUCKETS)."""

_U32 = 0xFFFFFFFF
_MIDDLE = (1 << 64) // 2 - 1
"""Where priorities begin: ~0ULL/2."""

_UNCOUNTED = frozenset({FilterList.USER, FilterList.EXCLUDE, FilterList.FILESYSTEM})
_OUTRANKS_ALL = (1 << 64) - 1
_RAISED = 1
"""The priority of a record that another part of the kernel asked for (AS:2518)."""


class UnresolvedError(ValueError):
    """Only the target knows what a rule means: a user's number, or the kind of a watched path."""


class Verdict(Enum):
    """The result of walking a rule."""

    NOT_NAMED = "its mask does not hold the call"
    OUTRANKED = "a rule of higher priority has decided"
    FAILED = "a condition does not hold"
    MATCHED = "it decides"


@dataclass(frozen=True)
class Step:
    """One rule walked: its index among those loaded, and how many of its conditions were tested.

    `name` is the index of the visited file whose bucket was walked, None in the exit list.
    """

    rule: int
    verdict: Verdict
    tested: int = 0
    name: int | None = None


class Decision(Enum):
    """What was decided about a call: to record it, not to, or nothing."""

    ALWAYS = "always"
    NEVER = "never"
    NONE = "none"


@dataclass(frozen=True)
class Outcome:
    """The filter's decision about a call.

    `decision` is the last deciding rule's; `decided_by` is its index. `recorded` holds where it is
    ALWAYS, or NONE and the record was raised elsewhere. `key` is the record's key, which may be a
    losing rule's. `walked` are all rules that the call paid for, in order. `names` are the files
    that the record lists, in its PATH records: those that no rule hides; none without a record.
    `receivers`: it lists the receivers of the call's signal, in an OBJ_PID record.
    """

    decision: Decision
    recorded: bool
    key: str
    decided_by: int | None
    walked: tuple[Step, ...] = field(compare=False)
    names: tuple[Name, ...] = field(default=(), compare=False)
    receivers: bool = field(default=False, compare=False)


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
        file = _file_at(rule.path, files)
        inode = NO_INODE if file is None else file.inode
    return (NO_INODE if inode is None else inode) % BUCKETS


def decide(loaded: Loaded, event: Event) -> Outcome:
    """Return the decision about a call at its return (`__audit_syscall_exit`, AS:2056).

    It assumes a task that no rule of the list `task` has decided. Without any rule
    (`audit_n_rules`, AF:1013) nothing is recorded, whatever requests it; later releases record
    what was requested, without the files, which nobody noted until then.
    """
    if not any(rule.list not in _UNCOUNTED for rule in loaded.rules):
        raised = event.raised and event.release in lookup.RAISED_WITHOUT_RULES
        return Outcome(Decision.NONE, recorded=raised, key="", decided_by=None, walked=())
    event = _without_hidden_names(loaded, event)
    walk = _Walk(loaded, event)
    walk.exit_list()
    walk.inodes()
    decision = walk.decision
    recorded = decision is Decision.ALWAYS or (decision is Decision.NONE and event.raised)
    key, names = (walk.key, event.names) if recorded else ("", ())
    receivers = recorded and sends_a_signal(event.arch, event.call) and notes_signals(loaded.rules)
    return Outcome(decision, recorded, key, walk.decided_by, tuple(walk.steps), names, receivers)


class _Walk:
    """The state of one call's context during the walk (struct audit_context)."""

    def __init__(self, loaded: Loaded, event: Event) -> None:
        self.loaded, self.event = loaded, event
        self.priority = _RAISED if event.raised else 0
        self.decision = Decision.NONE
        self.key = ""
        self.decided_by: int | None = None
        self.steps: list[Step] = []

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
            if not rule.names(self.event.call):
                self.steps.append(Step(index, Verdict.NOT_NAMED, name=name))
            elif self.loaded.priority[index] <= self.priority:
                self.steps.append(Step(index, Verdict.OUTRANKED, name=name))
            elif self._matches(index, name):
                return True
        return False

    def _matches(self, index: int, name: int | None) -> bool:
        """`audit_filter_rules`, AS:460: all conditions hold, so the rule decides."""
        rule = self.loaded.rules[index]
        visited = None if name is None else self.event.names[name]
        for tested, condition in enumerate(rule.conditions, 1):
            if not holds(condition, self.event, visited, self.loaded.files):
                self.steps.append(Step(index, Verdict.FAILED, tested, name))
                return False
        self.steps.append(Step(index, Verdict.MATCHED, len(rule.conditions), name))
        self.key = rule.key or self.key
        self.priority = self.loaded.priority[index]
        self.decided_by = index
        self.decision = Decision(rule.action.value)
        return True


def _without_hidden_names(loaded: Loaded, event: Event) -> Event:
    """Return the call without the files that a rule of the list `filesystem` hides (AS:2291).

    A name given by the call exists before the kernel looks up its file, and stays without one.
    """
    hiding = [
        test
        for index in loaded.lists[FilterList.FILESYSTEM]
        for test in loaded.rules[index].conditions
        if loaded.rules[index].action is Action.NEVER
        and isinstance(test, Test)
        and test.field == "fstype"
    ]
    if not hiding:
        return event
    names: list[Name] = []
    for name in event.names:
        hidden = name.file.inode != NO_INODE and any(
            compare(name.filesystem, test.operator, _number(test)) for test in hiding
        )
        if not hidden:
            names.append(name)
        elif name.given:
            names.append(Name())
    return replace(event, names=tuple(names))


# One condition ----------------------------------------------------------------------------------


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

_IDS = frozenset({"uid", "euid", "suid", "fsuid", "gid", "egid", "sgid", "fsgid", "auid"})
_PLAIN = {
    "pid": "pid", "ppid": "ppid", "sessionid": "sessionid", "pers": "personality", "exit": "exit",
    "saddr_fam": "socket_family",
}  # fmt: skip
_LABELS = frozenset({"obj_user", "obj_role", "obj_type", "obj_lev_low", "obj_lev_high"})
_OF_FILES = frozenset({"devmajor", "devminor", "inode", "obj_uid", "obj_gid"}) | _LABELS


def holds(
    condition: Condition, event: Event, name: Name | None, files: Mapping[str, FileId]
) -> bool:
    """Say whether one condition holds: for a call (`name` None), or for one file that it visited.

    Raises:
        UnresolvedError: The condition names an unresolved user or group.
    """
    if isinstance(condition, Comparison):
        return _ids_compare(condition, event)
    if isinstance(condition, Test):
        return _test_holds(condition, event, name, files)
    assert_never(condition)


def _test_holds(test: Test, event: Event, name: Name | None, files: Mapping[str, FileId]) -> bool:
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
    number = _number_of(test, event)
    return kind == "key" or (number is not None and compare(number, test.operator, _meant(test)))


def _number_of(test: Test, event: Event) -> int | None:
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


def _meant(test: Test) -> int:
    """Return the number that a test compares with; `success` is one of the kernel's own marks."""
    number = _number(test)
    if test.field == "success":
        return _SUCCESS if number else _FAILURE
    return number


_SUCCESS, _FAILURE = 1, 2  # AUDITSC_SUCCESS and AUDITSC_FAILURE (linux/audit.h), AS:560


def _id_holds(test: Test, event: Event) -> bool:
    held = compare(getattr(event, test.field), test.operator, _number(test))
    if test.field in {"gid", "egid"}:  # a supplementary group counts as well (AS:508)
        among = _number(test) in event.groups
        if test.operator is Operator.EQUAL:
            return held or among
        if test.operator is Operator.NOT_EQUAL:
            return held and not among
    return held


def _file_holds(test: Test, name: Name) -> bool:
    kind, operator = test.field, test.operator
    if kind in _LABELS:
        return _label_holds(test, name.label)
    value = _number(test)
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


def _label_holds(test: Test, label: Mapping[str, str]) -> bool:
    """Compare a part of a label; without an LSM that provides labels, no condition on one holds."""
    if test.field not in label:
        return False
    return (label[test.field] == test.value) is (test.operator is Operator.EQUAL)


def _file_at(path: str, files: Mapping[str, FileId]) -> FileId | None:
    """Return the file at a path: as written, or else without redundant parts."""
    return files.get(path) or files.get(plain_path(path))


def _path_holds(
    test: Test, _event: Event, name: Name | None, files: Mapping[str, FileId]
) -> bool | None:
    if name is None:
        return None  # in the exit list, where no rule with a path stands, it would not hold
    file = _file_at(str(test.value), files)
    return file is not None and name.file == file


def _directory_holds(
    test: Test, event: Event, _name: Name | None, files: Mapping[str, FileId]
) -> bool:
    """Say whether a file that the call visited is in the tree: by its path, or by the root's inode.

    The inode also matches a file's other names if the file is the tree, and a directory that the
    rule reaches through a symbolic link, if `files` has both of its paths.
    """
    directory = str(test.value)
    root = _file_at(directory, files)
    return root is not None and any(
        visited.lies_in(directory)
        or visited.file == root
        or any(files.get(above) == root for above in visited.directories())
        for visited in event.names
    )


def _exe_holds(test: Test, event: Event, _name: Name | None, files: Mapping[str, FileId]) -> bool:
    file = _file_at(str(test.value), files)
    return file is not None and event.exe == file


def _filetype_holds(
    test: Test, event: Event, _name: Name | None, _files: Mapping[str, FileId]
) -> bool:
    kind = _number(test)
    return any(name.file.inode != NO_INODE and name.mode & 0o170000 == kind for name in event.names)


def _perm_holds(test: Test, event: Event, _name: Name | None, _files: Mapping[str, FileId]) -> bool:
    return bool(permissions(event) & _number(test))


_YES_OR_NO: Mapping[
    str, Callable[[Test, Event, Name | None, Mapping[str, FileId]], bool | None]
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


def _ids_compare(condition: Comparison, event: Event) -> bool:
    """`audit_field_compare`, AS:378."""
    if condition.right in {"obj_uid", "obj_gid"}:
        own = getattr(event, condition.left)
        # Of a file in its bucket too: any other file that the call visited will do (AS:335).
        owners = [getattr(file, condition.right.removeprefix("obj_")) for file in event.names]
        return any(compare(own, condition.operator, owner) for owner in owners)
    left, right = getattr(event, condition.left), getattr(event, condition.right)
    return compare(left, condition.operator, right)


def _number(test: Test) -> int:
    if isinstance(test.value, str):
        raise UnresolvedError(f"{test.field}{test.operator}{test.value}: only the target knows it")
    return test.value
