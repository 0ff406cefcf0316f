"""What auditctl 3.0.9 makes of a rule's line, and what the kernel then refuses.

The order of things is auditctl's: options from left to right, the first fault ends it. Each fault
has the column of the word that is meant, and a remedy.
"""

from __future__ import annotations

import difflib
import re
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

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hardcost.auditrules.kernelrule import Condition
    from hardcost.auditrules.tables.lookup import Arch

MOST_FIELDS = 63
"""Fields that auditctl takes in a rule (AUDIT_MAX_FIELDS - 1)."""

LONGEST_KEY = 256
LONGEST_PATH = 4096

_PERMISSIONS = {"r": 4, "w": 2, "x": 1, "a": 8}
_ALL_PERMISSIONS = 15


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


class _RefusedError(Exception):
    """The rule can't be loaded, for the option that is being taken."""

    def __init__(self, message: str, remedy: str | None = None) -> None:
        super().__init__(message)
        self.message, self.remedy = message, remedy


def translate(rule: Rule, target: Target = ANYWHERE) -> KernelRule:
    """Return the rule as the kernel would hold it.

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
    except _RefusedError as refused:
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
        self.path_at: int | None = None

    def take(self, option: str, value: str) -> None:
        takers: Mapping[str, Callable[[str], None]] = {
            "-a": self._take_list, "-A": self._take_list, "-w": self._take_watch,
            "-p": self._take_permissions, "-S": self._take_calls, "-F": self._take_field,
            "-C": self._take_comparison, "-k": self._take_key,
        }  # fmt: skip
        taker = takers.get(option)
        if taker is None:
            raise _RefusedError(f"{option} can't stand in a rule", "give it its own line")
        taker(value)
        self.prepend = self.prepend or option == "-A"

    def finish(self) -> KernelRule:
        """Check what the kernel checks, and return the rule (`audit_data_to_entry`, AF:480)."""
        if self.list is None:
            raise _RefusedError(
                "the rule says neither to which list it belongs nor what it watches",
                "begin it with -a always,exit or -w PATH",
            )
        if not self.calls_named and self.list is not FilterList.TASK:
            self.mask = ALL_CALLS
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

    # Options, as auditctl's setopt takes them ------------------------------------------------

    def _take_list(self, value: str) -> None:
        words = value.split(",")
        lists = [word for word in words if word in _LISTS]
        actions = [word for word in words if word in {"always", "never"}]
        if "possible" in words:
            raise _RefusedError("the action `possible` is gone", "write always or never")
        if len(words) != 2 or len(lists) != 1 or len(actions) != 1:  # noqa: PLR2004  (a pair)
            hint = _nearest([word for word in words if word not in (*lists, *actions)], _WORDS)
            raise _RefusedError(
                f"{value!r} is not a list and an action joined by a comma",
                hint or "write one such as always,exit",
            )
        if self.list is not None:
            raise _RefusedError("the rule says twice what it is for", "make two rules of it")
        self.list, self.action = FilterList(lists[0]), Action(actions[0])
        if self.calls_named and self.list is not FilterList.EXIT:
            raise _RefusedError(f"the list {self.list} takes no system calls", "leave out -S")

    def _take_watch(self, value: str) -> None:
        if self.list is not None:
            raise _RefusedError(
                "-w can't stand beside -a", "write -F path= or -F dir= in its place"
            )
        _check_path(value)
        path = value.rstrip("/") or "/"
        directory = value.endswith("/") or self.target.is_directory(path)
        self.list, self.calls_named, self.mask = FilterList.EXIT, True, ALL_CALLS
        self.conditions = [
            Test("dir" if directory else "path", Operator.EQUAL, path),
            Test("perm", Operator.EQUAL, _ALL_PERMISSIONS),
        ]
        self.key_may_follow = True

    def _take_permissions(self, value: str) -> None:
        if self.list is None:
            raise _RefusedError("-p stands before the watch", "write -w PATH first")
        if not self.conditions:
            raise _RefusedError("-p stands before what is watched", "write the path first")
        number = _permissions(value)
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

    def _take_calls(self, value: str) -> None:
        if self.list not in {None, FilterList.EXIT, FilterList.IO_URING}:
            raise _RefusedError(
                f"the list {self.list} takes no system calls", "leave out -S, or use exit"
            )
        arch = self.arch or "b64"
        self.arch = arch
        names = [name for name in value.split(",") if name] or [value]
        for name in names:
            if name == "all":
                self.mask |= (1 << 2048) - 1
            else:
                self.mask |= 1 << _call_number(name, arch)
        self.calls_named = self.key_may_follow = True

    def _take_key(self, value: str) -> None:
        if self.list is None or not self.key_may_follow:
            raise _RefusedError(
                "-k needs a system call, a permission or a program in front of it",
                "write -S all in front of -k",
            )
        self._append_key(value)

    def _append_key(self, value: str) -> None:
        # Characters, as the kernel counts bytes.
        together = KEY_SEPARATOR.join([*self.keys, value]).encode()
        if len(together) > LONGEST_KEY:
            raise _RefusedError(
                f"the rule's keys have {len(together)} bytes, and {LONGEST_KEY} are allowed",
                "shorten the key",
            )
        if value:
            self.keys.append(value)

    def _take_comparison(self, value: str) -> None:
        found = re.fullmatch(r"(.*?)(!=|=)(.*)", value, re.DOTALL)
        if found is None or not found[1] or not found[3]:
            raise _RefusedError(
                f"{value!r} does not compare two fields", "write one such as uid!=euid"
            )
        for name in (found[1], found[3]):
            if name not in _FIELDS:
                raise _RefusedError(f"there is no field {name!r}", _nearest([name], _FIELDS))
        if self.list is not FilterList.EXIT:
            raise _RefusedError(
                "-C belongs to the list exit alone", "write it after -a always,exit"
            )
        left, right = (_ALIASES.get(name, name) for name in (found[1], found[3]))
        pair = next((pair for pair in ((left, right), (right, left)) if pair in COMPARABLE), None)
        if pair is None:
            raise _RefusedError(
                f"{left} can't be compared with {right}",
                "-C compares user ids with user ids, group ids with group ids",
            )
        self._add(Comparison(pair[0], Operator(found[2]), pair[1]))

    def _take_field(self, value: str) -> None:
        if self.list is None:
            raise _RefusedError(
                "-F stands before the list", "begin the rule with -a always,exit or -w"
            )
        if value.startswith("key="):
            self._append_key(value.removeprefix("key="))
            return
        name, operator, text = _split_field(value)
        if not text:
            raise _RefusedError(f"{name} has no value", f"write {name}{operator}VALUE")
        if name not in _FIELDS:
            raise _RefusedError(
                f"there is no field {name!r}",
                _nearest([name], _FIELDS) or "auditctl(8) lists the fields",
            )
        name = _ALIASES.get(name, name)
        _check_list(name, self.list)
        test = self._test(name, operator, text)
        _check_operator(test)
        self._add(test)

    def _test(self, name: str, operator: Operator, text: str) -> Test:
        if name == "arch":
            if self.calls_named:
                raise _RefusedError(
                    "arch stands behind -S, whose names depend on it",
                    "write -F arch= in front of -S",
                )
            self.arch = arch_of(text)
            return Test(name, operator, lookup.ARCH_NUMBERS[self.arch])
        if name in {"path", "dir", "exe"}:
            self.key_may_follow = True
            _check_path(text)
        if name == "key":  # not `=`: the kernel takes it for a key that it ignores
            raise _RefusedError("a key can't be tested", "write -k KEY")
        if name in {"perm", "fstype"}:
            self.key_may_follow = True
        number = self._value(name, text)
        if name == "auid" and number == UNSET:
            return Test("loginuid_set", operator, 0)
        return Test(name, operator, number)

    def _value(self, name: str, text: str) -> int | str:
        if name in _TEXTS:
            return text
        if name in _USERS:
            return _user(text, self.target.users)
        if name in _GROUPS:
            return _group(text, self.target.groups)
        reader = _READERS.get(name, _number)
        return reader(text)

    def _add(self, condition: Condition) -> None:
        if len(self.conditions) >= MOST_FIELDS:
            raise _RefusedError(
                f"the rule has more than {MOST_FIELDS} fields", "make two rules of it"
            )
        self.conditions.append(condition)


# Words and numbers ------------------------------------------------------------------------------

_LISTS = frozenset(name.value for name in FilterList)
_WORDS = (*sorted(_LISTS), "always", "never")
_ALIASES = {"loginuid": "auid"}
_USERS = frozenset({"uid", "euid", "suid", "fsuid", "auid", "obj_uid"})
_GROUPS = frozenset({"gid", "egid", "sgid", "fsgid", "obj_gid"})
_SUBJECT = frozenset({"subj_user", "subj_role", "subj_type", "subj_sen", "subj_clr"})
_OBJECT = frozenset({"obj_user", "obj_role", "obj_type", "obj_lev_low", "obj_lev_high"})
_TEXTS = frozenset({"path", "dir", "exe", "key"}) | _SUBJECT | _OBJECT
_ARGUMENTS = frozenset({"a0", "a1", "a2", "a3"})
_FIELDS = (
    frozenset({
        "pid", "pers", "arch", "msgtype", "ppid", "sessionid", "devmajor", "devminor", "inode",
        "exit", "success", "perm", "filetype", "fstype", "saddr_fam", "loginuid",
    })
    | _USERS | _GROUPS | _TEXTS | _ARGUMENTS
)  # fmt: skip
_EXIT_ONLY = _OBJECT | {
    "exit", "path", "dir", "perm", "filetype", "devmajor", "devminor", "inode", "success", "ppid",
}  # fmt: skip
_EXCLUDABLE = _SUBJECT | {"pid", "uid", "gid", "auid", "msgtype", "exe", "key"}
_EQUAL_ONLY = frozenset({"path", "dir", "perm"})
_EQUAL_OR_NOT = frozenset({
    "arch", "exe", "inode", "filetype", "fstype", "loginuid_set", "key", "subj_user", "subj_role",
    "subj_type", "obj_user", "obj_role", "obj_type",
})  # fmt: skip
_BIT_FIELDS = _ARGUMENTS | {"pers", "devminor"}

COMPARABLE = frozenset({
    ("uid", "obj_uid"), ("gid", "obj_gid"), ("euid", "obj_uid"), ("egid", "obj_gid"),
    ("auid", "obj_uid"), ("suid", "obj_uid"), ("sgid", "obj_gid"), ("fsuid", "obj_uid"),
    ("fsgid", "obj_gid"), ("uid", "auid"), ("uid", "euid"), ("uid", "fsuid"), ("uid", "suid"),
    ("auid", "fsuid"), ("auid", "suid"), ("auid", "euid"), ("euid", "suid"), ("euid", "fsuid"),
    ("suid", "fsuid"), ("gid", "egid"), ("gid", "fsgid"), ("gid", "sgid"), ("egid", "fsgid"),
    ("egid", "sgid"), ("sgid", "fsgid"),
})  # fmt: skip
"""The pairs that -C compares, in the order of the kernel's constants (AUDIT_COMPARE_…)."""

