"""What calls pay that rules decide about, as two lines after the other become one.

Such a call pays for all rules up to the one that decides, so their order matters. Where two rules
of the exit list become one and all others keep their order, only these three are looked at, unless
one of them decides.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from auditrules.cost.predict import RuleTest
from auditrules.model.kernel_rule import KernelRule
from auditrules.optimize.lines import Candidates
from auditrules.optimize.prices import TOLERANCE, PricedCall, Prices
from auditrules.optimize.set_costs import SetCosts, Walk


@dataclass(frozen=True)
class _Lines:
    """Lines in their order, and for each call its cost and the line that ends its walk."""

    under: SetCosts
    order: tuple[int, ...]
    place: Mapping[int, int]
    costs: dict[int, float]
    ended_by: dict[int, int | None]


@dataclass(frozen=True)
class Joined:
    """Two lines that became one, under the number `first`, with the rules before and after."""

    first: int
    second: int
    before: tuple[KernelRule, KernelRule]
    after: KernelRule


class DecidedCalls:
    """The calls that rules decide about, and the most that each may cost (instructions)."""

    def __init__(self, prices: Prices, allowed: Iterable[tuple[PricedCall, float]]) -> None:
        self.prices = prices
        self._allowed = list(allowed)
        self._turns = list(range(len(self._allowed)))

    def count(self, lines: Candidates) -> None:
        """Take the costs under lines."""
        self._now = self._walk_all(lines, lines.numbers_in_order())

    def fit(self, lines: Candidates, joined: Joined) -> bool:
        """Say whether each call keeps its allowance after two lines became one.

        If so, the lines are taken as the present ones.
        """
        order = lines.numbers_in_order()
        now = self._now
        if not self._only_these_change(order, joined):
            changed = self._walk_all(lines, order)
            if any(changed.costs[at] > self._most(at) for at in self._turns):
                return False
            self._now = changed
            return True
        whole: list[SetCosts] = []
        costs, ended_by = {}, {}
        at = order.index(joined.first)
        behind = now.place[order[at - 1]] if at else -1
        for turn in self._turns:
            cost = self._cost_after(turn, behind, joined)
            end = now.ended_by[turn]
            if cost is None:  # another rule ends the walk
                if not whole:
                    whole.append(self.prices.set_costs(lines.lines[one].rule for one in order))
                walk = self._walk(whole[0], turn)
                cost, end = walk.cost, None if walk.ended_by is None else order[walk.ended_by]
            if cost > self._most(turn):
                self._turns.remove(turn)  # first next time: it is likely to be too much again
                self._turns.insert(0, turn)
                return False
            costs[turn], ended_by[turn] = cost, end
        self._now = _Lines(now.under, order, _places(order), costs, ended_by)
        return True

    def _most(self, turn: int) -> float:
        return self._allowed[turn][1] + TOLERANCE

    def _walk(self, under: SetCosts, turn: int) -> Walk:
        case = self._allowed[turn][0]
        return under.walk(case.event, case.kind)

    def _walk_all(self, lines: Candidates, order: tuple[int, ...]) -> _Lines:
        under = self.prices.set_costs(lines.lines[number].rule for number in order)
        walks = {turn: self._walk(under, turn) for turn in self._turns}
        ends = {turn: walk.ended_by for turn, walk in walks.items()}
        return _Lines(
            under,
            order,
            _places(order),
            {turn: walk.cost for turn, walk in walks.items()},
            {turn: None if end is None else order[end] for turn, end in ends.items()},
        )

    def _only_these_change(self, order: tuple[int, ...], joined: Joined) -> bool:
        """Say whether the walk of the other rules stays as it is."""
        rules = (*joined.before, joined.after)
        if self.prices.constants.crowding or any(
            rule.in_a_bucket or rule.watch is not None or rule.tests("ppid") for rule in rules
        ):
            return False
        gone = {joined.first, joined.second}
        return [one for one in order if one != joined.first] == [
            one for one in self._now.order if one not in gone
        ]

    def _cost_after(self, turn: int, behind: int, joined: Joined) -> float | None:
        """Return a call's cost if the same rule ends its walk; else None.

        The joined rule comes next after the line that had the place `behind`.
        """
        now = self._now
        end = now.ended_by[turn]
        if end in {joined.first, joined.second}:
            return None
        last = math.inf if end is None else now.place[end]
        cost = now.costs[turn]
        for number, rule in zip((joined.first, joined.second), joined.before, strict=True):
            if now.place[number] < last:
                cost -= self._test(turn, rule).cost
        if behind < last:
            test = self._test(turn, joined.after)
            if test.holds:
                return None
            cost += test.cost
        return cost

    def _test(self, turn: int, rule: KernelRule) -> RuleTest:
        case = self._allowed[turn][0]
        return self._now.under.test(self.prices.resolve_rule(rule), case.event, case.kind)


def _places(order: tuple[int, ...]) -> Mapping[int, int]:
    return {number: place for place, number in enumerate(order)}
