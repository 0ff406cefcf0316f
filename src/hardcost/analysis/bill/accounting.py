"""The outcome in a bill of each rule of a benchmark's profile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import get_args

from hardcost.controls.control import Profile
from hardcost.instruments.insn import INSN
from hardcost.model.accounts import Accounted, RuleOutcome
from hardcost.model.finding.bill import Itemised

_SEARCHED = "a search has no number for it: it is no culprit that was found"
_FREE = "its cost is not distinguishable from 0 on any metric"


def with_accounting(bill: Itemised, profile: Profile, instrument: str) -> Itemised:
    """Return the bill with each rule of the benchmark's profile, as it was measured.

    A rule is priced if one of its controls has a cost on the bill. If all of them were measured,
    and none has one, it is free, unless the instrument does not show what they cost.
    """
    unshown = {
        one.name
        for one in profile.controls
        if instrument == INSN.name and one.uncounted is not None
    }
    itemised = {item.control for item in bill.items}
    measured = set(bill.controls)
    return replace(
        bill,
        accounting=tuple(
            _settle_outcome(one, itemised, measured, unshown) for one in profile.accounting
        ),
    )


def outcome_counts(accounting: Iterable[Accounted]) -> Mapping[RuleOutcome, int]:
    """Return how many rules have each outcome; they add up to the number of rules."""
    found = Counter(one.outcome for one in accounting)
    return {outcome: found[outcome] for outcome in get_args(RuleOutcome)}


def _settle_outcome(
    rule: Accounted, itemised: set[str], measured: set[str], unshown: set[str]
) -> Accounted:
    """Return a rule with its outcome after its controls have been measured."""
    own = set(rule.controls)
    if rule.outcome != "priced" or own & itemised:
        return rule
    if not measured:
        return replace(rule, outcome="not-priced", why=_SEARCHED)
    if not own <= measured:
        return replace(
            rule, outcome="not-priced", why="other settings of the profile take its place"
        )
    if own & unshown:
        why = "instructions do not show what it costs, and what they show is not above 0"
        return replace(rule, outcome="not-priced", why=why)
    return replace(rule, outcome="free", why=_FREE)