_AF_MAX = 46  # linux/socket.h


def arch_of(text: str) -> Arch:
    """Return the ABI that a value of `arch` means on x86_64.

    Raises:
        _RefusedError: auditctl knows no such architecture, or the machine has it not.
    """
    known: Mapping[str, Arch] = MappingProxyType({
        "b64": "b64", "x86_64": "b64", "b32": "b32", "i386": "b32", "i486": "b32", "i586": "b32",
        "i686": "b32",
    })  # fmt: skip
    name = text.lower() if text.lower() in {"b64", "b32"} else text
    if name in known:
        return known[name]
    if re.fullmatch(r"(0[xX])?[0-9a-fA-F]+", text):
        base = 0 if text[0].isdigit() else 16
        number = _c_number(text, base)
        for arch, own in lookup.ARCH_NUMBERS.items():
            if number == own:
                return arch
    hint = _nearest([text.lower()], known)
    raise _RefusedError(
        f"there is no architecture {text!r} on x86_64", hint or "write arch=b64 or arch=b32"
    )


def _split_field(value: str) -> tuple[str, Operator, str]:
    """Split at an operator as auditctl does: those of two characters first, wherever they stand."""
    for operator in ("!=", ">=", "<=", "&=", "=", ">", "<", "&"):
        at = value.find(operator)
        if at >= 0:
            if at == 0:
                break
            return value[:at], Operator(operator), value[at + len(operator) :]
    raise _RefusedError(f"{value!r} has no field and operator", "write one such as auid>=1000")


