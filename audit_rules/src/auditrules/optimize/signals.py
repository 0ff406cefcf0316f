"""Whether the kernel records the receivers of signals: it does while a rule names such a call.

AF:1015 (`audit_signals`), AF:211 (`audit_match_signal`), AS:2745. Narrowed masks must not change
that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from auditrules.kernel.signal_calls import notes_signals, signal_calls
from auditrules.model.kernel_rule import ALL_CALLS, FieldTest, KernelRule, Operator, bits
from auditrules.optimize.implication import perm_holds_always
from auditrules.optimize.lines import Candidate, Candidates
from auditrules.optimize.prices import Prices
from auditrules.optimize.reachable_calls import reach
from auditrules.tables.lookup import RELEASES

KEPT = "names a call that sends signals, so that the kernel still records the receivers"


def keep(
    original: Iterable[KernelRule], others: Iterable[KernelRule], lines: Candidates, prices: Prices
) -> None:
    """Let a rule name a signal call again if one did and none does now.

    `others` are the rules of other lists, which stay as they are.
    """
    if not notes_signals(original) or notes_signals(others):
        return
    if notes_signals(line.rule for line in lines.lines.values()):
        return
    found = [
        (_dearer(line.rule, tried, prices), number, tried)
        for number, line in lines.lines.items()
        for tried in _rules_naming(line, b32=lines.b32)
    ]
    if found:
        _, number, tried = min(found, key=lambda one: (one[0], one[1], one[2].mask))
        lines.replace(number, tried, KEPT)


def _rules_naming(line: Candidate, *, b32: bool) -> list[KernelRule]:
    """Return the rule with a signal call added that it can't match, one for each."""
    found = []
    for rule in _with_permissions(line.rule, b32=b32):
        for number in bits(signal_calls(replace(rule, mask=ALL_CALLS))):
            tried = replace(rule, mask=rule.mask | 1 << number)
            if reach(tried, b32=b32) == reach(line.rule, b32=b32):
                found.append(tried)
    return found


def _with_permissions(rule: KernelRule, *, b32: bool) -> Iterator[KernelRule]:
    """Yield a rule as it is, and with a test of permissions that all its calls stand for.

    No call that sends signals has any permission, so the test excludes such a call.
    """
    yield rule
    if rule.watch is None and not rule.tests("perm"):
        for wanted in range(1, 16):
            test = FieldTest("perm", Operator.EQUAL, wanted)
            if all(
                perm_holds_always(test, reach(rule, b32=b32, release=release), release)
                for release in RELEASES
            ):
                yield replace(rule, conditions=(*rule.conditions, test))
                yield replace(rule, conditions=(test, *rule.conditions))
                return


def _dearer(rule: KernelRule, tried: KernelRule, prices: Prices) -> tuple[float, float]:
    """Return the additional cost of replacing a rule, for a workload and for a call of each."""
    more = [
        (prices.of_rule(tried, case.event) - prices.of_rule(rule, case.event), case.weight)
        for number in bits(rule.mask ^ tried.mask)
        for case in prices.by_number.get(number, ())
    ]
    return sum(cost * weight for cost, weight in more), sum(cost for cost, _ in more)
