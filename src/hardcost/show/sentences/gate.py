"""A gate's answer in words, the same in every form: the metrics over a limit, and the lines."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from auditrules.model.location import Location
from hardcost.model.finding.change import Change, ChangeLine, Contribution, Gate, Growth
from hardcost.show.sentences.amounts import unit_words
from hardcost.show.text import MISSING, decimals, number, percent, signed_number
from hardcost.units import count, is_rate, join_in_prose, visible

_MOST_LINES = 3
_MOST_METRICS = 3
_WHOLE_FROM = 1000  # values from here on are shown without decimals


def sentences(gate: Gate) -> tuple[str, ...]:
    """Return the answer: the metrics over their limits and why, or that none is."""
    over = gate.over
    found = [_over(gate, one) for one in over[:_MOST_METRICS]]
    if len(over) > _MOST_METRICS:
        found.append(f"{count(len(over) - _MOST_METRICS, 'more metric')} over the limit.")
    if not over:
        found.append(_within(gate))
    else:
        found += _other_metrics(gate)
    if gate.unclear:
        names = ", ".join(visible(one.name) for one in gate.unclear)
        found.append(f"Beyond the limit, but perhaps by chance: {names}.")
    if over and gate.accepted:
        found.append(
            f"What {_accepted_places(gate)} adds is accepted by a comment, and not part of this."
        )
    if gate.any_rule is not None:
        found.append(f"{any_rule_words(gate.any_rule)}.")
    found += _unpriced_lines(gate)
    if gate.unknown:
        found.append(f"Without a number: {visible(', '.join(map(str, gate.unknown)))}.")
    return tuple(found)


def verdict(growth: Growth) -> str:
    """Return a metric's outcome, in a word or two."""
    if growth.over:
        return "over"
    if growth.exceeds:
        return "perhaps over"
    if growth.limit is None:
        return "no limit"
    if growth.share > growth.limit:
        return "accepted"
    return "within"


def growth_percent(growth: Growth) -> str:
    """Return the growth of a metric, such as `+2.4%`."""
    return signed_percent(growth.share)


def signed_percent(share: float) -> str:
    """Return a share with its sign, such as `+2.4%`."""
    if math.isnan(share):
        return MISSING
    if math.isinf(share):
        return "from 0"
    return f"+{percent(share)}" if share > 0 else percent(share)


def limit(growth: Growth) -> str:
    """Return a metric's limit, such as `5.0%`; a dash where it has none."""
    return "-" if growth.limit is None else percent(growth.limit)


def amount(growth: Growth, value: float, *, with_sign: bool = True) -> str:
    """Return a number of a metric's unit as it is shown."""
    size = max(abs(growth.base), abs(growth.head))
    digits = 0 if size >= _WHOLE_FROM else decimals([growth.base, growth.head])
    return signed_number(value, digits) if with_sign else number(value, digits)


ANY_RULE = "having any rule"


def any_rule(growth: Growth) -> str:
    """Return the price of having any audit rule as a line, such as `having any rule: +1,580`."""
    return f"{ANY_RULE}: {amount(growth, growth.fixed or 0.0)}"


def any_rule_words(growth: Growth) -> str:
    """Return the price of having any audit rule, with its unit and share."""
    price = growth.fixed or 0.0
    share = f", {signed_percent(price / growth.base)} of it" if growth.base > 0 else ""
    rules = "; it is paid once, whichever the rules are" if price > 0 else ""
    return (
        f"H{any_rule(growth)[1:]} {unit_words(growth.unit)} on {visible(growth.name)}{share}{rules}"
    )


def line_cost(gate: Gate, line: ChangeLine) -> str:
    """Return the effect of a line of the change, as in an annotation."""
    parts = gate.parts_of(line)
    what = {Change.ADDED: "this line", Change.REMOVED: "a removed line", Change.CHANGED: "this"}
    if not parts:
        return f"{gate.how}: {what[line.change]} has no cost distinguishable from 0"
    blamed = {one.name for one in gate.metrics_exceeded_by(line)}
    worst = sorted(parts, key=lambda each: each[0].name not in blamed)
    said = "; ".join(_part(growth, part) for growth, part in worst[:_MOST_METRICS])
    more = len(parts) - _MOST_METRICS
    rest = f"; and {count(more, 'other metric')}" if more > 0 else ""
    return f"{gate.how}: {what[line.change]} adds {said}{rest}"


def title(gate: Gate) -> str:
    """Return the two states compared, in a line."""
    return f"before: {visible(gate.base)}; after: {visible(gate.head)} ({gate.how})"


def conditions(gate: Gate) -> Iterator[str]:
    """Yield the conditions of the numbers, and further notes."""
    how = "Predicted, not measured" if gate.how == "predicted" else "Measured"
    yield f"{how}: {visible(', '.join(gate.conditions))}."
    for warning in gate.warnings:
        yield f"WARNING: {visible(warning)}"
    yield from map(visible, gate.notes)


