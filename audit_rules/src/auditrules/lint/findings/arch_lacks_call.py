"""A rule names a number that is no call of its architecture.

What: The rule gives a call by number, and its architecture has no call with that number. Numbers
above the end of the table of calls are not judged, since a newer kernel may have them.

Why: The rule never fires for such a number. It is usually the number of the call in another
architecture.

Example:
    -a always,exit -F arch=b64 -S 350 -k module

Remedy: Name the call instead: auditctl then reports what the architecture lacks.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditrules.lint import prices, wording
from auditrules.lint.context import Context, arch_of, column_of
from auditrules.lint.diagnostic import Diagnostic, Level, location_of
from auditrules.model.kernel_rule import FilterList, bits
from auditrules.tables import lookup
from auditrules.tables.lookup import Arch

CODE = "arch-lacks-call"
LEVEL = Level.WARNING


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each rule that names a number without a call."""
    for rule in context.rules:
        if rule.list is not FilterList.EXIT or wording.is_all(rule.mask):
            continue
        arch = arch_of(rule)
        arches = (arch,) if arch else lookup.ARCHES
        lacking = [n for n in bits(rule.mask) if all(_is_no_call(one, n) for one in arches)]
        if not lacking:
            continue
        only = len(lacking) == len(bits(rule.mask))
        where = " and ".join(arches)
        yield Diagnostic(
            CODE,
            LEVEL,
            f"{'it never fires: ' if only else ''}{where} has no call with the number "
            f"{wording.list_names([str(n) for n in lacking])}{_elsewhere(lacking, arches)}",
            location_of(rule.source, column_of(rule.source, str(lacking[0]))),
            rule.source.text if rule.source else "",
            "name the calls instead",
            prices.cost_of_passing(context, rule) if only else None,
        )


def _is_no_call(arch: Arch, number: int) -> bool:
    known = lookup.call_names(arch)
    return number not in known and number < max(known)


def _elsewhere(numbers: list[int], arches: tuple[Arch, ...]) -> str:
    """Return the call of the first number in the other ABI, in parentheses; "" if there is none."""
    for arch in lookup.ARCHES:
        if arch not in arches and numbers[0] in lookup.call_names(arch):
            return f" ({numbers[0]} is {lookup.call_name(arch, numbers[0])} in {arch})"
    return ""
