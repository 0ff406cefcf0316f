"""The controls to give up for a budget, in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from hardcost.model.finding.choice import Abandoned, Choice, Costs, Offer, Unkeepable
from hardcost.show.sentences.amounts import unit_words
from hardcost.show.text import decimals, percent, signed_number
from hardcost.units import count, join_in_prose, visible

_REQUIRED = "required control"

_METRICS = 3
"""Most metrics that a sentence names."""

_KEPT = 20
"""Most controls that are kept and listed beside those that are given up."""

_IDS = 2
"""Most ids of a control in a line; SCAP profiles have a dozen, the requirements last."""


def choice_sentences(choice: Choice) -> list[str]:
    """Return the answer: the controls to give up, the effect, and the price of having any rule."""
    return [*_proposal(choice), *_any_rule(choice)]


def _proposal(choice: Choice) -> list[str]:
    """Return the controls to give up, and the effect."""
    if not choice.has_budget:
        whole = f"No budget was named: the whole profile costs {_growth_words(choice.before)};"
        return [f"{whole} the table shows what keeping less of it costs."]
    budget = budget_words(choice)
    if choice.unkeepable is not None:
        return list(_none_fits(choice, choice.unkeepable, budget))
    if not choice.found:  # saved before `unkeepable` was
        name = visible(choice.profile)
        return [f"Nothing of {name} fits within {budget}: whatever was measured costs more."]
    if not choice.given_up:
        return [_give_up_nothing(choice, budget)]
    return [
        (
            f"Give up {len(choice.given_up)} of {count(choice.controls, 'control')}:"
            f" {_from_to(choice)}{_worth(choice)}."
        ),
        *_measured_words(choice, budget),
    ]


def _none_fits(choice: Choice, none_of: Unkeepable, budget: str) -> Iterator[str]:
    """Yield that nothing of a kind can be kept, the least budget, and what a round one keeps."""
    required = none_of.kind == _REQUIRED
    what = "what has to be kept" if required else "one"
    least = f": the least budget that keeps {what} is" if none_of.offers else ""
    begins = "Not" if required else f"No {none_of.kind} can be kept"
    yield (
        " ".join([f"{begins} within {budget}{least}", *map(budget_words, none_of.offers[:1])]) + "."
    )
    if not required and choice.kept:
        yield _keeps(choice, budget, choice.kept, choice.after, "measured")
    for offer in none_of.offers:
        how = "measured" if offer.measured else "predicted, not measured"
        yield _keeps(choice, budget_words(offer), len(offer.kept), offer.costs, how)


def _keeps(choice: Choice, budget: str, kept: int, costs: Sequence[Costs], how: str) -> str:
    """Return the controls that can be kept within a budget."""
    part = f"{kept} of {count(choice.controls, 'control')}"
    return f"Within {budget}, {part} can be kept: {_growth_words(costs)} ({how})."


def given_up_lines(choice: Choice) -> list[str]:
    """Return a line for each control that is given up by choice."""
    return [
        f"  give up  {visible(_original_text(one))}  [{_facts(one)}]" for one in choice.abandoned
    ]


def _original_text(one: Abandoned) -> str:
    """Return a control as its author wrote it; what replaces several is shown as it is."""
    return one.stands_for[0] if len(one.stands_for) == 1 else one.control


def kept_lines(choice: Choice, controls: Sequence[str]) -> list[str]:
    """Return a line for each of `controls` that is kept, as far as they are few.

    If none can be, these are the controls that the larger budget keeps which is proposed.
    """
    offers = () if choice.unkeepable is None else choice.unkeepable.offers[-1:]
    if offers:
        return [f"  keep  {visible(name)}" for offer in offers for name in offer.kept]
    off = {one.control for one in choice.given_up}
    kept = [name for name in controls if name not in off]
    if not off or len(kept) > _KEPT:
        return []
    return [f"  keep     {visible(name)}" for name in kept]


def choice_notes(choice: Choice) -> Iterator[str]:
    """Yield notes on the values and on the frontier."""
    yield f"What keeping a control is worth: {choice.worth}."
    if any(not level.measured for level in choice.frontier):
        yield (
            "cost is predicted: computed from the measured costs of single controls and of other"
            " choices, not measured"
        )
    yield from choice.rewritten


def cost_words(one: Costs) -> str:
    """Return by how much a metric grows, such as `+48.0%`."""
    return signed_share(one.share)


def signed_share(share: float) -> str:
    """Return a share with its sign."""
    return f"+{percent(share)}" if share > 0 else percent(share)


def _give_up_nothing(choice: Choice, budget: str) -> str:
    if choice.rewritten:
        return (
            f"Give up nothing: with rules that record the same and cost less, {_from_to(choice)};"
            f" within {budget}."
        )
    return (
        f"Give up nothing: {_growth_words(choice.before)} with the whole profile; within {budget}."
    )


def _measured_words(choice: Choice, budget: str) -> Iterator[str]:
    """Yield what was measured of the proposal, and what was tried to keep more."""
    number = len(choice.given_up)
    tried = "any of them" if choice.put_back == number else f"any of {choice.put_back} of them"
    tried = "it" if number == 1 else tried
    added = f"; adding {tried} back would exceed that" if choice.put_back else ""
    yield f"That was measured to be within {budget}{added}."
    if choice.rewritten:
        dearest = _growth_words(choice.equivalent)
        yield (
            f"Keeping everything, with the rules rewritten to record the same for less, costs"
            f" {dearest}."
        )


def _worth(choice: Choice) -> str:
    """Return how much of the profile's worth is kept, where controls are not worth the same."""
    kept = choice.controls - len(choice.given_up)
    if math.isclose(choice.value * choice.controls, kept):
        return ""
    return f"; {percent(choice.value)} of what the controls are worth is kept"


