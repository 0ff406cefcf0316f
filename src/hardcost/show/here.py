"""What the hardening of a machine costs, in words: the answer first, then what to look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from hardcost.model.finding.here import HereFinding, HereItem
from hardcost.show.text import percent
from hardcost.units import count

_DEAREST = 3
_NAMED = 8  # of what is listed by name alone
_LEAST = 0.0005  # a share below it is shown as less


def here_lines(found: HereFinding) -> Iterator[tuple[int, str]]:
    """Yield each line of the answer with its indent."""
    set_here = [one for one in found.items if not one.by_default]
    yield 0, _answer(found, set_here)
    yield from _dearest(found, [one for one in set_here if one.share])
    yield from _calls(found)
    yield from _group("Free", [one for one in set_here if one.share == 0])
    yield from _group("In force without a price", [one for one in set_here if one.share is None])
    yield from _defaults([one for one in found.items if one.by_default])
    yield from _against(found)
    if found.unseen:
        yield 0, "Not seen:"
        yield from ((2, one) for one in found.unseen)
    if found.notes:
        yield 0, "Also:"
        yield from ((2, one) for one in found.notes)
    yield 0, _how_known(found)
    yield (
        0,
        (
            "To measure it: `hardcost here -o this.toml`, then `hardcost bill this.toml`."
            " `--format json` has every item."
        ),
    )


def _answer(found: HereFinding, set_here: Sequence[HereItem]) -> str:
    kernel = f" (Linux {found.kernel})" if found.kernel else ""
    if not set_here:
        return (
            f"Nothing that hardens was set on {found.machine}{kernel}, as far as it could be seen."
        )
    return (
        f"What was set to harden {found.machine}{kernel}, {count(len(set_here), 'setting')}, adds"
        f" {_share(found.share)} to its system calls: instructions, for {found.mix}."
    )


def _share(share: float) -> str:
    if share == 0:
        return "nothing"
    return f"less than {percent(_LEAST)}" if 0 < share < _LEAST else percent(share)


def _dearest(found: HereFinding, costing: Sequence[HereItem]) -> Iterator[tuple[int, str]]:
    """Yield what adds most: that there are audit rules at all, and single settings."""
    if not costing and not found.first_rule:
        return
    yield 0, "The dearest:"
    if found.first_rule:
        yield (
            2,
            (
                f"{_share(found.first_rule)}: that there are audit rules for system calls,"
                " whichever they are; it goes only with the last of them"
            ),
        )
    for one in costing[:_DEAREST]:
        most = f", up to {percent(one.grows)} to {one.most}" if one.most and one.grows else ""
        yield 2, f"{_share(one.share or 0.0)}{most}: {one.name}"
        place = f"set in {one.place}" if one.place is not None else "where it is set is not known"
        yield 6, f"{place}; {one.known}{f'; {one.note}' if one.note else ''}"
    if len(costing) > _DEAREST:
        rest = costing[_DEAREST:]
        yield 2, f"{_share(sum(one.share or 0.0 for one in rest))}: {len(rest)} others together"
    if found.records:
        yield 2, f"{_share(found.records)}: records of the calls that rules ask for"


def _calls(found: HereFinding) -> Iterator[tuple[int, str]]:
    growing = [f"{one.name} {percent(one.share)}" for one in found.calls if one.share > _LEAST]
    if growing:
        yield 0, f"The calls that grow most: {', '.join(growing[:_NAMED])}."


def _group(title: str, items: Sequence[HereItem]) -> Iterator[tuple[int, str]]:
    """Yield what is listed by name, reasons by how many have them."""
    if not items:
        return
    names = [one.name for one in items[:_NAMED]]
    more = f"; and {len(items) - _NAMED} more" if len(items) > _NAMED else ""
    yield 0, f"{title} ({len(items)}):"
    yield 2, f"{'; '.join(names)}{more}"
    for why, number in Counter(one.why for one in items if one.why).most_common():
        yield 6, f"{number} of them: {why}"


def _defaults(items: Sequence[HereItem]) -> Iterator[tuple[int, str]]:
    if not items:
        return
    priced = [one for one in items if one.share]
    named = ", ".join(f"{one.name} ({_share(one.share or 0.0)})" for one in priced[:_DEAREST])
    dearest = f"; most of all add {named}" if named else ""
    yield (
        0,
        f"Not in the sum: {len(items)} that the kernel or the distribution has anyway{dearest}.",
    )


def _against(found: HereFinding) -> Iterator[tuple[int, str]]:
    if found.against is None:
        return
    if not found.missing:
        yield 0, f"Everything that {found.against} asks for is in force."
        return
    free = [one.name for one in found.missing if one.share == 0]
    yield (
        0,
        (
            f"Of {found.against}, {count(len(found.missing), 'control')}"
            f" {'is' if len(found.missing) == 1 else 'are'} not in force;"
            f" {len(free)} of them would be free:"
        ),
    )
    yield from ((2, one) for one in free[:_NAMED])
    if len(free) > _NAMED:
        yield 2, f"and {len(free) - _NAMED} more"


def _how_known(found: HereFinding) -> str:
    return (
        f"How this is known: settings have measured prices, each by itself, of Linux"
        f" {found.priced_on}; audit rules are predicted. Prices are added up, which leaves out how"
        " settings act on each other. Instructions are not time."
    )
