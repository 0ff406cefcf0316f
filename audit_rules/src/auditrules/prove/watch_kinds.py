"""Watches whose path may or may not be a directory, proved for both kinds.

Such a watch is split into two rules of the same rank, one of which applies: `dir` if the path is a
directory, else `path`. Which one applies is an unknown of the proof like any other, the same for
both sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from auditrules.model.kernel_rule import WATCH, FieldTest, KernelRule, Operator, is_test
from auditrules.model.rule import plain_path
from auditrules.prove.formulas import IS_DIRECTORY


def split_kinds(rules: Iterable[KernelRule]) -> tuple[KernelRule, ...]:
    """Return the rules with each watch of unknown kind split into two."""
    found: list[KernelRule] = []
    for rule in rules:
        if rule.watch is None:
            found.append(rule)
            continue
        for operator in (Operator.NOT_EQUAL, Operator.EQUAL):
            known = rule.with_kind(directory=operator is Operator.EQUAL)
            kind = FieldTest(IS_DIRECTORY, operator, plain_path(rule.watch))
            found.append(replace(known, conditions=(*known.conditions, kind)))
    return tuple(found)


def settle_kinds(
    rules: Iterable[KernelRule], is_directory: Callable[[str], bool]
) -> tuple[KernelRule, ...]:
    """Return rules in which each watch is of the kind that its plain path has."""
    return tuple(
        rule.with_kind(directory=rule.watch is not None and is_directory(plain_path(rule.watch)))
        for rule in rules
    )


def unknown_paths(rules: Iterable[KernelRule]) -> tuple[str, ...]:
    """Return the plain paths whose kind the rules leave open, sorted."""
    return tuple(sorted({plain_path(rule.watch) for rule in rules if rule.watch is not None}))


def surely_directories(rules: Sequence[KernelRule]) -> frozenset[str]:
    """Return the unknown paths that must be directories, since other paths lie below them.

    A rule loads only if the parent directory of its path exists.
    """
    named = {
        plain_path(str(test.value))
        for rule in rules
        for test in rule.conditions
        if is_test(test, "path", "dir", "exe", WATCH)
    }
    above = {path[:at] for path in named for at, sign in enumerate(path) if sign == "/"}
    return frozenset(unknown_paths(rules)) & above
