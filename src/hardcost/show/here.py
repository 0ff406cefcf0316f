"""What the hardening of a machine costs, in words: the answer first, then what to look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from hardcost.model.finding.here import HereFinding, HereItem
from hardcost.show.here_accepted import accepted_lines
from hardcost.show.here_amounts import (
    FACTOR_FROM,
    LEAST,
    call_words,
    cheaper_sentence,
    increase_words,
    share_words,
)
from hardcost.units import count, join_in_prose

_SHOWN = 8  # items that are shown with what there is to know of them
_NAMED = 8  # of what is listed by name alone
_RULE = "audit rule"
_NO_SETTING = (_RULE, "audit state", "overlap")
_NO_TIME = "Instructions are not time, and a program that makes few system calls hardly notices."


def here_lines(found: HereFinding) -> Iterator[tuple[int, str]]:
    """Yield each line of the answer with its indent."""
    set_here = [one for one in found.items if not one.by_default]
    yield 0, answer_sentence(found, set_here)
    yield from accepted_lines(found)
    yield from _most_expensive(found, set_here)
    yield from _calls(found)
    yield from _cheaper(found)
    yield from _group("No measurable cost on average", [one for one in set_here if one.share == 0])
    yield from _group(
        "In force, and without a price", [one for one in set_here if one.share is None]
    )
    yield from _defaults([one for one in found.items if one.by_default])
    yield from _against(found)
    yield from _lines("Not checked", found.unseen)
    yield from _lines("Also", found.notes)
    yield 0, sources_sentence(found)
    yield from _next(found, set_here)


def answer_sentence(found: HereFinding, set_here: Sequence[HereItem]) -> str:
    """Return the sentence with the sum; `set_here` are the items that are no defaults."""
    kernel = f" (Linux {found.kernel})" if found.kernel else ""
    if not set_here:
        return f"Nothing that hardens was set on {found.machine}{kernel}, as far as it was checked."
    rules = sum(one.kind == _RULE for one in set_here)
    others = sum(one.kind not in _NO_SETTING for one in set_here)
    parts = [count(rules, _RULE)] if rules else []
    parts += [count(others, "setting")] if others else []
    verb, hardens = ("makes", "hardens") if len(set_here) == 1 else ("make", "harden")
    if found.share == 0:
        more = f"{verb} its system calls execute no more instructions"
    else:
        amount = share_words(found.share)
        more = f"{verb} its system calls execute {amount} more instructions than without"
    whose = f"the {join_in_prose(parts)} that {hardens} {found.machine}{kernel}"
    return f"Estimate: {whose} {more}, averaged over {found.mix}. {_NO_TIME}"


def _most_expensive(found: HereFinding, set_here: Sequence[HereItem]) -> Iterator[tuple[int, str]]:
    """Yield what adds most: single settings, and what audit rules add together."""
    costing = sorted((it for it in set_here if it.share), key=lambda it: -abs(it.share or 0.0))
    parts = [(one.share or 0.0, _item(one)) for one in costing[:_SHOWN]]
    if found.first_rule:
        parts.append((found.first_rule, _fixed(sum(one.kind == _RULE for one in set_here))))
    if not parts:
        return
    yield 0, f"What these {share_words(found.share)} are made of:"
    for share, (what, more) in sorted(parts, key=lambda one: -one[0]):
        yield 2, f"{share_words(share)}: {what}"
        yield 6, more
    rest = costing[_SHOWN:]
    if rest:
        amount = share_words(sum(one.share or 0.0 for one in rest))
        yield 2, f"{amount}: {count(len(rest), 'other')}, which --format json lists"


def _item(one: HereItem) -> tuple[str, str]:
    """Return what costs, and what there is to know of it."""
    unknown = "" if one.note else "where it is set is not known"
    place = f"set in {one.place}" if one.place is not None else unknown
    most = (
        f"most on {call_words(one.most)}: {_as_many(one.grows)}" if one.most and one.grows else ""
    )
    records = f"including {share_words(one.records)} for writing records" if one.records else ""
    accepted = "accepted" if one.accepted is not None else ""
    return one.name, "; ".join(
        filter(None, (place, str(one.known), records, most, accepted, one.note))
    )


def _as_many(share: float) -> str:
    return f"{increase_words(share)}{' as many' if share >= FACTOR_FROM else ''}"


def _fixed(rules: int) -> tuple[str, str]:
    removed = f"all {rules} audit rules" if rules > 1 else "the audit rule"
    return "having any audit rules for system calls", f"predicted; saved only by removing {removed}"


def _calls(found: HereFinding) -> Iterator[tuple[int, str]]:
    growing = [one for one in found.calls if one.share > LEAST]
    if growing:
        named = (f"{call_words(one.name)} {increase_words(one.share)}" for one in growing[:_NAMED])
        yield 0, f"Calls that grow most, in instructions: {', '.join(named)}."


def _cheaper(found: HereFinding) -> Iterator[tuple[int, str]]:
    if found.cheaper is None:
        return
    one = found.cheaper
    yield 0, cheaper_sentence(found)
    proved = (
        f"proved to record the same under the same keys, under {len(one.assumptions)} assumptions"
    )
    yield 2, f"{count(one.rules, _RULE)} rewritten as {one.into}, {proved} (--format json has them)"
    yield 2, "a scanner that looks for a benchmark's own lines does not find them"
    yield (
        2,
        "-o FILE writes a profile with them, and `hardcost export augenrules FILE -o FOLDER` files",
    )


def _group(title: str, items: Sequence[HereItem]) -> Iterator[tuple[int, str]]:
    """Yield what is listed by name, reasons by how many have them."""
    if not items:
        return
    yield 0, f"{title} ({len(items)}):"
    yield 2, _first_of([f"{it.name} ({it.note})" if it.note else it.name for it in items], _NAMED)
    for why, number in Counter(one.why for one in items if one.why).most_common():
        yield 6, f"{number} of them: {why}" if number < len(items) else why


def _defaults(items: Sequence[HereItem]) -> Iterator[tuple[int, str]]:
    known = [one for one in items if not one.note]
    yield from _not_counted("the kernel or the distribution has them anyway", known)
    yield from _not_counted(
        "no file sets them: they are this kernel's defaults, or were set by hand",
        [one for one in items if one.note],
    )


def _not_counted(why: str, items: Sequence[HereItem]) -> Iterator[tuple[int, str]]:
    if not items:
        return
    costing = [f"{one.name} ({share_words(one.share or 0.0)})" for one in items if one.share]
    free = [one.name for one in items if not one.share]
    yield 0, f"Not counted, since {why} ({len(items)}):"
    yield 2, _first_of([*costing, *free], _NAMED)


def _first_of(names: Sequence[str], most: int) -> str:
    more = f"; and {len(names) - most} more" if len(names) > most else ""
    return f"{'; '.join(names[:most])}{more}"


def _against(found: HereFinding) -> Iterator[tuple[int, str]]:
    if found.against is None:
        return
    if found.unjudged:
        number = count(found.unjudged, "control")
        yield 0, f"Of {found.against}, {number} could not be checked (see below)."
    if not found.missing:
        if not found.unjudged:
            yield 0, f"Everything that {found.against} asks for is in force."
        return
    free = [one.name for one in found.missing if one.share == 0]
    verb = "is" if len(found.missing) == 1 else "are"
    yield (
        0,
        (
            f"Of {found.against}, {count(len(found.missing), 'control')} {verb} not in force;"
            f" {len(free)} would have no measurable cost:"
        ),
    )
    yield from ((2, one) for one in free[:_NAMED])
    if len(free) > _NAMED:
        yield 2, f"and {len(free) - _NAMED} more"


def _lines(title: str, lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    if lines:
        yield 0, f"{title}:"
        yield from ((2, one) for one in lines)


def sources_sentence(found: HereFinding) -> str:
    """Return where the figures are from, and what is not in them."""
    return (
        f"How this is known: each setting was measured alone, in a guest with Linux"
        f" {found.priced_on}; what audit rules cost is predicted for Linux"
        f" {found.predicted_on}. Costs are"
        f" averaged over the calls that have prices, {found.covered:.0%} of the mix; of the others"
        " nothing is known. They are added up, without what settings do to each other, and without"
        " what was not checked."
    )


def _next(found: HereFinding, set_here: Sequence[HereItem]) -> Iterator[tuple[int, str]]:
    """Yield the commands that lead on."""
    here = f"hardcost here {found.words}" if found.words else "hardcost here"
    yield 0, "From here on:"
    if found.mix_by == "assumed" and not found.words.startswith("--root"):
        yield 2, f"`{here} --sample 10s`: the same, averaged over the calls that it makes"
    if any(one.kind == _RULE for one in set_here) and found.cheaper is None:
        yield 2, f"`{here} --cheaper`: audit rules that record the same and cost less"
    written = f"{here} --cheaper" if found.cheaper is not None else here
    yield 2, f"`{written} -o this.toml`: what was set, as a profile"
    yield 2, "`hardcost bill this.toml`: its cost, measured in virtual machines; some minutes"
    yield 2, "`hardcost export ansible this.toml -o hardening`: a role that sets it elsewhere"
