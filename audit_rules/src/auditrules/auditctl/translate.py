"""How auditctl 3.0.9 translates a rule's line, and which rules the kernel then refuses.

The order of checks is auditctl's: options from left to right, up to the first fault. Each fault has
the column of the word concerned, and a remedy. Of auditctl 4.0.2 it is known to which calls it
narrows rules with permissions, but not which lines it takes beyond those of 3.0.9.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

from auditrules.auditctl.field_rules import (
    check_list,
    check_operator,
    check_together,
    expand_classes,
)
from auditrules.auditctl.field_values import (
    ALIASES,
    FIELDS,
    GROUPS,
    READERS,
    TEXTS,
    USERS,
    ElsewhereError,
    RefusedError,
    arch_of,
    call_number,
    check_path,
    fold_case,
    group,
    nearest,
    number_of,
    permissions,
    split_field,
    user,
)
from auditrules.model.fault import Fault, RulesError
from auditrules.model.kernel_rule import (
    ALL_CALLS,
    KEY_SEPARATOR,
    UNSET,
    WATCH,
    Action,
    Condition,
    FieldTest,
    FilterList,
    IdComparison,
    KernelRule,
    Operator,
    is_test,
    mask_of,
)
from auditrules.model.location import Location
from auditrules.model.rule import Rule, split_options, split_words, strip_quotes
from auditrules.tables import lookup
from auditrules.tables.lookup import Arch

MOST_FIELDS = 63
"""The most fields that auditctl accepts in a rule, including its key (AUDIT_MAX_FIELDS - 1)."""

LONGEST_KEY = 256  # AUDIT_MAX_KEY_LEN, for all keys of a rule and what separates them
_ALL_PERMISSIONS = 15  # AUDIT_PERM_EXEC, _WRITE, _READ and _ATTR: what -w without -p means
_ALL_BITS = (1 << 2048) - 1  # AUDIT_BITMASK_SIZE: 64 words of 32 bits
_LISTS = frozenset(name.value for name in FilterList)
_WORDS = (*sorted(_LISTS), "always", "never")


_NO_QUOTES = "remove the quotes, which auditctl treats as part of the word"


@dataclass(frozen=True)
class Target:
    """The facts that are needed of the machine where the rules are loaded.

    `users` and `groups` resolve names; one that is in neither stays a name. `is_directory` says of
    a path as `-w` names it whether a directory lies there, as auditctl asks the file system; None
    where that is not known, and the rule then stays a watch of unknown kind (`WATCH`). `release` is
    the kernel's, whose classes of calls a mask may name; `auditctl` is what loads the rules.
    """

    users: Mapping[str, int] = field(default_factory=lambda: {"root": 0})
    groups: Mapping[str, int] = field(default_factory=lambda: {"root": 0})
    is_directory: Callable[[str], bool | None] = lambda _path: None
    release: lookup.Release = lookup.OLDEST
    auditctl: lookup.Auditctl = "3.0.9"


ANYWHERE = Target()
"""A machine about which nothing is known."""

AS_WRITTEN = Target(is_directory=lambda path: path.endswith("/"))
"""A machine where paths with a trailing slash are directories, as their authors intend, and others
are files. auditctl itself ignores the slash."""


def translate(rule: Rule, target: Target = ANYWHERE) -> KernelRule:
    """Return the rule as the kernel would hold it.

    Of a line that deletes a rule (-d, -W) it is the rule that the kernel looks for.

    Raises:
        RulesError: auditctl or the kernel refuses it; its one fault says where and why.
    """
    words = split_words(rule.text)
    options, rest = split_options(words)
    if rest:
        raise _error(rule, f"{rest[0]!r} belongs to no option", None, None)
    builder = _Builder(target, rule)
    taken = 0
    try:
        for option, value in options:
            builder.take(option, value)
            taken += 1
        return builder.finish()
    except RefusedError as refused:
        column = _column(rule, words, options, taken) if taken < len(options) else None
        quotes = _quotes_are_to_blame(rule, options[: taken + 1], target)
        remedy = _NO_QUOTES if quotes else refused.remedy
        elsewhere = isinstance(refused, ElsewhereError)
        raise _error(rule, refused.message, remedy, column, elsewhere=elsewhere) from None


def translate_all(
    rules: Sequence[Rule], target: Target = ANYWHERE
) -> tuple[tuple[KernelRule, ...], tuple[Fault, ...]]:
    """Return the rules that can be loaded, in order, and the faults of the others."""
    taken: list[KernelRule] = []
    faults: list[Fault] = []
    for rule in rules:
        try:
            taken.append(translate(rule, target))
        except RulesError as error:
            faults.extend(error.faults)
    return tuple(taken), tuple(faults)


def _quotes_are_to_blame(rule: Rule, options: Sequence[tuple[str, str]], target: Target) -> bool:
    """Say whether the last of the options would be taken without its quotes."""
    *before, (option, value) = options
    if strip_quotes(value) == value:
        return False
    builder = _Builder(target, rule)
    try:
        for earlier in before:
            builder.take(*earlier)
        builder.take(option, strip_quotes(value))
    except RefusedError:
        return False
    return True


def _error(
    rule: Rule, message: str, remedy: str | None, column: int | None, *, elsewhere: bool = False
) -> RulesError:
    place = (rule.place or Location("")).at(column)
    return RulesError((Fault(message, place, remedy, elsewhere),))


def _column(
    rule: Rule, words: Sequence[str], options: Sequence[tuple[str, str]], at: int
) -> int | None:
    """Return where the value of the option with number `at`, or the option itself, begins."""
    position = 0
    for option, value in options[:at]:
        position += 2 if words[position] == option and value else 1
    option, value = options[at]
    if words[position] == option and value:
        position += 1
    return rule.columns[position] if position < len(rule.columns) else None


class _Builder:
    """A rule during the reading of its options, with the state that auditctl keeps."""

    def __init__(self, target: Target, rule: Rule) -> None:
        self.target, self.rule = target, rule
        self.list: FilterList | None = None
        self.action = Action.ALWAYS
        self.prepend = False
        self.mask = 0
        self.conditions: list[Condition] = []
        self.keys: list[str] = []
        self.arch: Arch | None = None
        self.calls_named = False
        self.key_may_follow = False
        self.key_tested = False

    def take(self, option: str, value: str) -> None:
        taker = _TAKERS.get(option)
        if taker is None:
            raise RefusedError(f"{option} can't be part of a rule", "give it its own line")
        taker(self, value)
        self.prepend = self.prepend or option == "-A"

    def finish(self) -> KernelRule:
        """Check the rule as the kernel does (`audit_data_to_entry`, AF:480), and return it."""
        if self.list is None:
            raise RefusedError(
                "the rule names neither a list nor a path to watch",
                "begin it with -a always,exit or with -w PATH",
            )
        if not self.calls_named and self.list is not FilterList.TASK:
            self.mask = ALL_CALLS
        self._check_keys(self.list)
        check_together(self.list, self.conditions)
        return KernelRule(
            list=self.list,
            action=self.action,
            mask=expand_classes(self.mask, self.target.release),
            conditions=tuple(self.conditions),
            key=KEY_SEPARATOR.join(self.keys),
            prepend=self.prepend,
            source=self.rule,
        )

    def _check_keys(self, where: FilterList) -> None:
        """Check the keys, which auditctl adds as the last field."""
        if not self.keys:
            return
        if where is FilterList.EXCLUDE:
            raise RefusedError("a rule in the list exclude takes no key", "remove it")
        if not self.key_may_follow:
            raise RefusedError(
                "a key needs a system call, a permission or a program in the same rule",
                "write -S all before the key",
            )
        if self.key_tested and len(self.keys) > 1:
            raise RefusedError("the rule has two keys", "write one -k KEY instead")
        if len(self.conditions) >= MOST_FIELDS:
            raise RefusedError(
                f"the rule has more than {MOST_FIELDS} fields, including its key",
                "split it into two rules",
            )

    # Options, as auditctl's setopt takes them ------------------------------------------------

    def take_list(self, value: str) -> None:
        where, action = _list_and_action(value)
        if self.list is not None:
            raise RefusedError("the rule names two lists or watches", "split it into two rules")
        self.list, self.action = where, action
        if self.calls_named and self.list is FilterList.TASK:
            raise RefusedError("the list task takes no system calls", "remove -S")

    def take_watch(self, value: str) -> None:
        if self.list is not None:
            raise RefusedError("-w can't be combined with -a", "write -F path= or -F dir= instead")
        check_path(value)
        path = value.rstrip("/") or "/" if len(value) > 2 else value  # noqa: PLR2004  (as it does)
        # A slash at the end says nothing to auditctl. The kernel refuses other rules than `dir` on
        # a path that ends so.
        certain = path.endswith(("/", "/.", "/.."))
        directory = True if certain else self.target.is_directory(value)
        kind = {True: "dir", False: "path", None: WATCH}[directory]
        self.list, self.calls_named, self.mask = FilterList.EXIT, True, ALL_CALLS
        self.conditions = [
            FieldTest(kind, Operator.EQUAL, path),
            FieldTest("perm", Operator.EQUAL, _ALL_PERMISSIONS),
        ]
        self.key_may_follow = True

    def take_permissions(self, value: str) -> None:
        if self.list is None:
            raise RefusedError("-p comes before the watch", "write -w PATH first")
        if not self.conditions:
            raise RefusedError("-p comes before the watched path", "write the path first")
        number = permissions(value)
        found = [at for at, test in enumerate(self.conditions) if is_test(test, "perm")]
        new = FieldTest("perm", Operator.EQUAL, number)
        for at in found:
            self.conditions[at] = new
        if not found:
            self._add(new)
        self.key_may_follow = True

    def take_calls(self, value: str) -> None:
        if self.list not in {None, FilterList.EXIT, FilterList.IO_URING}:
            raise RefusedError(
                f"the list {self.list} takes no system calls", "remove -S, or use exit"
            )
        arch = self.arch or "b64"
        self.arch = arch
        self.mask |= _mask(value, arch)
        self.calls_named = self.key_may_follow = True

    def take_key(self, value: str) -> None:
        if self.list is None or not self.key_may_follow:
            raise RefusedError(
                "-k needs a system call, a permission or a program in front of it",
                "write -S all before -k",
            )
        self._append_key(value)

    def _append_key(self, value: str) -> None:
        # Characters, as the kernel counts bytes.
        together = KEY_SEPARATOR.join([*self.keys, value]).encode(errors="surrogateescape")
        if len(together) > LONGEST_KEY:
            raise RefusedError(
                f"the rule's keys have {len(together)} bytes; {LONGEST_KEY} are allowed",
                "shorten the key",
            )
        if value:
            self.keys.append(value)

    def take_comparison(self, value: str) -> None:
        operator = Operator.NOT_EQUAL if "!=" in value else Operator.EQUAL
        one, _, other = value.partition(operator)
        if not one or not other:
            raise RefusedError(
                f"{value!r} does not compare two fields", "write, for example, uid!=euid"
            )
        for name in (one, other):
            if fold_case(name) not in FIELDS:
                raise RefusedError(f"there is no field {name!r}", nearest([name], FIELDS))
        if self.list is not FilterList.EXIT:
            raise RefusedError("-C works only in the list exit", "write it after -a always,exit")
        left, right = (ALIASES.get(name, name) for name in (fold_case(one), fold_case(other)))
        pair = next((pair for pair in ((left, right), (right, left)) if pair in COMPARABLE), None)
        if pair is None:
            raise RefusedError(
                f"{left} can't be compared with {right}",
                "-C compares user ids with user ids, group ids with group ids",
            )
        self._add(IdComparison(pair[0], operator, pair[1]))

    def take_field(self, value: str) -> None:
        if self.list is None:
            raise RefusedError(
                "-F comes before the list", "begin the rule with -a always,exit or -w"
            )
        if value.startswith("key="):
            self._append_key(value.removeprefix("key="))
            return
        read = _read_field(value, self.list)
        if read.name == "key":
            self._test_key(read.operator, read.text)
        elif read.name == "field_compare":
            self._add(_numbered_comparison(read.operator, number_of(read.text)))
        elif read.name == "arch":
            self._take_arch(read)
        else:
            self.key_may_follow = self.key_may_follow or read.name in _LET_A_KEY_FOLLOW
            self._add(read.test or self._resolve_id(read))
            if read.name == "perm" and self.arch is not None and self.target.auditctl == "4.0.2":
                self.mask |= mask_of(lookup.permission_calls(self.arch, permissions(read.text)))
                self.calls_named = True

    def _take_arch(self, read: _Read) -> None:
        if self.calls_named:
            raise RefusedError(
                "arch comes after -S, but call names depend on it",
                "write -F arch= before -S",
            )
        self.arch = arch_of(read.text)
        test = FieldTest("arch", read.operator, lookup.ARCH_NUMBERS[self.arch])
        check_operator(test)
        self._add(test)

    def _resolve_id(self, read: _Read) -> FieldTest:
        """Return the test of a user or group, whose name the target may or may not know."""
        if read.name in USERS:
            return _test(read.name, read.operator, user(read.text, self.target.users))
        return _test(read.name, read.operator, group(read.text, self.target.groups))

    def _test_key(self, operator: Operator, text: str) -> None:
        """Take a key after an operator other than `=`: for the kernel it still is a key."""
        if operator is not Operator.NOT_EQUAL or self.keys or not self.key_may_follow:
            raise RefusedError("a key can't be tested", "write -k KEY")
        self._append_key(text)
        self.key_tested = True

    def _add(self, condition: Condition) -> None:
        if len(self.conditions) >= MOST_FIELDS:
            raise RefusedError(
                f"the rule has more than {MOST_FIELDS} fields", "split it into two rules"
            )
        self.conditions.append(condition)


@dataclass(frozen=True)
class _Read:
    """A field as it is written, and its test where that depends on nothing else."""

    name: str
    operator: Operator
    text: str
    test: FieldTest | None


# Many rules say the same: what is read is kept for a while.


@lru_cache(maxsize=256)
def _list_and_action(value: str) -> tuple[FilterList, Action]:
    words = value.split(",")
    lists = [word for word in words if word in _LISTS]
    actions = [word for word in words if word in {"always", "never"}]
    if "possible" in words:
        raise RefusedError("the action `possible` no longer exists", "write always or never")
    if len(words) != 2 or len(lists) != 1 or len(actions) != 1:  # noqa: PLR2004  (a pair)
        hint = nearest([word for word in words if word not in (*lists, *actions)], _WORDS)
        raise RefusedError(
            f"{value!r} is not a list and an action joined by a comma",
            hint or "write, for example, always,exit",
        )
    return FilterList(lists[0]), Action(actions[0])


@lru_cache(maxsize=4096)
def _mask(value: str, arch: Arch) -> int:
    # Commas alone name no call at all, and auditctl takes that.
    names = [name for name in value.split(",") if name] if "," in value else [value]
    mask = 0
    for name in names:
        mask |= _ALL_BITS if name == "all" else 1 << call_number(name, arch)
    return mask


@lru_cache(maxsize=4096)
def _read_field(value: str, where: FilterList) -> _Read:
    """Return the condition of -F, checked as far as field, list and value alone allow."""
    written, operator, text = split_field(value)
    if not text:
        raise RefusedError(f"{written} has no value", f"write {written}{operator}VALUE")
    name = ALIASES.get(fold_case(written), fold_case(written))
    if name not in FIELDS:
        raise RefusedError(
            f"there is no field {written!r}",
            nearest([written], FIELDS) or "auditctl(8) lists the fields",
        )
    check_list(name, where)
    if name in _DEPEND_ON_MORE and not (name in USERS | GROUPS and text[0] in "0123456789"):
        return _Read(name, operator, text, None)
    if name in {"path", "dir", "exe"}:
        check_path(text)
    if name in USERS:
        number = user(text, {})
    else:
        number = text if name in TEXTS else READERS.get(name, number_of)(text)
    return _Read(name, operator, text, _test(name, operator, number))


def _test(name: str, operator: Operator, value: int | str) -> FieldTest:
    """Return a test as the kernel holds it."""
    test = FieldTest(name, operator, value)
    if name == "auid" and value == UNSET:
        test = FieldTest("loginuid_set", operator, 0)
    check_operator(test)
    return test


def _numbered_comparison(operator: Operator, number: int) -> IdComparison:
    """Return the comparison that stands behind `field_compare`."""
    if operator not in {Operator.EQUAL, Operator.NOT_EQUAL}:
        raise RefusedError("field_compare takes only the operators = and !=", "write -C")
    if not 0 < number <= len(COMPARISONS):
        raise RefusedError(f"there is no comparison {number}", "write -C, such as -C uid!=euid")
    left, right = COMPARISONS[number - 1]
    return IdComparison(left, operator, right)


_LET_A_KEY_FOLLOW = frozenset({"path", "dir", "exe", "perm", "fstype"})
_DEPEND_ON_MORE = USERS | GROUPS | {"arch", "key", "field_compare"}

COMPARISONS = (
    ("uid", "obj_uid"), ("gid", "obj_gid"), ("euid", "obj_uid"), ("egid", "obj_gid"),
    ("auid", "obj_uid"), ("suid", "obj_uid"), ("sgid", "obj_gid"), ("fsuid", "obj_uid"),
    ("fsgid", "obj_gid"), ("uid", "auid"), ("uid", "euid"), ("uid", "fsuid"), ("uid", "suid"),
    ("auid", "fsuid"), ("auid", "suid"), ("auid", "euid"), ("euid", "suid"), ("euid", "fsuid"),
    ("suid", "fsuid"), ("gid", "egid"), ("gid", "fsgid"), ("gid", "sgid"), ("egid", "fsgid"),
    ("egid", "sgid"), ("sgid", "fsgid"),
)  # fmt: skip
"""The pairs that -C compares, by their numbers in the kernel, from 1 (linux/audit.h)."""

COMPARABLE = frozenset(COMPARISONS)


_TAKERS: Mapping[str, Callable[[_Builder, str], None]] = MappingProxyType({
    "-a": _Builder.take_list, "-A": _Builder.take_list, "-d": _Builder.take_list,
    "-w": _Builder.take_watch, "-W": _Builder.take_watch, "-p": _Builder.take_permissions,
    "-S": _Builder.take_calls, "-F": _Builder.take_field, "-C": _Builder.take_comparison,
    "-k": _Builder.take_key,
})  # fmt: skip
