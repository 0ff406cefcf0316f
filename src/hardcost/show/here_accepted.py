"""What of a machine's hardening is accepted, in words."""

from __future__ import annotations

from collections.abc import Iterator

from hardcost.model.finding.here import HereFinding, HereItem
from hardcost.show.here_amounts import HAVING_RULES, share_words


def accepted_lines(found: HereFinding) -> Iterator[tuple[int, str]]:
    """Yield the share that is not accepted, and each item that is with its reason."""
    if found.not_accepted is None:
        return
    yield 0, accepted_sentence(found)
    items = [one for one in found.items if one.accepted is not None]
    if not items:
        return
    yield 0, f"Accepted ({len(items)}):"
    yield from ((2, f"{_amount(one)}: {one.name}: {one.accepted}") for one in items)
    if found.first_rule and any(one.kind == "audit rule" for one in items):
        yield 2, _together(found)


def accepted_sentence(found: HereFinding) -> str:
    """Return how much of the sum is accepted; "" without a policy."""
    if found.not_accepted is None:
        return ""
    rest = share_words(found.not_accepted)
    accepted = found.share - found.not_accepted
    if not accepted:
        return "Nothing that adds to this is accepted."
    return f"Of this {share_words(accepted)} is accepted, and {rest} is not."


def _amount(one: HereItem) -> str:
    """Return what an item adds, or why that is no number."""
    if one.by_default:
        return "not counted"
    return "price not known" if one.share is None else share_words(one.share)


def _together(found: HereFinding) -> str:
    amount = share_words(found.first_rule)
    if found.rules_accepted:
        return f"{amount}: {HAVING_RULES}: accepted, since every audit rule is"
    return f"{amount}: {HAVING_RULES}: not accepted, since not every audit rule is"
