"""The most that each call may cost: as much as under the original rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from auditrules.model.kernel_rule import KernelRule
from auditrules.optimize.decided_calls import DecidedCalls, Joined
from auditrules.optimize.lines import Candidates
from auditrules.optimize.prices import TOLERANCE, PricedCall, Prices


@dataclass(frozen=True)
class CostChange:
    """What calls pay more (instructions) after a change; no other call pays more."""

    more: list[tuple[float, PricedCall]]


class Allowance:
    """The costs of all cases under the current rules and under the original ones.

    An undecided call pays for each rule separately. A decided one pays up to the deciding rule, so
    it is priced with the whole ordered set.
    """

    def __init__(self, prices: Prices, original: Iterable[KernelRule]) -> None:
        self.prices = prices
        under = prices.set_costs(original)
        cases = (*prices.typical, *prices.failing)
        costs = prices.of_cases(under.loaded.rules, cases)
        self._allowed = {id(case): cost for case, cost in zip(cases, costs, strict=True)}
        decided = [
            (case, under.walk(case.event, case.kind).cost)
            for case in cases
            if under.decided_by(case.event, case.kind) is not None
        ]
        self._decided = DecidedCalls(prices, decided)
        self._open = {id(case) for case, _ in decided}
        self._now = dict(self._allowed)

    def remaining(self, case: PricedCall) -> float:
        """Return how much more a case may cost than it does now (instructions)."""
        if id(case) in self._open:
            return 0.0
        return self._allowed[id(case)] - self._now[id(case)]

    def count(self, lines: Candidates) -> None:
        """Take the costs of the rules as they are now."""
        self._decided.count(lines)
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

    def change(self, before: Sequence[KernelRule], after: KernelRule) -> CostChange | None:
        """Return what calls pay more after replacing rules by one; None where it saves nothing."""
        unnamed = self.prices.constants.walk["unnamed"]
        fewer = _count_walked(before) - _count_walked((after,))
        if fewer < 0:
            return None
        involved = 0
        for rule in (*before, after):
            involved |= rule.mask
        gain = fewer * unnamed * self.prices.weight
        more: list[tuple[float, PricedCall]] = []
        for number, cases in self.prices.by_number.items():
            if not involved >> number & 1:
                continue
            for case in cases:
                if id(case) in self._open:
                    continue
                own = self.prices.of_rule(after, case.event) - self.prices.of_rules(
                    before, case.event
                )
                more.append((own, case))
                gain -= (own + fewer * unnamed) * case.weight
        if gain < -TOLERANCE or (not fewer and gain <= TOLERANCE):
            return None
        return CostChange(more)

    def has_room(self, change: CostChange) -> bool:
        """Say whether a change keeps the allowance of each call that no rule decides about."""
        more = change.more
        for at in range(len(more)):
            cost, case = more[at]
            if cost > self.remaining(case) + TOLERANCE:
                more.insert(0, more.pop(at))  # next time, this is likely to be too much again
                return False
        return True

    def allows_order(self, lines: Candidates, joined: Joined) -> bool:
        """Say whether the calls that rules decide about keep their allowance, and take the lines.

        The joined line may be put to the front.
        """
        if self._decided.fit(lines, joined):
            return True
        lines.front.add(joined.first)
        return self._decided.fit(lines, joined)


def _count_walked(rules: Iterable[KernelRule]) -> int:
    return sum(not rule.in_a_bucket for rule in rules)
