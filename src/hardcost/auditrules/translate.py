"""What auditctl 3.0.9 makes of a rule's line, and what the kernel then refuses.

The order of things is auditctl's: options from left to right, the first fault ends it. Each fault
has the column of the word that is meant, and a remedy.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from hardcost.auditrules.kernelrule import (
    ALL_CALLS,
    KEY_SEPARATOR,
    UNSET,
    Action,
    Comparison,
    FilterList,
    KernelRule,
    Operator,
    Test,
)
from hardcost.auditrules.rule import Fault, Rule, RulesError, split_options, split_words
from hardcost.auditrules.tables import lookup
from hardcost.auditrules.values import (
    ALIASES,
    BIT_FIELDS,
    EQUAL_ONLY,
    EQUAL_OR_NOT,
    EXCLUDABLE,
    EXIT_ONLY,
    FIELDS,
    GROUPS,
    READERS,
    TEXTS,
    USERS,
    RefusedError,
    arch_of,
    call_number,
    check_path,
    folded,
    group,
    nearest,
    number_of,
    permissions,
    split_field,
    user,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hardcost.auditrules.kernelrule import Condition
    from hardcost.auditrules.tables.lookup import Arch

MOST_FIELDS = 63
"""Fields that auditctl takes in a rule, its key included (AUDIT_MAX_FIELDS - 1)."""

LONGEST_KEY = 256
_ALL_PERMISSIONS = 15
_ALL_BITS = (1 << 2048) - 1
_LISTS = frozenset(name.value for name in FilterList)
_WORDS = (*sorted(_LISTS), "always", "never")


@dataclass(frozen=True)
class Target:
    """What has to be known of the machine where the rules are loaded.

    `users` and `groups` resolve names; one that is in neither stays a name. `is_directory` says of
    a path that `-w` names whether a directory lies there: auditctl asks the file system.
    """

    users: Mapping[str, int] = field(default_factory=lambda: {"root": 0})
    groups: Mapping[str, int] = field(default_factory=lambda: {"root": 0})
    is_directory: Callable[[str], bool] = lambda _path: False


ANYWHERE = Target()
"""A machine of which nothing is known; a path is a directory if a slash ends it."""


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
        raise _error(rule, refused.message, refused.remedy, column) from None


def translate_all(
    rules: Sequence[Rule], target: Target = ANYWHERE
) -> tuple[tuple[KernelRule, ...], tuple[Fault, ...]]:
    """Return the rules that can be loaded, in order, and what is wrong with the others."""
    taken: list[KernelRule] = []
    faults: list[Fault] = []
    for rule in rules:
        try:
            taken.append(translate(rule, target))
        except RulesError as error:
            faults.extend(error.faults)
    return tuple(taken), tuple(faults)


def _error(rule: Rule, message: str, remedy: str | None, column: int | None) -> RulesError:
    file, line = (rule.place.file, rule.place.line) if rule.place else ("", None)
    return RulesError((Fault(message, file, line, remedy, column),))


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
    """A rule while its options are taken, with what auditctl remembers of those before."""

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
            raise RefusedError(f"{option} can't stand in a rule", "give it its own line")
        taker(self, value)
        self.prepend = self.prepend or option == "-A"

    def finish(self) -> KernelRule:
        """Check what the kernel checks, and return the rule (`audit_data_to_entry`, AF:480)."""
        if self.list is None:
            raise RefusedError(
                "the rule says neither to which list it belongs nor what it watches",
                "begin it with -a always,exit or -w PATH",
            )
        if not self.calls_named and self.list is not FilterList.TASK:
            self.mask = ALL_CALLS
        self._check_keys(self.list)
        _check_together(self.list, self.conditions)
        return KernelRule(
            list=self.list,
            action=self.action,
            mask=_expanded(self.mask),
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
            raise RefusedError("a rule of the list exclude takes no key", "leave it out")
        if not self.key_may_follow:
            raise RefusedError(
                "a key needs a system call, a permission or a program in its rule",
                "write -S all in front of the key",
            )
        if self.key_tested and len(self.keys) > 1:
            raise RefusedError("the rule has a key twice", "write -k KEY in place of both")
        if len(self.conditions) >= MOST_FIELDS:
            raise RefusedError(
                f"the rule has more than {MOST_FIELDS} fields, its key included",
                "make two rules of it",
            )

    # Options, as auditctl's setopt takes them ------------------------------------------------

    def take_list(self, value: str) -> None:
        words = value.split(",")
        lists = [word for word in words if word in _LISTS]
        actions = [word for word in words if word in {"always", "never"}]
        if "possible" in words:
            raise RefusedError("the action `possible` is gone", "write always or never")
        if len(words) != 2 or len(lists) != 1 or len(actions) != 1:  # noqa: PLR2004  (a pair)
            hint = nearest([word for word in words if word not in (*lists, *actions)], _WORDS)
            raise RefusedError(
                f"{value!r} is not a list and an action joined by a comma",
                hint or "write one such as always,exit",
            )
        if self.list is not None:
            raise RefusedError("the rule says twice what it is for", "make two rules of it")
        self.list, self.action = FilterList(lists[0]), Action(actions[0])
        if self.calls_named and self.list is FilterList.TASK:
            raise RefusedError("the list task takes no system calls", "leave out -S")

    def take_watch(self, value: str) -> None:
        if self.list is not None:
            raise RefusedError("-w can't stand beside -a", "write -F path= or -F dir= in its place")
        check_path(value)
        path = value.rstrip("/") or "/" if len(value) > 2 else value  # noqa: PLR2004  (as it does)
        directory = value.endswith(("/", "/.", "/..")) or self.target.is_directory(path)
        self.list, self.calls_named, self.mask = FilterList.EXIT, True, ALL_CALLS
        self.conditions = [
            Test("dir" if directory else "path", Operator.EQUAL, path),
            Test("perm", Operator.EQUAL, _ALL_PERMISSIONS),
        ]
        self.key_may_follow = True

    def take_permissions(self, value: str) -> None:
        if self.list is None:
            raise RefusedError("-p stands before the watch", "write -w PATH first")
        if not self.conditions:
            raise RefusedError("-p stands before what is watched", "write the path first")
        number = permissions(value)
        found = [
            at
            for at, test in enumerate(self.conditions)
            if isinstance(test, Test) and test.field == "perm"
        ]
        new = Test("perm", Operator.EQUAL, number)
        for at in found:
            self.conditions[at] = new
        if not found:
            self._add(new)
        self.key_may_follow = True

    def take_calls(self, value: str) -> None:
        if self.list not in {None, FilterList.EXIT, FilterList.IO_URING}:
            raise RefusedError(
                f"the list {self.list} takes no system calls", "leave out -S, or use exit"
            )
        arch = self.arch or "b64"
        self.arch = arch
        # Commas alone name no call at all, and auditctl takes that.
        names = [name for name in value.split(",") if name] if "," in value else [value]
        for name in names:
            if name == "all":
                self.mask |= _ALL_BITS
            else:
                self.mask |= 1 << call_number(name, arch)
        self.calls_named = self.key_may_follow = True

    def take_key(self, value: str) -> None:
        if self.list is None or not self.key_may_follow:
            raise RefusedError(
                "-k needs a system call, a permission or a program in front of it",
                "write -S all in front of -k",
            )
        self._append_key(value)

    def _append_key(self, value: str) -> None:
        # Characters, as the kernel counts bytes.
        together = KEY_SEPARATOR.join([*self.keys, value]).encode()
        if len(together) > LONGEST_KEY:
            raise RefusedError(
                f"the rule's keys have {len(together)} bytes, and {LONGEST_KEY} are allowed",
                "shorten the key",
            )
        if value:
            self.keys.append(value)

    def take_comparison(self, value: str) -> None:
        operator = Operator.NOT_EQUAL if "!=" in value else Operator.EQUAL
        one, _, other = value.partition(operator)
        if not one or not other:
            raise RefusedError(
                f"{value!r} does not compare two fields", "write one such as uid!=euid"
            )
        for name in (one, other):
            if folded(name) not in FIELDS:
                raise RefusedError(f"there is no field {name!r}", nearest([name], FIELDS))
        if self.list is not FilterList.EXIT:
            raise RefusedError("-C belongs to the list exit alone", "write it after -a always,exit")
        left, right = (ALIASES.get(name, name) for name in (folded(one), folded(other)))
        pair = next((pair for pair in ((left, right), (right, left)) if pair in COMPARABLE), None)
        if pair is None:
            raise RefusedError(
                f"{left} can't be compared with {right}",
                "-C compares user ids with user ids, group ids with group ids",
            )
        self._add(Comparison(pair[0], operator, pair[1]))

    def take_field(self, value: str) -> None:
        if self.list is None:
            raise RefusedError(
                "-F stands before the list", "begin the rule with -a always,exit or -w"
            )
        if value.startswith("key="):
            self._append_key(value.removeprefix("key="))
            return
        name, operator, text = split_field(value)
        if not text:
            raise RefusedError(f"{name} has no value", f"write {name}{operator}VALUE")
        if folded(name) not in FIELDS:
            raise RefusedError(
                f"there is no field {name!r}",
                nearest([name], FIELDS) or "auditctl(8) lists the fields",
            )
        name = ALIASES.get(folded(name), folded(name))
        _check_list(name, self.list)
        if name == "key":
            self._test_key(operator, text)
            return
        if name == "field_compare":
            self._add(_numbered_comparison(operator, number_of(text)))
            return
        test = self._test(name, operator, text)
        _check_operator(test)
        self._add(test)

    def _test(self, name: str, operator: Operator, text: str) -> Test:
        if name == "arch":
            if self.calls_named:
                raise RefusedError(
                    "arch stands behind -S, whose names depend on it",
                    "write -F arch= in front of -S",
                )
            self.arch = arch_of(text)
            return Test(name, operator, lookup.ARCH_NUMBERS[self.arch])
        if name in {"path", "dir", "exe"}:
            self.key_may_follow = True
            check_path(text)
        if name in {"perm", "fstype"}:
            self.key_may_follow = True
        number = self._value(name, text)
        if name == "auid" and number == UNSET:
            return Test("loginuid_set", operator, 0)
        return Test(name, operator, number)

    def _value(self, name: str, text: str) -> int | str:
        if name in TEXTS:
            return text
        if name in USERS:
            return user(text, self.target.users)
        if name in GROUPS:
            return group(text, self.target.groups)
        reader = READERS.get(name, number_of)
        return reader(text)

    def _test_key(self, operator: Operator, text: str) -> None:
        """Take a key behind another operator than `=`: for the kernel it is a key all the same."""
        if operator is not Operator.NOT_EQUAL or self.keys or not self.key_may_follow:
            raise RefusedError("a key can't be tested", "write -k KEY")
        self._append_key(text)
        self.key_tested = True

    def _add(self, condition: Condition) -> None:
        if len(self.conditions) >= MOST_FIELDS:
            raise RefusedError(
                f"the rule has more than {MOST_FIELDS} fields", "make two rules of it"
            )
        self.conditions.append(condition)


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


# What fits together -----------------------------------------------------------------------------


_PLACES: Mapping[str, set[FilterList]] = {
    "fstype": {FilterList.FILESYSTEM},
    "msgtype": {FilterList.EXCLUDE, FilterList.USER},
    "sessionid": {FilterList.EXCLUDE, FilterList.USER, FilterList.EXIT},
    "field_compare": {FilterList.EXIT},
    **{field: {FilterList.EXIT, FilterList.IO_URING} for field in EXIT_ONLY},
}
"""The lists that a field belongs to, where it does not belong to all."""


def _numbered_comparison(operator: Operator, number: int) -> Comparison:
    """Return the comparison that stands behind `field_compare`."""
    if operator not in {Operator.EQUAL, Operator.NOT_EQUAL}:
        raise RefusedError("field_compare takes no operator but = and !=", "write -C")
    if not 0 < number <= len(COMPARISONS):
        raise RefusedError(f"there is no comparison {number}", "write -C, such as -C uid!=euid")
    left, right = COMPARISONS[number - 1]
    return Comparison(left, operator, right)


def _check_list(name: str, where: FilterList) -> None:
    """Check that a field may stand in a list (auditctl's checks, then the kernel's, AF:300)."""
    problems = (
        (where is FilterList.EXCLUDE and name not in EXCLUDABLE, "exclude takes"),
        (where is FilterList.FILESYSTEM and name not in {"fstype", "key"}, "filesystem takes"),
    )
    for wrong, what in problems:
        if wrong:
            allowed = EXCLUDABLE if where is FilterList.EXCLUDE else {"fstype"}
            raise RefusedError(
                f"a rule of the list {where} can't test {name}",
                f"{what} {', '.join(sorted(allowed))}",
            )
    if name in _PLACES and where not in _PLACES[name]:
        allowed_lists = " or ".join(sorted(_PLACES[name] - {FilterList.IO_URING}))
        raise RefusedError(
            f"{name} can't be tested in the list {where}", f"it belongs to {allowed_lists}"
        )


def _check_operator(test: Test) -> None:
    """Check that a field takes an operator and a value (`audit_field_valid`, AF:320)."""
    name, operator = test.field, test.operator
    shown = "auid=unset" if name == "loginuid_set" else name
    if name in EQUAL_ONLY and operator is not Operator.EQUAL:
        raise RefusedError(f"{name} takes no operator but =", f"write {name}=VALUE")
    if name in EQUAL_OR_NOT and operator not in {Operator.EQUAL, Operator.NOT_EQUAL}:
        raise RefusedError(f"{shown} takes no operator but = and !=", "use one of these")
    bits = operator in {Operator.ANY_BIT, Operator.ALL_BITS}
    if bits and name not in BIT_FIELDS:
        raise RefusedError(
            f"{name} has no bits to test", f"{operator} is for {', '.join(sorted(BIT_FIELDS))}"
        )
    if name in USERS | GROUPS and test.value == UNSET:
        raise RefusedError(f"{name} can't be compared with unset", "only auid can be unset")


def _check_together(where: FilterList, conditions: Sequence[Condition]) -> None:
    """Check what a rule may hold but once."""
    names = [test.field for test in conditions if isinstance(test, Test)]
    places = [name for name in names if name in {"path", "dir", "inode"}]
    if len(places) > 1:
        raise RefusedError(
            f"{' and '.join(places)} can't stand in one rule", "make two rules of it"
        )
    if names.count("exe") > 1:
        raise RefusedError("exe stands twice in one rule", "make two rules of it")
    for test in conditions:
        if (
            isinstance(test, Test)
            and test.field in {"path", "exe"}
            and str(test.value).endswith(("/", "/.", "/.."))
        ):
            raise RefusedError(
                f"{test.field} names a directory by how it ends",
                "leave out the end, or use dir",
            )
    if where is FilterList.IO_URING and "perm" in names:
        raise RefusedError("io_uring operations have no permissions", "leave out perm")


_CLASSES: tuple[tuple[Arch, lookup.Class], ...] = tuple(
    (arch, name)
    for name in ("dir_write", "attributes", "read", "write", "signal")
    for arch in lookup.ARCHES
)


def _expanded(mask: int) -> int:
    """Return a mask with the calls of the classes whose bits are set (AF:284)."""
    expanded = mask & ALL_CALLS
    for index, (arch, name) in enumerate(_CLASSES):
        if mask >> (2047 - index) & 1:
            for call in lookup.class_calls(arch, name):
                expanded |= 1 << call
    return expanded
