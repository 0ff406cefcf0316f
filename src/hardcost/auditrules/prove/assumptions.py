"""What an answer of the prover rests on, said in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.auditrules.kernelrule import FilterList, Test
from hardcost.auditrules.prove.atoms import plain_path
from hardcost.auditrules.prove.unresolved import names
from hardcost.auditrules.tables import lookup

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hardcost.auditrules.kernelrule import KernelRule
    from hardcost.auditrules.prove.relation import Relation


def assumptions(
    a: Sequence[KernelRule], b: Sequence[KernelRule], relation: Relation
) -> tuple[str, ...]:
    """Return what has to be so for an answer about two sets to hold."""
    return tuple(_found(a, b, relation))


def _found(a: Sequence[KernelRule], b: Sequence[KernelRule], relation: Relation) -> Iterator[str]:
    both = (*a, *b)
    fields = {test.field for rule in both for test in rule.conditions if isinstance(test, Test)}
    yield (
        "rules are read as auditctl 3.0.9 reads them and applied as Linux 6.1 applies them,"
        " on x86_64"
    )
    if "perm" in fields:
        yield (
            "permissions (perm, -p) stand for the calls that Linux 6.1.192 counts to them; a newer"
            " auditctl narrows such rules to calls of its own choice"
        )
    if "path" in fields:
        yield (
            "watched files are not replaced, made or removed while the rules are loaded: that moves"
            " the rule on the path to the front"
        )
    if fields & {"path", "exe"}:
        yield "different paths in the rules are different files: no links lead from one to another"
    if "dir" in fields:
        yield (
            "a watched file below a watched directory lies in its tree: no link leads out of it,"
            " and nothing is mounted on the way"
        )
    for alike in _alike(both):
        yield f"{' and '.join(alike)} are the same: no part of them is a symbolic link"
    unresolved = sorted({name for _, name in names(both)})
    if unresolved:
        yield f"{', '.join(unresolved)}: a number that is not known, the same in A and B"
    yield from _of_relation(relation)
    yield from _of_collecting(a, b)


def _alike(rules: Sequence[KernelRule]) -> Iterator[list[str]]:
    """Yield paths that are taken for one, though what they lead to may differ by a link.

    A slash at the end of `dir` follows a link there, as does a part before `..`.
    """
    written: dict[str, set[str]] = {}
    for rule in rules:
        for test in rule.conditions:
            if isinstance(test, Test) and test.field in {"dir", "exe", "path"}:
                path = str(test.value)
                written.setdefault(plain_path(path), set()).add(path)
    yield from (sorted(paths) for _, paths in sorted(written.items()) if len(paths) > 1)


def _of_relation(relation: Relation) -> Iterator[str]:
    if relation.no_b32:
        yield "there are no 32-bit calls: the kernel has no entry for them, or it is off"
    if relation.ignore_raised:
        yield (
            "no other part of the kernel asks for a call's record (an LSM's denial does), so that"
            " never is the same as no rule"
        )
    else:
        yield (
            "a call's record that another part of the kernel asks for, such as an LSM's denial,"
            " counts: a never rule suppresses it"
        )
    if relation.ignore_keys:
        yield "keys do not matter"


def _of_collecting(a: Sequence[KernelRule], b: Sequence[KernelRule]) -> Iterator[str]:
    """Say where what the kernel collects for a record differs, though the decisions do not."""
    if _names_signals(a) != _names_signals(b):
        yield (
            "rules of one set alone name calls that send signals: without any, records that an LSM"
            " asks for lack who received them"
        )


def _names_signals(rules: Sequence[KernelRule]) -> bool:
    numbers = {call for arch in lookup.ARCHES for call in lookup.class_calls(arch, "signal")}
    return any(
        rule.names(call) for rule in rules if rule.list is FilterList.EXIT for call in numbers
    )
