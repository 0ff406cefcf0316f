"""What the hardening in force on a machine costs, as one page that can be passed on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from hardcost.model.finding.here import HereFinding, HereItem
from hardcost.show.here import answer_sentence, sources_sentence
from hardcost.show.here_accepted import accepted_sentence
from hardcost.show.here_amounts import cheaper_sentence, increase_words, share_words
from hardcost.show.site.rendering import AmountCell, rendered
from hardcost.show.text import signed_number
from hardcost.units import count, visible

_COLUMNS = (
    ("setting", "text"),
    ("kind", "text"),
    ("adds", "number"),
    ("most on", "text"),
    ("set in", "text"),
    ("how known", "text"),
)
_ACCEPTED = ("accepted", "text")
_CALLS = (("call", "text"), ("takes more", "number"), ("instructions", "number"))
_MISSING = (("setting", "text"), ("would add", "number"))


@dataclass(frozen=True)
class _ItemRow:
    """A row of a table of settings; `texts` follow what it adds.

    `in_words`: its name is no setting's.
    """

    name: str
    kind: str
    amount: AmountCell
    texts: tuple[str, ...]
    in_words: bool = False


@dataclass(frozen=True)
class _AmountRow:
    name: str
    cells: tuple[AmountCell, ...]


def hardening_page(found: HereFinding) -> str:
    """Return the page: the sum, what was set, what is there anyway, and what was not checked."""
    set_here = [one for one in found.items if not one.by_default]
    defaults = [one for one in found.items if one.by_default]
    has_policy = found.not_accepted is not None
    rows = sorted((*_shared_rows(found), *map(_item_row, set_here)), key=_dearest_first)
    return rendered(
        "hardening",
        title=f"Hardening of {visible(found.machine)}",
        front="",
        answer=visible(answer_sentence(found, set_here)),
        accepted=accepted_sentence(found),
        columns=(*_COLUMNS, *((_ACCEPTED,) if has_policy else ())),
        rows=_shown(rows, has_policy=has_policy),
        default_columns=_COLUMNS,
        defaults=_shown([_item_row(one) for one in defaults], has_policy=False),
        call_columns=_CALLS,
        calls=list(_call_rows(found)),
        missing_columns=_MISSING,
        missing=[_AmountRow(visible(it.name), (_amount(it.share),)) for it in found.missing],
        against="" if found.against is None else visible(found.against),
        unjudged=count(found.unjudged, "control") if found.unjudged else "",
        unseen=[visible(one) for one in found.unseen],
        notes=[visible(one) for one in (cheaper_sentence(found), *found.notes) if one],
        sources=visible(sources_sentence(found)),
    )


def _shared_rows(found: HereFinding) -> Iterator[_ItemRow]:
    """Yield what audit rules add together, so that the table adds up to the sum."""
    if found.first_rule:
        name = "having audit rules, whichever they are"
        texts = ("", "", "predicted", "every audit rule is" if found.rules_accepted else "")
        yield _ItemRow(name, "all audit rules", _amount(found.first_rule), texts, in_words=True)


def _item_row(one: HereItem) -> _ItemRow:
    most = f"{one.most} {increase_words(one.grows)}" if one.most and one.grows else ""
    place = "" if one.place is None else str(one.place)
    known = "; ".join(text for text in (one.known or one.why, one.note) if text)
    texts = (most, place, known, one.accepted or "")
    return _ItemRow(one.name, one.kind, _amount(one.share), texts)


def _dearest_first(row: _ItemRow) -> tuple[bool, float]:
    return (row.amount.value is None, -(row.amount.value or 0.0))


def _shown(rows: Sequence[_ItemRow], *, has_policy: bool) -> list[_ItemRow]:
    """Return rows as they are shown: names harmless, and with bars against the longest."""
    longest = max((one.amount.value or 0.0 for one in rows), default=0.0)
    return [
        replace(
            one,
            name=visible(one.name),
            kind=visible(one.kind),
            amount=_with_bar(one.amount, longest),
            texts=tuple(visible(text) for text in (one.texts if has_policy else one.texts[:-1])),
        )
        for one in rows
    ]


def _amount(share: float | None) -> AmountCell:
    return AmountCell("not known" if share is None else share_words(share), share)


def _with_bar(amount: AmountCell, longest: float) -> AmountCell:
    part = (amount.value or 0.0) / longest if longest > 0 else 0.0
    return AmountCell(amount.text, amount.value, max(part, 0.0))


def _call_rows(found: HereFinding) -> Iterator[_AmountRow]:
    for one in found.calls:
        share = AmountCell(increase_words(one.share), one.share)
        yield _AmountRow(visible(one.name), (share, AmountCell(signed_number(one.cost), one.cost)))
