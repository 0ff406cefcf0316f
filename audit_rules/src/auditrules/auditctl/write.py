"""Writing rules: as a line that auditctl accepts, and as `auditctl -l` of audit 3.0.9 lists it.

A listing is for reading: it is not always a line that auditctl would take back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache

from auditrules.auditctl.field_rules import expand_classes
from auditrules.model.kernel_lists import by_rank
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
    bits,
    is_test,
    letters,
    mask_of,
)
from auditrules.model.rule import LONGEST_LINE, escape_word
from auditrules.tables import lookup
from auditrules.tables.lookup import Arch

_ALL_PERMISSIONS = 15  # AUDIT_PERM_EXEC, _WRITE, _READ and _ATTR
_WITH_CALLS = frozenset({FilterList.EXIT, FilterList.IO_URING})
_LET_A_KEY_FOLLOW = frozenset({"path", "dir", "perm", "exe", "fstype"})
_LONG_OPERATORS = ("!=", ">=", "<=", "&=")
_CONTROL = re.compile(r"[\x00\x01\n\x04\x07]")
"""Characters that end a line, or that auditctl 3.0.9 uses as its own marks."""

_ARGUMENTS = frozenset({"a0", "a1", "a2", "a3"})
_LISTED_CALLS = (1 << 2016) - 1
"""The calls that auditctl checks to decide whether a rule is for all calls."""

_LIST_ORDER = (
    FilterList.USER,
    FilterList.TASK,
    FilterList.EXIT,
    FilterList.EXCLUDE,
    FilterList.FILESYSTEM,
    FilterList.IO_URING,
)


class UnwritableRuleError(ValueError):
    """No line that auditctl accepts can express the rule; the message says why."""


def text_of(rule: KernelRule, classes: Sequence[int] = ()) -> str:
    """Return a line that auditctl accepts and that translates to this very rule.

    It names no file system's state: a watch is written as `-F path=` or `-F dir=`, since what `-w`
    means depends on what lies at the path; one of unknown kind stays `-w`. Calls are named where
    the ABI has a name for them. `classes` are numbers of the kernel's classes of calls, which stand
    for their calls.

    Raises:
        UnwritableError: there is no such line.
    """
    words = ["-A" if rule.prepend else "-a", f"{rule.action},{rule.list}"]
    if needs_watch_form(rule):
        words = _watch_words(rule)
    elif rule.list not in _WITH_CALLS:
        words = [*_calls_in_front(rule), *words, *_conditions_elsewhere(rule.conditions)]
    else:
        split = 1 + max(
            (at for at, test in enumerate(rule.conditions) if is_test(test, "arch")), default=-1
        )
        words += _condition_words(rule.conditions[:split])
        words += _call_words(rule, classes)
        words += _condition_words(rule.conditions[split:])
    words += _key_words(rule)
    line = " ".join(_word_of_line(word) for word in words)
    if len(line.encode(errors="surrogateescape")) > LONGEST_LINE:
        line = _shortest(rule, words, classes)
    return line


def listed_line(rule: KernelRule, names_of: Arch = "b64") -> str:
    """Return the line that `auditctl -l` prints for a rule.

    `names_of` is the ABI by which the calls of a rule without `arch` are named: that of the rule
    with an `arch` that was printed last, or else the machine's own.
    """
    if _listed_as_watch(rule):
        return "".join(_listed_condition(test, watch=True) for test in rule.conditions) + "".join(
            f" -k {key}" for key in _keys(rule)
        )
    arches = rule.tests("arch")
    parts = [f"-a {rule.action},{rule.list}"]
    parts += [f" -F arch{test.operator}{_arch_name(test)}" for test in arches]
    parts.append(_listed_calls(rule, _named_by(rule) or names_of))
    parts += [
        _listed_condition(test, watch=False)
        for test in rule.conditions
        if not is_test(test, "arch")
    ]
    parts += [f" -F key={key}" for key in _keys(rule)]
    return "".join(parts)


def listing(rules: Sequence[KernelRule]) -> tuple[str, ...]:
    """Return the output of `auditctl -l` once the rules are loaded in this order.

    The kernel gives them out by list, prepended ones first.
    """
    loaded = [rules[index] for index in by_rank(rules)]
    lines: list[str] = []
    names_of: Arch = "b64"
    for where in _LIST_ORDER:
        for rule in loaded:
            if rule.list is where:
                lines.append(listed_line(rule, names_of))
                # A listed watch has no arch, and leaves the ABI as it was.
                names_of = _named_by(rule) or names_of
    return tuple(lines)


# Lines for auditctl -----------------------------------------------------------------------------


def condition_text(condition: Condition) -> str:
    """Return a condition as it stands behind -F or -C, such as `auid>=1000`.

    Raises:
        UnwritableError: No word says it.
    """
    if isinstance(condition, IdComparison):
        return f"{condition.left}{condition.operator}{condition.right}"
    return _field_word(condition)


def _named_by(rule: KernelRule) -> Arch | None:
    """Return the ABI by which a rule's calls are named: that of its last `arch`."""
    for test in reversed(rule.tests("arch")):
        for arch, number in lookup.ARCH_NUMBERS.items():
            if number == test.value:
                return arch
    return None


