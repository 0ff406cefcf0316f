"""How a bill's costs are known: measured one by one, or verified in groups."""

from __future__ import annotations

from collections.abc import Iterator

from hardcost.model.finding.bill import Itemised
from hardcost.show.sentences.answer import kind_of
from hardcost.units import count

_KNOWN = (
    "how a cost is known. measured: by leaving out just this control. verified: it was predicted,"
    " and trials that left out groups of controls with this one saved what was predicted of the"
    " group, to within `least`"
)
NOT_ALONE = "; `-`: not measured, since the control's cost was verified in groups"

_SURE = 3  # errors of so many controls never cancel in all groups


def verification_lines(bill: Itemised) -> Iterator[str]:
    """Yield in how many groups how many costs were verified; nothing of a bill without any."""
    made = bill.verification
    if made is None:
        return
    kind, verified = kind_of(bill), len(verified_controls(bill))
    measured = len(bill.controls) - verified
    line = "How the costs are known: "
    if measured:
        line += (
            f"{count(measured, kind)} {_were(measured)} measured, by leaving out just that one; "
        )
    line += (
        f"{count(verified, kind)} {_were(verified)} verified: predicted, and confirmed by leaving"
        f" out groups of them. Any two are apart in one of {count(made.groups, 'group')}, so that"
        " two errors can't cancel."
    )
    if made.wrong:
        wrong = len(made.wrong)
        line += (
            f" {count(wrong, 'prediction')} {_were(wrong)} wrong: the groups showed which, and"
            f" {'it is' if wrong == 1 else 'they are'} among the measured ones."
        )
    yield line


def known_words(bill: Itemised) -> Iterator[str]:
    """Yield what measured and verified mean, and what groups could not have shown."""
    made = bill.verification
    if made is None:
        return
    rarity = 1 / made.escaping if made.escaping else float("inf")
    earlier = ""
    if made.earlier:
        earlier = (
            f", but of {count(len(made.earlier), kind_of(bill))} by what earlier bills measured"
        )
    yield (
        f"{_KNOWN}. Predictions are by {made.prior}{earlier}. Wrong ones of up to {_SURE} controls"
        f" always show in one of the {made.groups} groups; those of four or more escape only if"
        " they cancel in each group: two too high and two as much too low do in one of"
        f" {rarity:,.0f} bills"
    )


def verified_controls(bill: Itemised) -> frozenset[str]:
    """Return the controls whose cost was verified in groups."""
    return frozenset(
        item.control for item in (*bill.items, *bill.small) if item.known == "verified"
    )


def _were(number: int) -> str:
    return "was" if number == 1 else "were"
