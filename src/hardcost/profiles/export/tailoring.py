"""A decision as an XCCDF 1.2 tailoring file: what is given up is unselected.

Tools that read such files do not check ids: one that the datastream does not have is silently
without effect. So every id is looked up here, and what can't be expressed is listed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from lxml import etree

from auditrules.model.location import Location
from hardcost.controls.control import Control
from hardcost.errors import InputError
from hardcost.profiles.decision import Decision
from hardcost.profiles.decision_entry import GivenUp
from hardcost.profiles.importers.scap.datastream import other_names, profile, selection_of, stream
from hardcost.profiles.importers.scap.xml import XCCDF, id_of, short, title_of

_SHARED = "SRG-"
"""Prefix of requirements that many rules serve: they name no rule."""


@dataclass(frozen=True)
class Tailored:
    """A tailoring file: its text, its profile's id, and the rules that it unselects.

    `left` are controls that are given up and stay selected, each with why; `notes` are what else
    goes with a rule.
    """

    text: str
    profile: str
    unselected: tuple[str, ...]
    left: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]


def tailoring_of(path: Path, wanted: str, decision: Decision, now: datetime) -> Tailored:
    """Return the tailoring of a datastream's profile that unselects what a decision gives up.

    Raises:
        InputError: The file is not a datastream, lacks the profile, or nothing can be unselected.
    """
    root = stream(path)
    base = profile(root, path, wanted)
    benchmark = base.getparent()
    if benchmark is None:
        raise InputError("the profile is outside of any benchmark", place=Location(str(path)))
    known = {id_of(rule): (short(id_of(rule)), *other_names(rule)) for rule in _rules(benchmark)}
    chosen = {rule.name for rule in selection_of(path, wanted).rules}
    why: dict[str, list[GivenUp]] = {}
    left: list[tuple[str, str]] = []
    for one in decision.given_up:
        found = [name for name, names in known.items() if _is_named(names, one.ids)]
        on = [name for name in found if short(name) in chosen]
        for name in on:
            why.setdefault(name, []).append(one)
        if not on:
            left.append((one.control, _missing_words(one.ids, found, wanted)))
    if not why:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in left)
        raise InputError(
            "the decision gives up nothing that the datastream's profile selects",
            place=Location(str(path)),
            hint=reasons or "it gives up nothing",
        )
    own = f"xccdf_hardcost_profile_{short(id_of(base))}_decided"
    written = _file(path, benchmark, base, own, why, now)
    notes = tuple(_kept_though_unselected(why, known, decision.kept.controls))
    return Tailored(written, own, tuple(map(short, why)), tuple(left), notes)


def _rules(benchmark: etree._Element) -> Iterable[etree._Element]:
    yield from benchmark.iter(f"{XCCDF}Rule")


def _is_named(names: Sequence[str], ids: Sequence[str]) -> bool:
    return any(one in names for one in ids if not one.startswith(_SHARED))


def _missing_words(ids: Sequence[str], found: Sequence[str], wanted: str) -> str:
    if found:
        return f"{wanted} does not select {', '.join(map(short, found))}"
    if not any(not one.startswith(_SHARED) for one in ids):
        return "the decision does not say what the benchmark calls it (ids)"
    return "the datastream has no rule of its ids"


def _kept_though_unselected(
    why: Mapping[str, Sequence[GivenUp]],
    known: Mapping[str, Sequence[str]],
    kept: Iterable[Control],
) -> Iterable[str]:
    """Yield the controls that are kept, although the rule that requires them is unselected."""
    for control in kept:
        for name in why:
            if _is_named(known[name], control.ids):
                yield (
                    f"{control.name} is kept, but {short(name)}, which is unselected, requires it:"
                    " nothing in the tailored profile does so for this rule any more"
                )


def _file(  # noqa: PLR0913, PLR0917  (the parts of a file)
    path: Path,
    benchmark: etree._Element,
    base: etree._Element,
    own: str,
    why: Mapping[str, Sequence[GivenUp]],
    now: datetime,
) -> str:
    """Return the file; texts from outside are shown without control characters, which XML lacks."""
    root = etree.Element(
        f"{XCCDF}Tailoring",
        nsmap={"xccdf": XCCDF.strip("{}")},
        id="xccdf_hardcost_tailoring_decision",
    )
    etree.SubElement(root, f"{XCCDF}benchmark", href=_xml_text(path.name), id=id_of(benchmark))
    version = etree.SubElement(root, f"{XCCDF}version", time=now.isoformat(timespec="seconds"))
    version.text = "1"
    tailored = etree.SubElement(root, f"{XCCDF}Profile", id=own, extends=id_of(base))
    title = etree.SubElement(tailored, f"{XCCDF}title", override="true")
    title.text = f"{title_of(base)}, without what a decision gives up"
    for name, given_up in why.items():
        select = etree.SubElement(tailored, f"{XCCDF}select", idref=name, selected="false")
        for one in given_up:
            remark = etree.SubElement(select, f"{XCCDF}remark")
            remark.text = _remark(one)
    written = etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)
    return str(written, "utf-8")


def _remark(one: GivenUp) -> str:
    cost = f": {one.cost:+g} {one.unit} on {one.metric}" if one.metric else ""
    reason = f" ({one.reason})" if one.reason else ""
    return _xml_text(f"{one.control}{cost}{reason}")


def _xml_text(text: str) -> str:
    """Return text without characters that XML can't hold, or that could act on a terminal."""
    return text if text.isprintable() else ascii(text)[1:-1]
