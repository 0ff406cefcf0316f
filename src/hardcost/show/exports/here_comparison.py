"""Two answers of what the hardening of a machine costs, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from auditrules.model.location import Location
from hardcost.model.finding.here import HereItem
from hardcost.model.finding.here_comparison import HereChange, HereComparison
from hardcost.show.exports.markdown import code, escape_text, list_below, table
from hardcost.show.here_amounts import HAVING_RULES, share_words
from hardcost.show.here_comparison import share_or_unknown, sums

_HEADER = ("change", "setting", "before", "after", "set in", "remarks")


def comparison_markdown(found: HereComparison) -> str:
    """Return both sums, and a table of what changed."""
    text = "# Hardening, before and after\n"
    if found.incomparable:
        text += f"\n**The figures don't compare:** {escape_text('; '.join(found.incomparable))}.\n"
    text += f"\n{escape_text(sums(found))}\n"
    text += list_below("Checked now only, so perhaps there before", found.unseen_before)
    text += list_below("Checked before only, so perhaps still there", found.unseen_after)
    rows = list(_rows(found))
    if rows:
        text += f"\n{table(_HEADER, rows, right=[2, 3])}\n"
    else:
        text += "\nNothing was added or removed, and no cost changed.\n"
    return text + list_below("Also", found.notes)


def _rows(found: HereComparison) -> Iterator[tuple[str, ...]]:
    for one in found.added:
        yield _item("added", one, "", _amount(one))
    for one in found.removed:
        yield _item("removed", one, _amount(one), "")
    was, now = found.before.first_rule, found.after.first_rule
    if was != now:
        yield "cost", escape_text(HAVING_RULES), share_words(was), share_words(now), "", ""
    for title, changes in (
        ("cost", found.repriced),
        ("became a default", found.became_default),
        ("no default any more", found.no_longer_default),
    ):
        yield from (_change(title, one) for one in changes)


def _item(change: str, one: HereItem, before: str, after: str) -> tuple[str, ...]:
    remarks = ["a default, not counted"] if one.by_default else []
    remarks += [one.why] if one.why else []
    remarks += [f"accepted: {one.accepted}"] if one.accepted is not None else []
    return change, code(one.name), before, after, _place(one.place), escape_text("; ".join(remarks))


def _amount(one: HereItem) -> str:
    return share_or_unknown(one.share)


def _change(title: str, one: HereChange) -> tuple[str, ...]:
    before, after = share_or_unknown(one.before), share_or_unknown(one.after)
    return title, code(one.name), before, after, _place(one.place), escape_text(one.why or "")


def _place(place: Location | None) -> str:
    return "" if place is None else code(str(place))