def _any_rule(choice: Choice) -> Iterator[str]:
    """Yield what giving up all audit rules saves beside their costs, where that is something."""
    if not choice.fixed:
        return
    most = max(choice.fixed, key=lambda one: one.share)
    cost = signed_number(most.cost, decimals([most.cost]))
    amount = f"{cost} {unit_words(most.unit)}, {percent(most.share)}"
    price = f"the price of having any audit rule ({amount} of {visible(most.metric)})"
    rules = len(choice.rules)
    if choice.unkeepable is not None and choice.avoids_fixed:
        yield f"Whichever rule is kept first pays {price}."
    elif rules == 1:
        yield f"What giving up the only rule saves contains {price}."
    elif choice.has_budget and choice.found and choice.avoids_fixed:
        yield f"As all {rules} rules are given up, {price} is saved as well."
    else:
        yield (
            f"The price of having any audit rule at all is {amount} of {visible(most.metric)};"
            f" only giving up all {rules} rules would save that."
        )


def _facts(one: Abandoned) -> str:
    digits = decimals([one.cost])
    cost = f"{signed_number(one.cost, digits)} {unit_words(one.unit)} on {visible(one.metric)}"
    facts = [cost if one.low > 0 else f"saves nothing by itself on {visible(one.metric)}"]
    facts += [visible(one.severity)] if one.severity else []
    facts += [_first_ids(one.ids)] if one.ids else []
    facts += [visible(one.where)] if one.place else []
    facts += [f"in place of {len(one.stands_for)} rules"] if len(one.stands_for) > 1 else []
    return "; ".join(facts)


def _first_ids(ids: Sequence[str]) -> str:
    """Return the first ids; JSON and the decision have all."""
    more = len(ids) - _IDS
    return visible(", ".join(ids[:_IDS])) + (f" and {count(more, 'more id')}" if more > 0 else "")


def _from_to(choice: Choice) -> str:
    """Return the metrics that were over the budget, before and after."""
    before = {one.metric: one for one in choice.before}
    over = [one for one in choice.after if _is_over(before[one.metric])] or list(choice.after)
    over.sort(key=lambda one: -before[one.metric].share)
    said = [
        f"{visible(one.metric)} goes from {signed_share(before[one.metric].share)} to"
        f" {signed_share(one.share)}"
        for one in over[:_METRICS]
    ]
    more = len(over) - _METRICS
    return join_in_prose([*said, *([count(more, "other metric")] if more > 0 else [])])


def _is_over(one: Costs) -> bool:
    return one.limit is not None and one.cost > one.limit


def _growth_words(costs: Sequence[Costs]) -> str:
    dearest = sorted(costs, key=lambda one: -one.share)[:_METRICS]
    return join_in_prose([f"{signed_share(one.share)} on {visible(one.metric)}" for one in dearest])


def budget_words(of: Choice | Offer) -> str:
    """Return by how much metrics may grow."""
    parts = [f"{percent(limit)} on {visible(name)}" for name, limit in of.budgets.items()]
    if of.budget is not None and math.isfinite(of.budget):
        parts.append(percent(of.budget) + (" on all others" if parts else " on every metric"))
    return join_in_prose(parts)
