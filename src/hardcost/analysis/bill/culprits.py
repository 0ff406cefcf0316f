"""The bill of a search for culprits: an item for each culprit; the rest is measured as a whole."""

from __future__ import annotations

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import numpy as np

from hardcost.analysis.bill.fixed_price import (
    NOTHING,
    SPREAD,
    fixed_price,
    half_of,
    subtract_estimate,
)
from hardcost.analysis.estimates.estimates import Estimate, Series, by_metric, median, shift, total
from hardcost.analysis.estimates.resolution import (
    interaction_bound,
    placebo_bound,
    smallest_distinguishable,
)
from hardcost.controls.control import Profile
from hardcost.errors import TrialError
from hardcost.model.finding.bill import Item, Itemised, Story, Sum, Total
from hardcost.model.role import Baseline, Role, Whole, placebo_pairs
from hardcost.model.workload import Workload
from hardcost.plan.first_rule import indices_paid_for
from hardcost.plan.search.culprits import role_with
from hardcost.plan.search.lattice import Lattice
from hardcost.plan.search.questions import (
    CostShift,
    Culprit,
    SearchResult,
    SearchStep,
    SearchTask,
    Segment,
)
from hardcost.store.record import Record

GUIDE = "wall"
"""The metric that a search follows if the first workload has it."""

_LISTED = 8  # most controls of a segment that are named one by one


def guide_name(records: Sequence[Record]) -> str:
    """Return the metric that the search follows, in words."""
    first = records[0].workload
    if _has_guide(records):
        return f"{GUIDE} of {first}"
    return f"the mean over all metrics of {first}, each relative to the baseline"


def guide_samples(records: Sequence[Record], baseline: Sequence[Record]) -> tuple[float, ...]:
    """Return a search's samples from its trials: one for each repetition.

    A sample is the first workload's `wall`, in its own unit, or else the mean over its metrics of
    the median divided by the baseline's. Several seeds are averaged.

    Raises:
        TrialError: The workload has no metric above 0.
    """
    first = baseline[0].workload
    scales = {} if _has_guide(baseline) else _medians(baseline, first)
    repetitions = sorted({record.repetition for record in records})
    samples = []
    for repetition in repetitions:
        mine = [one for one in records if one.repetition == repetition]
        found = _medians(mine, first)
        if not scales:
            samples.append(found[GUIDE])
            continue
        ratios = [found[name] / scale for name, scale in scales.items() if scale > 0]
        if not ratios:
            raise TrialError(f"{first} has no metric above 0 to follow")
        samples.append(float(np.mean(ratios)))
    return tuple(samples)


def chance_of(records: Sequence[Record]) -> float:
    """Return the largest cost that placebos seem to have, on the metric that the search follows.

    It is relative to the baseline's value; 0 without placebos.
    """
    by_role: dict[Role, list[Record]] = {}
    for record in records:
        by_role.setdefault(record.role, []).append(record)
    baseline = by_role[Baseline()]
    whole = {role: float(np.mean(guide_samples(mine, baseline))) for role, mine in by_role.items()}
    shifts = [whole[placebo] - whole[on] for placebo, on in placebo_pairs(whole)]
    return placebo_bound(shifts) / whole[Baseline()] if shifts else 0.0


def itemise(
    profile: Profile, problem: SearchTask, outcome: SearchResult, records: Sequence[Record]
) -> Itemised:
    """Return the bill of `profile` from a search's measurements.

    An item is a confirmed culprit: `cost` is by how much the profile exceeds the profile without
    it (and without what requires it), `alone` is its cost over its requirements and nothing else.
    The rest is the cost of the profile without all culprits, measured as one, less the fixed price
    of having any audit rule where it has one; so is the cost of a culprit that is the only rule.
    What none of them explains is the interaction. For each metric they add up to the total's cost.
    """
    metrics, lattice = by_metric(records), Lattice(problem)
    confirmed = [one for one in outcome.culprits if one.confirmed and one.saved is not None]
    leasts = tuple(smallest_distinguishable(metric, known) for metric, known in metrics.items())
    totals = tuple(total(one.metric, metrics[one.metric], Whole(), one.cost) for one in leasts)
    rules = {
        control.name
        for control in map(profile.controls.__getitem__, indices_paid_for(profile.controls))
    }
    items, fixed, rest, interaction = [], [], [], []
    for of in totals:
        known = metrics[of.metric]
        price = fixed_price(known, of.least)
        # Leaving out the only rule also saves the price of having any.
        each = {
            one.index: price if rules and _lacks(rules, lattice, [one]) else NOTHING
            for one in confirmed
        }
        every = [_item(culprit, lattice, of, known, each[culprit.index]) for culprit in confirmed]
        found = [
            item
            for item, culprit in zip(every, confirmed, strict=True)
            if not of.least
            or abs(item.cost) > of.least * (SPREAD if each[culprit.index].value else 1.0)
        ]
        itemised = math.fsum(item.cost for item in found)
        remaining = _remaining(len(problem.names), confirmed, of, known)
        between = 0.0
        if remaining is not None:
            kept = 0.0 if _lacks(rules, lattice, confirmed) else price.value
            between = of.cost - math.fsum(item.cost for item in every) - price.value
            between -= remaining - kept
        if abs(between) <= interaction_bound(of.least, len(every) + 1, fixed=bool(price.value)):
            between = 0.0
        items.extend(found)
        fixed.append(Sum(of.metric, price.value, half_of(price)))
        rest.append(Sum(of.metric, of.cost - itemised - price.value - between))
        interaction.append(Sum(of.metric, between))
    items.sort(key=lambda item: -item.cost)
    return Itemised(
        profile=profile.name,
        profile_title=profile.title,
        totals=totals,
        items=tuple(items),
        rest=tuple(rest),
        interaction=tuple(interaction),
        least=leasts,
        fixed=tuple(fixed),
    )


