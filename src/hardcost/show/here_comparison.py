"""Two answers of what the hardening of a machine costs, in words: the sums first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from auditrules.model.location import Location
from hardcost.model.finding.here import HereItem
from hardcost.model.finding.here_comparison import HereChange, HereComparison
from hardcost.show.here_amounts import HAVING_RULES, share_words

_UNKNOWN = "not known"
_LEAST_POINTS = 0.05  # percentage points that are shown as a difference
_ANYWAY = "the kernel or the distribution has it anyway"


def comparison_lines(found: HereComparison) -> Iterator[tuple[int, str]]:
    """Yield each line with its indent."""
    if found.incomparable:
        yield 0, f"The figures don't compare: {'; '.join(found.incomparable)}."
    yield 0, sums(found)
    was, now = found.before.not_accepted, found.after.not_accepted
    if was is not None and now is not None:
        yield 0, f"Not accepted: {_from_to(was, now)}."
    yield from _listed("Checked now only, so perhaps there before", found.unseen_before)
    yield from _listed("Checked before only, so perhaps still there", found.unseen_after)
    was, now = found.before.first_rule, found.after.first_rule
    changes = [f"{_from_to(was, now)}: {HAVING_RULES}"] if was != now else []
    changes += map(_changed, found.repriced)
    groups = (
        *_items("Added", found.added),
        *_items("Removed", found.removed),
        _counted("Changed in cost", changes),
        _counted(f"Counted no more, since {_ANYWAY}", map(_changed, found.became_default)),
        _counted(
            "Counted now, since it is no default any more", map(_changed, found.no_longer_default)
        ),
        *_defaults("Added", found.added),
        *_defaults("Removed", found.removed),
    )
    if not any(lines for _, lines in groups):
        yield 0, "Nothing was added or removed, and no cost changed."
    for title, lines in groups:
        yield from _listed(title, lines)
    yield from _listed("Also", found.notes)


def sums(found: HereComparison) -> str:
    """Return the sentence with both sums."""
    before, after = found.before, found.after
    was, now = _more(before.share), _more(after.share)
    if before.machine == after.machine:
        said = (
            f"the hardening of {after.machine} made its system calls execute {was}"
            f" instructions (not time), and makes them execute {now}"
        )
    else:
        said = (
            f"hardening makes system calls execute {was} instructions (not time) on"
            f" {before.machine}, and {now} on {after.machine}"
        )
    if found.incomparable:
        return f"Estimate: {said}."
    return f"Estimate: {said}: {_points(found.difference)}, averaged over {after.mix}."


def share_or_unknown(share: float | None) -> str:
    """Return what an item adds."""
    return _UNKNOWN if share is None else share_words(share)


def _more(share: float) -> str:
    return f"{share_words(share)} more" if share else "no more"


def _points(difference: float) -> str:
    """Return by how much a share of what a call takes grew."""
    points = 100 * difference
    if abs(points) < _LEAST_POINTS:
        return "the same" if points == 0 else "less than 0.1 percentage points apart"
    return f"{abs(points):.1f} percentage points {'more' if points > 0 else 'less'}"


def _items(title: str, items: Sequence[HereItem]) -> Iterator[tuple[str, list[str]]]:
    """Yield what is in a sum, and what would be if its price were known, with titles."""
    counted = [one for one in items if not one.by_default]
    yield _counted(title, [_item(one) for one in counted if one.share is not None])
    unpriced = [_item(one) for one in counted if one.share is None]
    yield _counted(f"{title}, without a price", unpriced)


def _counted(title: str, lines: Iterable[str]) -> tuple[str, list[str]]:
    found = list(lines)
    return f"{title} ({len(found)})", found


def _defaults(title: str, items: Sequence[HereItem]) -> Iterator[tuple[str, list[str]]]:
    names = [one.name for one in items if one.by_default]
    if names:
        yield f"{title}, but in no sum, since {_ANYWAY} ({len(names)})", ["; ".join(names)]


def _item(one: HereItem) -> str:
    known = one.why if one.share is None else one.known
    accepted = None if one.accepted is None else f"accepted: {one.accepted}"
    return _with_remarks(f"{share_or_unknown(one.share)}: {one.name}", one.place, (known, accepted))


def _changed(one: HereChange) -> str:
    return _with_remarks(f"{_from_to(one.before, one.after)}: {one.name}", one.place, (one.why,))


def _from_to(before: float | None, after: float | None) -> str:
    return f"{share_or_unknown(before)} before, {share_or_unknown(after)} now"


def _with_remarks(said: str, place: Location | None, remarks: Iterable[str | None]) -> str:
    found = [f"set in {place}"] if place is not None else []
    found += [one for one in remarks if one]
    return f"{said} ({'; '.join(found)})" if found else said


def _listed(title: str, lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    if lines:
        yield 0, f"{title}:"
        yield from ((2, one) for one in lines)
