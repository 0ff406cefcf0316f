"""What is in force on a machine, for other programs: Markdown, and Prometheus's text format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hardcost.model.finding.here import HereFinding, HereItem
from hardcost.show.exports.markdown import code, escape_text, list_below, table
from hardcost.show.here_amounts import cheaper_sentence, share_words
from hardcost.show.text import percent
from hardcost.units import visible

_PREFIX = "hardcost_hardening"
_HEADER = ("setting", "adds", "known", "set in")


def markdown_text(found: HereFinding) -> str:
    """Return a table of what was set, the most expensive first, below the sum."""
    said = (
        f"Estimate: {percent(found.share)} more instructions (not time) for its system calls,"
        f" averaged over {escape_text(found.mix)}; {percent(found.first_rule)} of it is the fixed"
        f" cost of audit rules. Prices are of Linux"
        f" {code(found.priced_on)}."
    )
    if found.cheaper is not None:
        said += f" {escape_text(cheaper_sentence(found))}"
    header: tuple[str, ...] = _HEADER
    set_here = [one for one in found.items if not one.by_default]
    rows = [_cells(one) for one in set_here]
    if found.not_accepted is not None:
        said += f" {percent(found.not_accepted)} is not accepted."
        header = (*header, "accepted")
        rows = [(*_cells(one), escape_text(one.accepted or "")) for one in set_here]
    title = f"# Hardening of {escape_text(found.machine)}"
    text = f"{title}\n\n{said}\n\n{table(header, rows, right=[1])}\n"
    return text + list_below("Not checked", found.unseen) + list_below("Also", found.notes)


def _cells(one: HereItem) -> tuple[str, ...]:
    adds = "" if one.share is None else share_words(one.share)
    place = "" if one.place is None else str(one.place)
    return code(one.name), adds, escape_text(one.known or one.why or ""), code(place)


def prometheus_text(found: HereFinding) -> str:
    """Return gauges for the textfile collector: the sum, its parts, and each item's."""
    return "".join(f"{line}\n" for line in _metrics(found))


def _metrics(found: HereFinding) -> Iterator[str]:
    about = {"priced_on": found.priced_on, "mix": found.mix_by}
    yield from _head("cost_ratio", "Instructions that hardening adds to a system call, as a share.")
    yield _sample("cost_ratio", about, found.share)
    if found.not_accepted is not None:
        yield from _head("not_accepted_ratio", "The part of it that no policy accepts.")
        yield _sample("not_accepted_ratio", about, found.not_accepted)
    yield from _head("part_ratio", "Parts of the cost that are no single setting's.")
    yield _sample("part_ratio", {"part": "first_rule"}, found.first_rule)
    yield from _head("item_cost_ratio", "What one setting adds; without a sample: not known.")
    for one in found.items:
        if one.share is not None:
            labels = {"id": one.id, "default": str(one.by_default).lower()}
            yield _sample("item_cost_ratio", labels, one.share)
    yield from _head("items", "Settings in force, by whether they have a price.")
    for priced in (True, False):
        number = sum((one.share is not None) is priced for one in found.items)
        yield _sample("items", {"priced": str(priced).lower()}, number)


def _head(name: str, text: str) -> Iterator[str]:
    yield f"# HELP {_PREFIX}_{name} {text}"
    yield f"# TYPE {_PREFIX}_{name} gauge"


def _sample(name: str, labels: Mapping[str, str], value: float) -> str:
    named = ",".join(f'{key}="{_label(text)}"' for key, text in labels.items())
    return f"{_PREFIX}_{name}{{{named}}} {value!r}"


def _label(text: str) -> str:
    return visible(text).replace("\\", r"\\").replace('"', r"\"")
