"""A rule names a call but not its newer form.

What: The rule records open, and no rule with the same or wider conditions records openat in the
same ABI. A condition on an argument of open corresponds to the next argument of openat, which holds
the same value. As a note, the same check covers unlink and unlinkat, rename with renameat and
renameat2, chmod and fchmodat, chown and fchownat, mkdir and mkdirat, link and linkat, symlink and
symlinkat, mknod and mknodat. Rules that record all calls miss nothing.

Why: Since version 2.26, glibc implements open() by calling openat, so a rule on open alone records
almost nothing. Programs use both forms of the other calls: coreutils calls unlinkat for rm,
renameat2 for mv, fchmodat for chmod, linkat and symlinkat for ln.

Example:
    -a always,exit -F arch=b64 -S open -F exit=-EACCES -F auid>=1000 -F auid!=unset -k access

Remedy: Name the newer call too: -S open,openat. If the rule tests arguments, write a second rule
for the newer call and shift each argument by one (a1 of open is a2 of openat).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from auditrules.kernel.field_tests import arches_of
from auditrules.lint import wording
from auditrules.lint.context import Context, arch_of, column_of
from auditrules.lint.diagnostic import Diagnostic, Level, location_of
from auditrules.lint.supersets import Covering, Numbered, by_arch, without_arch
from auditrules.model.kernel_rule import Condition, FieldTest, KernelRule, mask_of
from auditrules.tables import lookup
from auditrules.tables.lookup import Arch

CODE = "at-call-missing"
LEVEL = Level.WARNING


@dataclass(frozen=True)
class _Pair:
    """A call, and those that programs make in its place.

    `further`: these take the same arguments behind a descriptor of a directory.
    """

    old: str
    new: tuple[str, ...]
    further: bool = True


_OPEN = _Pair("open", ("openat",))
_OTHERS = (
    _Pair("unlink", ("unlinkat",)),
    _Pair("rename", ("renameat", "renameat2"), further=False),
    _Pair("chmod", ("fchmodat",)),
    _Pair("chown", ("fchownat",)),
    _Pair("mkdir", ("mkdirat",)),
    _Pair("link", ("linkat",), further=False),
    _Pair("symlink", ("symlinkat",), further=False),
    _Pair("mknod", ("mknodat",)),
)
_FURTHER = {"a0": "a1", "a1": "a2", "a2": "a3"}
_LAST = "a3"
_ARGUMENTS = frozenset({*_FURTHER, _LAST})


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield a diagnostic for each rule that names a call without its newer form."""
    rules = context.recording
    alike = [without_arch(rule) for rule in rules]
    # Behind the rules' conditions stand those that they would have for the newer calls.
    further = [_further(one) if _arguments(one) else () for one in alike]
    covering = by_arch(rules, Numbered([*alike, *further]))
    for index, rule in enumerate(rules):
        # Without an ABI auditctl takes the names for those of b64.
        arch = arch_of(rule) or "b64"
        if wording.is_all(rule.mask) or arch not in arches_of(rule):
            continue
        tested = _arguments(alike[index])
        at = index + len(rules) if tested else index
        for level, pairs in ((LEVEL, (_OPEN,)), (Level.NOTE, _OTHERS)):
            known = [pair for pair in pairs if _has_counterparts(pair, tested)]
            missing = list(_missing(covering[arch], at, rule, known, arch))
            if missing:
                yield _diagnostic(rule, level, missing, one_further=bool(tested))


def _diagnostic(
    rule: KernelRule,
    level: Level,
    missing: Sequence[tuple[_Pair, list[str]]],
    *,
    one_further: bool,
) -> Diagnostic:
    new = wording.list_names([name for _, names in missing for name in names], most=12)
    old = wording.list_names([pair.old for pair, _ in missing], most=12)
    why = ", which glibc's open() calls" if missing[0][0] is _OPEN else ""
    own = f"add a rule for {new} with each tested argument shifted by one (a1 becomes a2)"
    return Diagnostic(
        CODE,
        level,
        f"it names {old}, but no rule with the same or wider conditions names {new}{why}",
        location_of(rule.source, column_of(rule.source, missing[0][0].old)),
        rule.source.text if rule.source else "",
        own if one_further else f"name {new} in the rule too",
    )


def _missing(
    covering: Covering, index: int, rule: KernelRule, pairs: Sequence[_Pair], arch: Arch
) -> Iterator[tuple[_Pair, list[str]]]:
    """Yield the pairs with unrecorded newer calls, and these calls."""
    calls = lookup.calls(arch)
    for pair in pairs:
        if not rule.names(calls[pair.old]):
            continue
        mask = mask_of(tuple(calls[name] for name in pair.new))
        missing = covering.missing_calls(index, mask)
        if missing:
            yield pair, [name for name in pair.new if missing >> calls[name] & 1]


def _has_counterparts(pair: _Pair, tested: frozenset[str]) -> bool:
    """Say whether each tested argument has a known counterpart in the newer call."""
    return not tested or (pair.further and _LAST not in tested)


def _arguments(conditions: Iterable[Condition]) -> frozenset[str]:
    """Return which arguments are tested."""
    return _ARGUMENTS & {one.field for one in conditions if isinstance(one, FieldTest)}


def _further(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """Return conditions with each argument shifted by one, as far as there is a next one."""
    return tuple(
        replace(one, field=_FURTHER.get(one.field, one.field))
        if isinstance(one, FieldTest)
        else one
        for one in conditions
    )