_NEVER_CALLS = {
    "fini_module": "delete_module unloads a module; finit_module loads one from an open file",
}
"""Names that published rules use, and that no version of Linux has had."""


def _call_number(name: str, arch: Arch) -> int:
    number = lookup.calls(arch).get(name)
    if number is None and name[:1].isdigit():
        number = _c_number(name, 0)
    if number is not None and number < 2048:  # noqa: PLR2004  (the mask's bits)
        return number
    other: Arch = "b32" if arch == "b64" else "b64"
    if name in _NEVER_CALLS:
        remedy = _NEVER_CALLS[name]
    elif name in lookup.calls(other):
        remedy = f"{other} has it and {arch} has not: write it under arch={other} alone"
    else:
        remedy = _nearest([name], lookup.calls(arch)) or "`ausyscall --dump` lists the names"
    raise _RefusedError(f"{arch} has no system call {name!r}", remedy)


def _permissions(text: str) -> int:
    if len(text) > len(_PERMISSIONS):
        raise _RefusedError(f"the permissions {text!r} are too long", "r, w, x and a, each once")
    wrong = [letter for letter in text if letter.lower() not in _PERMISSIONS]
    if wrong:
        raise _RefusedError(f"there is no permission {wrong[0]!r}", "the letters are r, w, x and a")
    number = 0
    for letter in text:
        number |= _PERMISSIONS[letter.lower()]
    return number


