"""Every rule of a benchmark's profile, with what became of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hardcost.analysis.bill.accounting import outcome_counts
from hardcost.model.accounts import Accounted, RuleOutcome
from hardcost.show.tables.layout import Column, Grid, RowText
from hardcost.units import count, visible

WORDS: dict[RuleOutcome, str] = {
    "priced": "priced",
    "free": "measured, not distinguishable from 0",
    "no-run-time-cost": "no run-time cost",
    "not-priced": "not priced",
}
"""The words of a report for the outcomes, in their order."""

_REQUIREMENT = "SRG-"
"""Prefix of requirements for every operating system, of which a rule names up to a dozen."""


def accounting_line(accounting: Sequence[Accounted]) -> str:
    """Return one sentence on all rules: the numbers add up to that of the rules."""
    number = outcome_counts(accounting)
    return (
        f"The benchmark's profile has {count(len(accounting), 'rule')}: "
        f"{number['priced']} priced, "
        f"{number['free']} measured and not distinguishable from 0, "
        f"{number['no-run-time-cost']} without a run-time cost, "
        f"{number['not-priced']} not priced."
    )


def kinds_grid(accounting: Sequence[Accounted]) -> Grid:
    """Return how many rules each kind has, with the reason why they have no price."""
    kinds = Counter((one.outcome, one.kind, _reason(one)) for one in accounting)
    order = list(WORDS)
    rows = sorted(kinds.items(), key=lambda row: (order.index(row[0][0]), -row[1], row[0][1]))
    return Grid(
        "What became of the benchmark's rules, by their kind",
        (
            Column("rules", tuple(str(number) for _, number in rows)),
            Column("outcome", tuple(WORDS[outcome] for (outcome, _, _), _ in rows), left=True),
        ),
        (),
        tuple(RowText(visible(kind), more=visible(why)) for (_, kind, why), _ in rows),
        "kind",
    )


def rules_grids(accounting: Sequence[Accounted]) -> list[Grid]:
    """Return the rules of each outcome, in the benchmark's order."""
    return [
        _rules_grid(WORDS[outcome], found)
        for outcome in WORDS
        if (found := [one for one in accounting if one.outcome == outcome])
    ]


def _rules_grid(words: str, rules: Sequence[Accounted]) -> Grid:
    return Grid(
        f"Rules: {words} ({len(rules)})",
        (Column("severity", tuple(visible(one.severity) for one in rules), left=True),),
        (),
        tuple(
            RowText(visible(one.rule), visible(_benchmark_names(one)), visible(_rule_words(one)))
            for one in rules
        ),
        "rule",
    )


def _benchmark_names(rule: Accounted) -> str:
    return " ".join(one for one in rule.ids if not one.startswith(_REQUIREMENT))


def _rule_words(rule: Accounted) -> str:
    """Return a rule's title, what carries it out, and why it has no price."""
    by = f"carried out by {'; '.join(rule.controls)}" if rule.controls else rule.kind
    return ". ".join(filter(None, (rule.title.rstrip("."), by, rule.why)))


def _reason(rule: Accounted) -> str:
    return rule.why if rule.outcome != "priced" else ""