def needs_watch_form(rule: KernelRule) -> bool:
    """Say whether only -w says it: a kind that is not known, or what -F takes for an operator."""
    return rule.watch is not None or any(
        isinstance(test, FieldTest)
        and test.field in {"path", "dir"}
        and any(operator in str(test.value) for operator in _LONG_OPERATORS)
        for test in rule.conditions
    )


def _watch_words(rule: KernelRule) -> list[str]:
    """Return the words of a watch, without its key."""
    first, perm = (*rule.conditions, None)[:2]
    rest = rule.conditions[2:]
    if (
        not isinstance(first, FieldTest)
        or first.field not in {"path", "dir", WATCH}
        or not isinstance(perm, FieldTest)
        or perm.field != "perm"
        or any(is_test(test, "arch") for test in rest)
        or (rule.list, rule.mask, rule.prepend) != (FilterList.EXIT, ALL_CALLS, False)
        or rule.action is not Action.ALWAYS
    ):
        message = "only -w says it, and -w says no more than that"
        raise UnwritableRuleError(message)
    slash = "/" if first.field == "dir" and first.value != "/" else ""
    return ["-w", f"{first.value}{slash}", "-p", _permissions(perm), *_condition_words(rest)]


def _condition_words(conditions: Sequence[Condition]) -> list[str]:
    words: list[str] = []
    for condition in conditions:
        if isinstance(condition, IdComparison):
            words += ["-C", f"{condition.left}{condition.operator}{condition.right}"]
        else:
            words += ["-F", _field_word(condition)]
    return words


def _conditions_elsewhere(conditions: Sequence[Condition]) -> list[str]:
    """Return the words of conditions in a list that is not for calls.

    `perm` gets there by -p alone, which needs another condition in front of it.
    """
    words: list[str] = []
    for condition in conditions:
        if is_test(condition, "perm"):
            if not words or "-p" in words:
                message = "perm belongs to the list exit"
                raise UnwritableRuleError(message)
            words += ["-p", _permissions(condition)]
        else:
            words += _condition_words([condition])
    return words


def _field_word(test: FieldTest) -> str:
    """Return a field as -F takes it."""
    name = "auid" if test.field == "loginuid_set" else test.field
    value = _value(test)
    sought = _LONG_OPERATORS[: (*_LONG_OPERATORS, test.operator).index(test.operator)]
    if isinstance(test.value, str) and any(operator in value for operator in sought):
        message = f"the value of {name} holds an operator: {value!r}"
        raise UnwritableRuleError(message)
    if not value:
        message = f"{name} is compared with nothing"
        raise UnwritableRuleError(message)
    return f"{name}{test.operator}{value}"


def _value(test: FieldTest) -> str:
    """Return a test's value as auditctl reads it."""
    if isinstance(test.value, str):
        return test.value
    writer = _WRITERS.get(test.field)
    return writer(test) if writer else str(test.value)