def _c_number(text: str, base: int = 0) -> int:
    """Return what C's strtoul makes of the digits at the start of a text, in 32 bits."""
    found = re.match(r"-?(0[xX][0-9a-fA-F]+|\d+)", text) if base == 0 else None
    digits = found[0] if found else text
    sign = -1 if digits.startswith("-") else 1
    digits = digits.removeprefix("-")
    if base == 16 or digits[:2] in {"0x", "0X"}:  # noqa: PLR2004
        return sign * int(digits, 16) & UNSET
    if digits.startswith("0") and len(digits) > 1:
        octal = re.match(r"[0-7]+", digits)
        return sign * int(octal[0] if octal else "0", 8) & UNSET
    return sign * int(digits) & UNSET


def _is_number(text: str) -> bool:
    return re.match(r"-?[0-9]", text) is not None


def _number(text: str) -> int:
    if not text[:1].isdigit():
        raise _RefusedError(f"{text!r} is not a number", "write a number")
    return _c_number(text)


def _signed(text: str) -> int:
    if not _is_number(text):
        raise _RefusedError(f"{text!r} is not a number", "write a number")
    return _c_number(text)


def _session(text: str) -> int:
    if text == "unset":
        return UNSET
    return _signed(text)


def _user(text: str, users: Mapping[str, int]) -> int | str:
    if text == "unset":
        return UNSET
    if _is_number(text):
        return _c_number(text)
    return users.get(text, text)


def _group(text: str, groups: Mapping[str, int]) -> int | str:
    if text[:1].isdigit():
        return _c_number(text)
    return groups.get(text, text)


def _exit_code(text: str) -> int:
    if _is_number(text):
        return _c_number(text)
    name = text.removeprefix("-")
    if name not in lookup.errors():
        raise _RefusedError(
            f"there is no error {name!r}",
            _nearest([name], lookup.errors()) or "name it as errno(3) does: exit=-EACCES",
        )
    number = lookup.errors()[name]
    return (-number if text.startswith("-") else number) & UNSET


def _record_type(text: str) -> int:
    if text[:1].isdigit():
        return _c_number(text)
    if text not in lookup.records():
        raise _RefusedError(
            f"there is no record type {text!r}",
            _nearest([text], lookup.records()) or "auditctl(8) says what msgtype takes",
        )
    return lookup.records()[text]


def _file_type(text: str) -> int:
    if text not in lookup.FILE_TYPES:
        raise _RefusedError(
            f"there is no file type {text!r}", f"there are {', '.join(lookup.FILE_TYPES)}"
        )
    return lookup.FILE_TYPES[text]


def _file_system(text: str) -> int:
    if text[:1].isdigit():
        return _c_number(text)
    if text not in lookup.FILE_SYSTEMS:
        raise _RefusedError(
            f"there is no file system {text!r}",
            f"there are {', '.join(lookup.FILE_SYSTEMS)}, and numbers",
        )
    return lookup.FILE_SYSTEMS[text]


def _family(text: str) -> int:
    number = _c_number(text) if text[:1].isdigit() else 0
    if number >= _AF_MAX:
        raise _RefusedError(f"{text} is no address family", f"the largest is {_AF_MAX - 1}")
    return number


_READERS: Mapping[str, Callable[[str], int]] = MappingProxyType({
    "exit": _exit_code, "msgtype": _record_type, "filetype": _file_type, "fstype": _file_system,
    "perm": _permissions, "sessionid": _session, "saddr_fam": _family,
    **dict.fromkeys(_ARGUMENTS, _signed),
})  # fmt: skip


