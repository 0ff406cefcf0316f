"""A rule excludes an ABI and names calls by that ABI's names.

What: The rule tests arch!= and names calls. auditctl looks their numbers up in the table of the ABI
that the rule excludes.

Why: The kernel tests these numbers in the other ABI, where they are other calls: execve is 59 in
b64, and 59 is oldolduname in b32.

Example:
    -a always,exit -F arch!=b64 -S execve -k abi32

Remedy: Name the ABI that is meant: -F arch=b32.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditrules.kernel.field_tests import arches_of
from auditrules.lint import prices, wording
from auditrules.lint.context import Context, column_of
from auditrules.lint.diagnostic import Diagnostic, Level, location_of
from auditrules.model.kernel_rule import FilterList, KernelRule, Operator
from auditrules.model.rule import split_options, split_words
from auditrules.tables import lookup
from auditrules.tables.lookup import Arch

CODE = "negated-arch"
LEVEL = Level.WARNING


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each rule whose calls are others where it can match."""
    for rule in context.rules:
        excluded = _excluded_arch(rule)
        other = next(iter(arches_of(rule)), None)
        if excluded is None or other is None or wording.is_all(rule.mask):
            continue
        wrong = [
            number
            for number in _named_calls(rule, excluded)
            if lookup.call_name(other, number) != lookup.call_name(excluded, number)
        ]
        if wrong:
            meant = lookup.call_name(excluded, wrong[0])
            calls = wording.list_names([lookup.call_name(excluded, one) for one in wrong])
            yield Diagnostic(
                CODE,
                LEVEL,
                f"it looks {calls} up in the table of {excluded}, and tests the numbers in {other}:"
                f" {meant} is {wrong[0]}, which is {_there(other, wrong[0])} in {other}",
                location_of(rule.source, column_of(rule.source, "arch!=")),
                rule.source.text if rule.source else "",
                f"write arch={other}",
                prices.cost_of_passing(context, rule),
            )


def _excluded_arch(rule: KernelRule) -> Arch | None:
    """Return the ABI that a rule on calls excludes, in whose table auditctl looks."""
    tests = rule.tests("arch")
    if rule.list is not FilterList.EXIT or len(tests) != 1:
        return None
    (test,) = tests
    if test.operator is not Operator.NOT_EQUAL:
        return None
    return next(arch for arch, value in lookup.ARCH_NUMBERS.items() if value == test.value)


def _named_calls(rule: KernelRule, arch: Arch) -> list[int]:
    """Return the calls that a rule names by name."""
    if rule.source is None:
        return []
    options, _ = split_options(split_words(rule.source.text))
    names = [name for option, value in options if option == "-S" for name in value.split(",")]
    known = lookup.calls(arch)
    return [known[name] for name in dict.fromkeys(names) if name in known]


def _there(arch: Arch, number: int) -> str:
    return lookup.call_names(arch).get(number, "no call")