def _part(growth: Growth, part: Contribution) -> str:
    share = part.cost / growth.base if growth.base > 0 else math.nan
    over = ""
    if growth.over:
        over = f", over the limit: {growth_percent(growth)} in all, limit {limit(growth)}"
    return (
        f"{amount(growth, part.cost)} {visible(growth.unit)} to {visible(growth.name)}"
        f" ({signed_percent(share)}{over})"
    )


def _over(gate: Gate, growth: Growth) -> str:
    text = (
        f"{visible(growth.name)} grew by {percent(growth.share)} ({gate.how}), over its limit of"
        f" {limit(growth)}"
        if math.isfinite(growth.share)
        else f"{visible(growth.name)} grew from 0 ({gate.how}), over its limit of {limit(growth)}"
    )
    causes = [part for part in growth.parts if part.cost > 0][:_MOST_LINES]
    price = growth.fixed or 0.0
    first = [f"{ANY_RULE} {amount(growth, price)}"] if price > 0 else []
    if not causes:
        end = f": {first[0]} {unit_words(growth.unit)}" if first else ""
        return f"{text}{end}; no single line explains it."
    return f"{text}: {', '.join([*first, _causes(growth, causes)])}."


def _other_metrics(gate: Gate) -> Iterator[str]:
    """Yield the changes of the other metrics, and how the change can pass."""
    others = [
        one
        for one in gate.changed
        if math.isfinite(one.share) and verdict(one) in {"no limit", "within"}
    ]
    same = [visible(one.name) for one in gate.growths if one not in gate.changed]
    if others:
        most = max(others, key=lambda one: one.share)
        rest = f"; {len(same)} more did not change" if same else ""
        if 0 < len(same) <= _MOST_METRICS:
            rest = f"; {join_in_prose(same)} did not change"
        if len(others) == 1:
            yield f"Beside that, {visible(most.name)} grew by {percent(most.share)}{rest}."
        else:
            yield f"{len(others)} others grew by at most {percent(most.share)}{rest}."
    places = _to_blame(gate)
    if places:
        where = join_in_prose(places[:_MOST_LINES])
        more = len(places) - _MOST_LINES
        if more > 0:
            where = f"{', '.join(places[:_MOST_LINES])} and {more} more"
        its, it = ("its", "it") if len(places) == 1 else ("their", "each")
        yield (
            f"To pass, change or leave out {where}, or accept {its} cost: put the comment"
            f" `# hardcost: ignore=over-limit` above {it}."
        )


def _to_blame(gate: Gate) -> list[str]:
    """Return where the fewest lines stand without which each metric is within its limit.

    The largest are taken first. None if lines alone do not explain it.
    """
    chosen: dict[Location, None] = {}
    for growth in gate.over:
        if growth.limit is None or is_rate(growth.unit):
            return []
        excess = growth.difference - growth.accepted - growth.limit * growth.base
        parts = [one for one in growth.parts if one.cost > 0 and not one.line.accepted]
        excess -= math.fsum(one.cost for one in parts if one.line.place in chosen)
        for part in sorted(parts, key=lambda one: -one.cost):
            if excess <= 0:
                break
            if part.line.place and part.line.place not in chosen:
                chosen[part.line.place] = None
                excess -= part.cost
        if excess > 0:
            return []
    return [visible(place) for place in chosen]


def _unpriced_lines(gate: Gate) -> Iterator[str]:
    """Yield which lines have a part that is not known, on which metrics, and why."""
    metrics: dict[tuple[str, str], list[str]] = {}
    for growth in gate.growths:
        for line, why in growth.unpriced:
            key = (visible(line.named), why)
            metrics.setdefault(key, []).append(visible(growth.name))
    for (what, why), names in metrics.items():
        more = len(names) - _MOST_METRICS
        said = join_in_prose([*names[:_MOST_METRICS], *([f"{more} more"] if more > 0 else [])])
        yield f"What {what} adds to {said} has no number ({why})."


def _causes(growth: Growth, parts: Iterable[Contribution]) -> str:
    said = [
        f"{visible(part.line.named)} ({part.line.change.value}) {amount(growth, part.cost)}"
        for part in parts
    ]
    return f"{', '.join(said)} {unit_words(growth.unit)}"


def _accepted_places(gate: Gate) -> str:
    return join_in_prose([visible(one.place or "") for one in gate.accepted])


def _within(gate: Gate) -> str:
    if not gate.changed:
        return f"Nothing grew ({gate.how}): {count(len(gate.growths), 'metric')} the same."
    known = [one for one in gate.changed if not math.isnan(one.share)]
    unlimited = all(one.limit is None for one in gate.growths)
    text = "No limit was set." if unlimited else f"No metric is over its limit ({gate.how})."
    if gate.accepted:
        text = (
            f"{text[:-1]}, apart from what {_accepted_places(gate)} adds, which a comment accepts."
        )
    if not known:
        return text
    most = max(known, key=lambda one: one.share)
    bound = f"limit {limit(most)}"
    if most.limit is None:
        bound = gate.how if unlimited else "no limit"
    causes = [part for part in most.parts if part.cost > 0][:_MOST_LINES]
    by = f"; {_causes(most, causes)}" if causes else ""
    return f"{text} {visible(most.name)} grows most: {growth_percent(most)} ({bound}){by}."