def _check_path(path: str) -> None:
    if not path.startswith("/"):
        raise _RefusedError(f"the path {path!r} does not begin with /", "write the whole path")
    if len(path.encode(errors="surrogateescape")) > LONGEST_PATH:
        raise _RefusedError("the path is too long", f"{LONGEST_PATH} bytes are allowed")
    if path.rstrip("/").endswith(("/..", "/.")) or "/../" in path:
        raise _RefusedError(f"the path {path!r} goes up again", "write it without ..")


# What fits together -----------------------------------------------------------------------------


_PLACES: Mapping[str, set[FilterList]] = {
    "fstype": {FilterList.FILESYSTEM},
    "msgtype": {FilterList.EXCLUDE, FilterList.USER},
    "sessionid": {FilterList.EXCLUDE, FilterList.USER, FilterList.EXIT},
    **{field: {FilterList.EXIT, FilterList.IO_URING} for field in _EXIT_ONLY},
}
"""The lists that a field belongs to, where it does not belong to all."""


def _check_list(name: str, where: FilterList) -> None:
    """Check that a field may stand in a list (auditctl's checks, then the kernel's, AF:300)."""
    problems = (
        (where is FilterList.EXCLUDE and name not in _EXCLUDABLE, "exclude takes"),
        (where is FilterList.FILESYSTEM and name not in {"fstype", "key"}, "filesystem takes"),
    )
    for wrong, what in problems:
        if wrong:
            allowed = _EXCLUDABLE if where is FilterList.EXCLUDE else {"fstype"}
            raise _RefusedError(
                f"a rule of the list {where} can't test {name}",
                f"{what} {', '.join(sorted(allowed - {'key'}))}",
            )
    if name in _PLACES and where not in _PLACES[name]:
        allowed_lists = " or ".join(sorted(_PLACES[name] - {FilterList.IO_URING}))
        raise _RefusedError(
            f"{name} can't be tested in the list {where}", f"it belongs to {allowed_lists}"
        )


def _check_operator(test: Test) -> None:
    """Check that a field takes an operator and a value (`audit_field_valid`, AF:320)."""
    name, operator = test.field, test.operator
    shown = "auid=unset" if name == "loginuid_set" else name
    if name in _EQUAL_ONLY and operator is not Operator.EQUAL:
        raise _RefusedError(f"{name} takes no operator but =", f"write {name}=VALUE")
    if name in _EQUAL_OR_NOT and operator not in {Operator.EQUAL, Operator.NOT_EQUAL}:
        raise _RefusedError(f"{shown} takes no operator but = and !=", "use one of these")
    bits = operator in {Operator.ANY_BIT, Operator.ALL_BITS}
    if bits and name not in _BIT_FIELDS:
        raise _RefusedError(
            f"{name} has no bits to test", f"{operator} is for {', '.join(sorted(_BIT_FIELDS))}"
        )
    if name in _USERS | _GROUPS and test.value == UNSET:
        raise _RefusedError(f"{name} can't be compared with unset", "only auid can be unset")


def _check_together(where: FilterList, conditions: Sequence[Condition]) -> None:
    """Check what a rule may hold but once."""
    names = [test.field for test in conditions if isinstance(test, Test)]
    places = [name for name in names if name in {"path", "dir", "inode"}]
    if len(places) > 1:
        raise _RefusedError(
            f"{' and '.join(places)} can't stand in one rule", "make two rules of it"
        )
    if names.count("exe") > 1:
        raise _RefusedError("exe stands twice in one rule", "make two rules of it")
    for test in conditions:
        if (
            isinstance(test, Test)
            and test.field in {"path", "exe"}
            and str(test.value).endswith("/")
        ):
            raise _RefusedError(
                f"{test.field} names a directory by its last slash",
                "leave out the slash, or use dir",
            )
    if where is FilterList.IO_URING and "perm" in names:
        raise _RefusedError("io_uring operations have no permissions", "leave out perm")


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


def _nearest(
    words: Sequence[str], known: Mapping[str, object] | Sequence[str] | frozenset[str]
) -> str | None:
    """Return a question after the known word that is closest to one of these."""
    for word in words:
        close = difflib.get_close_matches(word, list(known), n=1)
        if close:
            return f"did you mean {close[0]}?"
    return None
