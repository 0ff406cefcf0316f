"""A rule's calls are recorded in one ABI and not in the other.

What: The rule tests arch=b64 and no rule does the same for b32, or the reverse. Calls count by
name; those that the other ABI lacks need no twin, and a rule with fewer or wider conditions is twin
enough. With --no-b32 nothing is missed for b32.

Why: A program that makes the call through the other ABI is not recorded. On x86_64 any 64-bit
program can make 32-bit calls, whether or not 32-bit programs are installed.

Example:
    -a always,exit -F arch=b64 -S mount -k export

Remedy: Add the same rule for the other ABI, or turn 32-bit entry off (a kernel without
IA32_EMULATION, or from Linux 6.7 on ia32_emulation=0). The twin costs as well: each 64-bit call
passes over it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.auditrules.kernelrule import Test
from hardcost.auditrules.lint import masks, pricing
from hardcost.auditrules.lint.context import arch_of, column_of
from hardcost.auditrules.lint.covering import Covering, Numbered
from hardcost.auditrules.lint.finding import Finding, Level, spot_of
from hardcost.auditrules.tables import lookup

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hardcost.auditrules.kernelrule import Condition, KernelRule
    from hardcost.auditrules.lint.context import Context
    from hardcost.auditrules.tables.lookup import Arch

CODE = "twin-missing"
LEVEL = Level.WARNING

_OTHER: Mapping[Arch, Arch] = {"b64": "b32", "b32": "b64"}


def find(context: Context) -> Iterable[Finding]:
    """Yield each rule whose calls are not recorded in the other ABI."""
    arches = [arch_of(rule) for rule in context.recording]
    rest = [
        rule.conditions if arch is None else _without_arch(rule)
        for rule, arch in zip(context.recording, arches, strict=True)
    ]
    twins = _by_arch(context.recording, arches, Numbered(rest))
    for index, (rule, arch) in enumerate(zip(context.recording, arches, strict=True)):
        if arch is None or (arch == "b64" and not context.options.b32):
            continue
        if not rest[index] and masks.is_all(rule.mask):
            continue  # to see any use of an ABI is a purpose of its own
        other = _OTHER[arch]
        missing = twins[other].missing(index, masks.in_other(rule.mask, arch))
        if not missing:
            continue
        calls = "all calls" if masks.is_all(missing) else masks.named(missing, other)
        yield Finding(
            CODE,
            LEVEL,
            f"{other} is left out: no rule records {calls} there under these conditions",
            spot_of(rule.source, column_of(rule.source, "arch=")),
            rule.source.text if rule.source else "",
            f"add the same rule with arch={other}",
            pricing.the_twin(context, rule),
        )


def _by_arch(
    rules: Sequence[KernelRule], arches: Sequence[Arch | None], numbered: Numbered
) -> dict[Arch, Covering]:
    """Return the rules that can match in each ABI, that condition left out."""
    found: dict[Arch, Covering] = {arch: Covering(numbered) for arch in lookup.ARCHES}
    for index, (rule, own) in enumerate(zip(rules, arches, strict=True)):
        for arch in lookup.ARCHES if own is None else (own,):
            found[arch].add(index, rule.mask)
    return found


def _without_arch(rule: KernelRule) -> tuple[Condition, ...]:
    return tuple(
        one for one in rule.conditions if not (isinstance(one, Test) and one.field == "arch")
    )
