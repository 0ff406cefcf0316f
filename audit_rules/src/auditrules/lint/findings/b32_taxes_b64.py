"""32-bit rules slow 64-bit calls that have the same numbers.

What: The kernel compares a call's number before its ABI. It therefore tries a rule with arch=b32
for each 64-bit call of the same number, up to the first condition that fails.

Why: The 64-bit calls affected usually have nothing to do with the rule, and are often common ones:
5 is open in one table and fstat in the other.

Example:
    -a always,exit -F arch=b32 -S open -F exit=-EACCES -k access

Remedy: If no program needs 32-bit calls, turn them off (a kernel without IA32_EMULATION, or from
Linux 6.7 on ia32_emulation=0) and delete the rules. Otherwise put the 32-bit calls into as few
rules as possible.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from auditrules.lint import prices, wording
from auditrules.lint.context import Context, arch_of
from auditrules.lint.diagnostic import Diagnostic, Level, location_of
from auditrules.model.kernel_rule import bits
from auditrules.tables import lookup

CODE = "b32-taxes-b64"
LEVEL = Level.NOTE

_SHOWN = 12


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield, once for all rules, the 64-bit calls that only 32-bit rules name."""
    walked = [rule for rule in context.walked if not wording.is_all(rule.mask)]
    taxing = [rule for rule in walked if arch_of(rule) == "b32"]
    meant = 0
    for rule in walked:
        if arch_of(rule) != "b32":
            meant |= rule.mask
    rules_on: Counter[int] = Counter()
    for rule in taxing:
        rules_on.update(bits(rule.mask & ~meant))
    hit = [call for call in sorted(rules_on) if call in lookup.call_names("b64")]
    if not hit:
        return
    worst = max(hit, key=lambda call: rules_on[call])
    name = lookup.call_name("b64", worst)
    often = f"{rules_on[worst]} rules" if rules_on[worst] > 1 else "1 rule"
    calls = wording.list_names([lookup.call_name("b64", call) for call in hit], _SHOWN)
    first = next(rule for rule in taxing if rule.mask >> hit[0] & 1)
    yield Diagnostic(
        CODE,
        LEVEL,
        f"{len(hit)} 64-bit calls that no 64-bit rule names try 32-bit rules: {calls}"
        f"; {name} tries {often}",
        location_of(first.source),
        first.source.text if first.source else "",
        "if no program needs 32-bit calls, turn 32-bit entry off and delete these rules",
        prices.all_walking(context, taxing, worst),
        tuple(location_of(rule.source) for rule in taxing if rule.mask & ~meant),
    )