def _unset(_test: FieldTest) -> str:
    return "unset"


def _arch_name(test: Condition) -> str:
    value = test.value if isinstance(test, FieldTest) else None
    for arch, number in lookup.ARCH_NUMBERS.items():
        if number == value:
            return arch
    return f"0x{value:X}" if isinstance(value, int) else str(value)


def _permissions(test: FieldTest) -> str:
    number = int(test.value)
    if not 0 < number <= _ALL_PERMISSIONS:
        message = f"perm can't be {number}"
        raise UnwritableRuleError(message)
    return letters(number)


def _exit_code(test: FieldTest) -> str:
    number = _signed_value(test)
    name = _error_names().get(-number) if number < 0 else None
    return f"-{name}" if name else str(number)


def _signed_value(test: FieldTest) -> int:
    number = int(test.value)
    return number - (1 << 32) if number > UNSET >> 1 else number


def _name_from(names: Callable[[], Mapping[int, str]]) -> Callable[[FieldTest], str]:
    return lambda test: names().get(int(test.value), str(test.value))


@cache
def _error_names() -> Mapping[int, str]:
    return _by_number(lookup.errors())


@cache
def _record_names() -> Mapping[int, str]:
    return _by_number(lookup.records())


@cache
def _file_system_names() -> Mapping[int, str]:
    return _by_number(lookup.FILE_SYSTEMS)


def _by_number(numbers: Mapping[str, int]) -> Mapping[int, str]:
    """Return the names by number; the first of several names holds."""
    return {number: name for name, number in reversed(list(numbers.items()))}


def _file_type(test: FieldTest) -> str:
    for name, number in lookup.FILE_TYPES.items():
        if number == test.value:
            return name
    message = f"there is no file type {test.value}"
    raise UnwritableRuleError(message)


def _session(test: FieldTest) -> str:
    return "unset" if test.value == UNSET else str(test.value)


def _hexadecimal(test: FieldTest) -> str:
    return f"0x{int(test.value):X}"


_WRITERS: Mapping[str, Callable[[FieldTest], str]] = {
    "arch": _arch_name,
    "loginuid_set": _unset,
    "perm": _permissions,
    "exit": _exit_code,
    "msgtype": _name_from(_record_names),
    "fstype": _name_from(_file_system_names),
    "filetype": _file_type,
    "sessionid": _session,
    **dict.fromkeys(_ARGUMENTS, _hexadecimal),
}


def _call_words(rule: KernelRule, classes: Sequence[int]) -> list[str]:
    """Return the -S of a rule that takes calls."""
    if rule.mask == ALL_CALLS:
        # auditctl takes all calls by itself; newer ones only those that the permissions are for.
        return [] if bool(rule.tests("perm")) else ["-S", "all"]
    return [
        "-S",
        ",".join([*_call_names(_without_classes(rule, classes)), *map(str, classes)]) or ",",
    ]


def _without_classes(rule: KernelRule, classes: Sequence[int]) -> KernelRule:
    """Return a rule for the calls that it names beside those of classes."""
    if rule.mask > ALL_CALLS:
        raise UnwritableRuleError(_NO_CALLS)
    by_class = expand_classes(mask_of(classes))
    return replace(rule, mask=rule.mask & ~by_class) if classes else rule


def _calls_in_front(rule: KernelRule) -> list[str]:
    """Return the -S of a rule whose list takes no calls: auditctl lets it stand before the list.

    The kernel doesn't look at them there; but a key may follow.
    """
    plain = 0 if rule.list is FilterList.TASK else ALL_CALLS
    if rule.mask == plain and (not rule.key or rule.tests(*_LET_A_KEY_FOLLOW)):
        return []
    if rule.list is FilterList.TASK or rule.tests("arch"):
        message = f"a rule of the list {rule.list} takes no calls, nor a key without a program"
        raise UnwritableRuleError(message)
    return ["-S", "all" if rule.mask == ALL_CALLS else _call_list(rule)]


