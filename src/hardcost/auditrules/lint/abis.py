"""Rules by the ABIs in which they can match, so that those that cover others there are found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.auditrules.fieldtests import compare
from hardcost.auditrules.kernelrule import Test
from hardcost.auditrules.lint.covering import Covering
from hardcost.auditrules.tables import lookup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.auditrules.kernelrule import Condition, KernelRule
    from hardcost.auditrules.lint.covering import Numbered
    from hardcost.auditrules.tables.lookup import Arch


def possible(rule: KernelRule) -> tuple[Arch, ...]:
    """Return the ABIs that a rule does not rule out."""
    tests = [one for one in rule.conditions if isinstance(one, Test) and one.field == "arch"]
    return tuple(
        arch
        for arch, number in lookup.ARCH_NUMBERS.items()
        if all(compare(number, one.operator, int(one.value)) for one in tests)
    )


def without_arch(rule: KernelRule) -> tuple[Condition, ...]:
    """Return a rule's conditions but for the ABI."""
    return tuple(
        one for one in rule.conditions if not (isinstance(one, Test) and one.field == "arch")
    )


def by_arch(rules: Sequence[KernelRule], numbered: Numbered) -> dict[Arch, Covering]:
    """Return the rules that can match in each ABI, by their numbered conditions without it."""
    found: dict[Arch, Covering] = {arch: Covering(numbered) for arch in lookup.ARCHES}
    for index, rule in enumerate(rules):
        for arch in possible(rule):
            found[arch].add(index, rule.mask)
    return found