def story_of(names: Sequence[str], outcome: SearchResult, statement: str, guided_by: str) -> Story:
    """Return a search for a reader: its statement, each step, and its conclusions."""
    steps = tuple(_step(step, len(names)) for step in outcome.steps)
    whole = outcome.profile.value - outcome.baseline.value
    shares = [
        f"{names[one.index]} is {one.saved.value / whole:.1%} of the profile's cost on {guided_by}."
        for one in outcome.culprits
        if one.confirmed and one.saved is not None and whole
    ]
    remains = []
    if outcome.remains is not None:
        part = f"{outcome.remains.value / outcome.baseline.value:+.2%} of the baseline"
        side = "below" if outcome.remains_below else "above"
        remains = [f"Without all culprits the profile makes {part}: {side} the resolution."]
    open_ends = [_unsplit(segment, names, outcome) for segment in outcome.unresolved]
    unpriced = [
        f"{names[one.index]} has no line in the bill: leaving it out was not measured."
        for one in outcome.culprits
        if one.confirmed and one.saved is None
    ]
    return Story(
        statement=f"{statement} The search follows {guided_by}.",
        steps=steps,
        conclusions=(
            *(one.shown for one in outcome.culprits),
            *shares,
            *remains,
            outcome.explanation,
            *open_ends,
            *unpriced,
        ),
        configurations=outcome.configurations,
        resolution=outcome.resolution,
        adds_up=outcome.adds_up,
    )


def _unsplit(segment: Segment, names: Sequence[str], outcome: SearchResult) -> str:
    """Say which costs of a segment remain unknown, and why."""
    found = [names[index] for index in segment.controls]
    many = f"the {len(found)} controls from {found[0]} to {found[-1]}"
    what = many if len(found) > _LISTED else ", ".join(found)
    cost = f"{segment.cost.value / outcome.baseline.value:+.2%} of the baseline"
    if segment.spread:
        return f"Not split: {what}, which make {cost} together, spread over them."
    return f"Not split: {what}, which make {cost} together: no more configurations were allowed."


def _step(step: SearchStep, count: int) -> str:
    why = step.why if step.why.endswith("?") else f"{step.why}."
    state = f"{role_with(step.on, count)} ({len(step.on)} of {count} on)"
    return f"{step.number}. {state} = {_value(step.value)}: {why} {step.conclusion}".rstrip()


def _value(estimate: CostShift) -> str:
    if estimate.low == estimate.high:
        return f"{estimate.value:,.6g}"
    return f"{estimate.value:,.6g} ({estimate.low:,.6g} to {estimate.high:,.6g})"


def _lacks(rules: AbstractSet[str], lattice: Lattice, culprits: Sequence[Culprit]) -> bool:
    """Say whether the profile without some culprits has none of the rules."""
    off = {index for one in culprits for index in (one.index, *one.dropped)}
    return rules <= {lattice.names[index] for index in off}


def _item(
    culprit: Culprit, lattice: Lattice, of: Total, known: dict[Role, Series], price: Estimate
) -> Item:
    count = len(lattice.names)
    off = {culprit.index, *culprit.dropped}
    without = role_with([index for index in range(count) if index not in off], count)
    saved = subtract_estimate(shift(known[Whole()], known[without]), price)
    needed = lattice.requirements(culprit.index)
    single = known.get(role_with(sorted({*needed, culprit.index}), count))
    before = known.get(role_with(sorted(needed), count))
    alone = math.nan if single is None or before is None else shift(single, before).value
    return Item(
        control=lattice.names[culprit.index],
        metric=of.metric,
        unit=of.unit,
        cost=saved.value,
        low=saved.low,
        high=saved.high,
        share=saved.value / of.cost if of.distinguishable else 0.0,
        alone=alone,
        fired=None,
    )


def _remaining(
    count: int, confirmed: Sequence[Culprit], of: Total, known: dict[Role, Series]
) -> float | None:
    """Return the cost of the profile without the culprits; None if that was not measured."""
    off = {index for culprit in confirmed for index in (culprit.index, *culprit.dropped)}
    role = role_with([index for index in range(count) if index not in off], count)
    return total(of.metric, known, role).cost if role in known else None


def _has_guide(records: Sequence[Record]) -> bool:
    return any(metric.metric == GUIDE for metric in records[0].measured)


def _medians(records: Sequence[Record], workload: Workload) -> dict[str, float]:
    """Return the median of each metric in a workload's trials, averaged over the trials."""
    found: dict[str, list[float]] = {}
    for record in records:
        if record.workload == workload:
            for metric in record.measured:
                found.setdefault(metric.metric, []).append(median(metric.samples).value)
    return {name: float(np.mean(values)) for name, values in found.items()}
