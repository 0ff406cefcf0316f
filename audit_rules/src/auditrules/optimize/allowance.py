"""The most that each call may cost: as much as under the original rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from auditrules.kernel.semantics import FilterDecision
from auditrules.model.kernel_rule import KernelRule
from auditrules.optimize.lines import Candidates
from auditrules.optimize.prices import TOLERANCE, PricedCall, Prices


class Allowance:
    """The costs of all cases under the current rules and under the original ones.

    An undecided call pays for each rule separately. A decided one pays up to the deciding rule, so
    it is priced with the whole ordered set.
    """

    def __init__(self, prices: Prices, original: Iterable[KernelRule]) -> None:
        self.prices = prices
        alike = prices.alike(original)
        cases = (*prices.typical, *prices.failing)
        costs = prices.of_cases(alike.loaded.rules, cases)
        self._allowed = {id(case): cost for case, cost in zip(cases, costs, strict=True)}
        self._decided: list[PricedCall] = []
        for case in cases:
            if alike.decide(case.event, case.kind).decision is not FilterDecision.NONE:
                self._allowed[id(case)] = alike.price_walk(case.event, case.kind).cost
                self._decided.append(case)
        self._open = {id(case) for case in self._decided}
        self._now = dict(self._allowed)

    def remaining(self, case: PricedCall) -> float:
        """Return how much more a case may cost than it does now (instructions)."""
        if id(case) in self._open:
            return 0.0
        return self._allowed[id(case)] - self._now[id(case)]

    def count(self, lines: Candidates) -> None:
        """Take the costs of the rules as they are now."""
        rules = [line.rule for line in lines.lines.values()]
        cases = (*self.prices.typical, *self.prices.failing)
        for case, cost in zip(cases, self.prices.of_cases(rules, cases), strict=True):
            if id(case) not in self._open:
                self._now[id(case)] = cost

    def take_change(self, before: Sequence[KernelRule], after: KernelRule) -> None:
        """Take the costs of a rule that replaced others."""
        for case in (*self.prices.typical, *self.prices.failing):
            if id(case) not in self._open:
                more = self.prices.of_rule(after, case.event)
                self._now[id(case)] += more - self.prices.of_rules(before, case.event)

    def allows(
        self, before: Sequence[KernelRule], after: KernelRule, lines: Candidates, at: int
    ) -> bool:
        """Say whether replacing rules by one saves something and keeps each call's allowance.

        `lines` are all rules, with the new one under the number `at`; it may be put to the front.
        """
        unnamed = self.prices.constants.walk["unnamed"]
        fewer = _count_walked(before) - _count_walked((after,))
        if fewer < 0:
            return False
        involved = 0
        for rule in (*before, after):
            involved |= rule.mask
        gain = fewer * unnamed * self.prices.weight
        for number, cases in self.prices.by_number.items():
            if not involved >> number & 1:
                continue
            for case in cases:
                if id(case) in self._open:
                    continue
                more = self.prices.of_rule(after, case.event) - self.prices.of_rules(
                    before, case.event
                )
                if more > self.remaining(case) + TOLERANCE:
                    return False
                gain -= (more + fewer * unnamed) * case.weight
        if gain < -TOLERANCE or (not fewer and gain <= TOLERANCE):
            return False
        if self._deciding_calls_fit(lines.rules()):
            return True
        lines.front.add(at)
        return self._deciding_calls_fit(lines.rules())

    def _deciding_calls_fit(self, rules: Iterable[KernelRule]) -> bool:
        alike = self.prices.alike(rules)
        return all(
            alike.price_walk(case.event, case.kind).cost <= self._allowed[id(case)] + TOLERANCE
            for case in self._decided
        )


def _count_walked(rules: Iterable[KernelRule]) -> int:
    return sum(not rule.in_a_bucket for rule in rules)