_NO_CALLS = "its mask has bits that stand for no call"


def _call_list(rule: KernelRule) -> str:
    if rule.mask > ALL_CALLS:
        raise UnwritableRuleError(_NO_CALLS)
    return ",".join(_call_names(rule)) or ","


def _call_names(rule: KernelRule, names_of: Arch = "b64") -> list[str]:
    """Return the calls in a rule's mask, lowest number first; numbers for those without a name."""
    arch = _named_by(rule) or names_of
    names = {} if rule.list is FilterList.IO_URING else lookup.call_names(arch)
    return [names.get(number, str(number)) for number in bits(rule.mask)]


def _keys(rule: KernelRule) -> list[str]:
    return [key for key in rule.key.split(KEY_SEPARATOR) if key]


def _key_words(rule: KernelRule) -> list[str]:
    keys = _keys(rule)
    if keys and rule.list is FilterList.EXCLUDE:
        message = "a rule of the list exclude takes no key"
        raise UnwritableRuleError(message)
    return [word for key in keys for word in ("-k", key)]


def _word_of_line(word: str) -> str:
    """Return a word as a line has it."""
    control = _CONTROL.search(word)
    if control:
        message = f"{word!r} holds the control character {control[0]!r}"
        raise UnwritableRuleError(message)
    return escape_word(word)


def _shortest(rule: KernelRule, words: Sequence[str], classes: Sequence[int]) -> str:
    """Return the rule's line with each call as number or name, whichever is shorter."""
    at = words.index("-S") + 1 if "-S" in words else 0
    if at and rule.mask not in {0, ALL_CALLS}:
        named = _without_classes(rule, classes)
        pairs = zip(_call_names(named), bits(named.mask), strict=True)
        shortest = [min(name, str(number), key=len) for name, number in pairs]
        calls = ",".join([*shortest, *map(str, classes)])
        line = " ".join(
            [*map(_word_of_line, words[:at]), calls, *map(_word_of_line, words[at + 1 :])]
        )
        if len(line.encode(errors="surrogateescape")) <= LONGEST_LINE:
            return line
    message = f"its line would have more than {LONGEST_LINE} bytes"
    raise UnwritableRuleError(message)


# Listings, as auditctl-listing.c has them -------------------------------------------------------


def _listed_as_watch(rule: KernelRule) -> bool:
    """Say whether a rule is listed in the form of -w; its action is not looked at."""
    return (
        bool(rule.tests("perm"))
        and rule.mask & _LISTED_CALLS == _LISTED_CALLS
        and all(is_test(test, "path", "dir", WATCH, "perm") for test in rule.conditions)
    )


def _listed_calls(rule: KernelRule, arch: Arch) -> str:
    if rule.list not in _WITH_CALLS or not rule.mask:
        return ""
    if rule.mask & _LISTED_CALLS == _LISTED_CALLS:
        return " -S all"
    return f" -S {','.join(_call_names(rule, arch))}"


def _listed_condition(condition: Condition, *, watch: bool) -> str:
    if isinstance(condition, IdComparison):
        return f" -C {condition.left}{condition.operator}{condition.right}"
    name, operator = condition.field, condition.operator
    if watch and name in {"path", "dir", WATCH}:
        return f"-w {condition.value}"
    if watch and name == "perm":
        return f" -p {_listed_permissions(condition)}"
    if name == "loginuid_set":
        return f" -F auid{operator}-1"
    if name == "exe":  # the operator is lost in audit 3.0.9
        operator = Operator.EQUAL
    return f" -F {name}{operator}{_listed_value(condition)}"


def _listed_permissions(test: FieldTest) -> str:
    return letters(int(test.value))


def _listed_value(test: FieldTest) -> str:
    if isinstance(test.value, str):
        return test.value
    if test.field == "perm":
        return _listed_permissions(test)
    if test.field in {"exit", "msgtype", "fstype", "inode"} | _ARGUMENTS:
        value = _value(test)
        if test.field == "inode" or not value.isdecimal():
            return value
    return str(_signed_value(test))
