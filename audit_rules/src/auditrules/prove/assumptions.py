"""The assumptions of an answer of the prover, in words.

Each has a code, with which a bench violates it on a kernel and looks for the difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from auditrules.model.kernel_rule import WATCH, FieldTest, KernelRule, is_test
from auditrules.model.rule import plain_path, split_words
from auditrules.prove.formulas import OBJECT_LABELS
from auditrules.prove.relation import Assumption, Relation
from auditrules.prove.unknown_ids import names
from auditrules.tables import lookup
from auditrules.tables.lookup import Release

_LABELS = frozenset({
    "subj_user", "subj_role", "subj_type", "subj_sen", "subj_clr", *OBJECT_LABELS,
})  # fmt: skip


def assumptions(
    a: Sequence[KernelRule],
    b: Sequence[KernelRule],
    relation: Relation,
    release: Release = lookup.OLDEST,
) -> tuple[Assumption, ...]:
    """Return the assumptions of an answer about two sets, under a release of Linux."""
    return tuple(
        Assumption(code, text)
        for code, text in (
            *_of_loading(a, b),
            *_of_files((*a, *b)),
            *_of_meaning((*a, *b), release),
            *_of_relation(relation),
        )
    )


def under_releases(
    found: tuple[Assumption, ...], releases: Sequence[Release]
) -> tuple[Assumption, ...]:
    """Return the assumptions of an answer that was found under each of several releases."""
    said = ", ".join(releases)
    return tuple(
        Assumption(
            one.code,
            f"permissions (perm, -p) cover the calls that Linux {said} assign to them",
        )
        if one.code == "permissions" and len(releases) > 1
        else one
        for one in found
    )


def _fields(rules: Sequence[KernelRule]) -> set[str]:
    return {test.field for rule in rules for test in rule.conditions if isinstance(test, FieldTest)}


def _of_loading(a: Sequence[KernelRule], b: Sequence[KernelRule]) -> Iterator[tuple[str, str]]:
    both = (*a, *b)
    yield (
        "tools",
        (
            "rules are read as auditctl 3.0.9 reads them and applied as Linux 6.1 applies them, on"
            " x86_64"
        ),
    )
    there = []
    if "dir" in _fields(both):
        there.append("each directory that a rule watches exists")
    if _fields(both) & {"path", "exe", WATCH}:
        there.append("the folder of each watched file or program exists")
    if any(True for _ in names(both)):
        there.append("each user and group is known")
    needs = f": {', '.join(there)}" if there else ""
    yield (
        "loaded",
        f"each set is loaded completely, on its own, into an empty list of rules{needs}",
    )
    yield (
        "settings",
        "control settings (-b, -e, -f, -r and similar) are not compared, and no record is lost",
    )


def _of_files(both: Sequence[KernelRule]) -> Iterator[tuple[str, str]]:
    fields = _fields(both)
    trees, others = _known_kinds(both)
    if trees:
        yield "kinds", f"{', '.join(trees)}: a directory, so -w watches everything in it"
    if others:
        yield "kinds", f"{', '.join(others)}: no directory, so -w watches only it"
    if fields & {"path", "dir", "exe", WATCH}:
        yield (
            "replaced",
            (
                "watched files, directories and programs are not replaced, created, moved or"
                " removed while the rules are loaded, which can reorder or delete a rule"
            ),
        )
    if fields & {"path", "exe", WATCH}:
        yield (
            "links",
            "different paths in the rules are different files: no link connects them",
        )
    if fields & {"dir", WATCH}:
        yield (
            "trees",
            (
                "a watched file below a watched directory belongs to its tree: no link leads out"
                " of it, and nothing is mounted in it or moved into it"
            ),
        )
    for alike in _alike(both):
        yield "spelling", f"{' and '.join(alike)} are the same: they contain no symbolic link"


def _known_kinds(rules: Sequence[KernelRule]) -> tuple[list[str], list[str]]:
    """Return the watched paths (-w) taken as directories, and the other ones; sorted."""
    found: dict[str, set[str]] = {"dir": set(), "path": set()}
    for rule in rules:
        if rule.source is None or "-w" not in split_words(rule.source.text):
            continue
        for test in rule.conditions:
            if is_test(test, *found):
                found[test.field].add(str(test.value))
    return sorted(found["dir"]), sorted(found["path"])


def _alike(rules: Sequence[KernelRule]) -> Iterator[list[str]]:
    """Yield paths that are taken as one, although a link could make them differ.

    A slash at the end of `dir` follows a link there, as does a part before `..`.
    """
    written: dict[str, set[str]] = {}
    for rule in rules:
        for test in rule.conditions:
            if is_test(test, "dir", "exe", "path", WATCH):
                path = str(test.value)
                written.setdefault(plain_path(path), set()).add(path)
    for plain, paths in sorted(written.items()):
        if any(".." in path.split("/") for path in paths):
            paths.add(plain)
        if len(paths) > 1:
            yield sorted(paths)


def _of_meaning(both: Sequence[KernelRule], release: Release) -> Iterator[tuple[str, str]]:
    fields = _fields(both)
    if "perm" in fields:
        yield (
            "permissions",
            (
                f"permissions (perm, -p) cover the calls that Linux {release} assigns to them;"
                " later kernels assign more"
            ),
        )
    unresolved = sorted({name for _, name in names(both)})
    if unresolved:
        yield "names", f"{', '.join(unresolved)}: an unknown number, the same in A and B"
    if fields & _LABELS:
        yield "labels", "the security policy knows every label that a rule names"


def _of_relation(relation: Relation) -> Iterator[tuple[str, str]]:
    if relation.no_b32:
        yield (
            "b32",
            "there are no 32-bit calls: the kernel has no entry point for them, or it is off",
        )
    if relation.ignore_raised:
        yield (
            "raised",
            (
                "no other part of the kernel requests a call's record (as an LSM denial does), so"
                " `never` is the same as no rule"
            ),
        )
    if relation.ignore_keys:
        yield "keys", "keys do not matter"
