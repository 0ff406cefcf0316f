"""Tailoring files (XCCDF 1.2): what an organisation changes of a benchmark's profile.

Such a file is a `Tailoring` element. Each of its profiles extends a profile of the benchmark: it
selects and unselects rules, refines values, or sets them. SCAP Workbench writes such files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from auditrules.model.location import Location
from hardcost.errors import InputError, Problem
from hardcost.profiles.importers.scap.xml import (
    XCCDF,
    id_of,
    line_of,
    parse_xml,
    short,
    title_of,
)

LARGEST = 1 << 24
"""Most bytes of a tailoring file; one that names every rule of a datastream has half a million."""

_CHANGES = tuple(XCCDF + name for name in ("select", "refine-value", "set-value", "refine-rule"))
_MOST_NAMED = 5
_MOST_PROBLEMS = 10


@dataclass(frozen=True)
class Tailoring:
    """A profile of a tailoring file.

    `base` is the benchmark's profile that it extends; `changes` are the elements that change what
    that selects, in order.
    """

    path: Path
    profile: str
    title: str
    base: str
    changes: tuple[etree._Element, ...]


def read(path: Path, wanted: str) -> Tailoring:
    """Return the profile `wanted` of a tailoring file, or the only one that extends `wanted`.

    Raises:
        InputError: It is not a tailoring file, can't be read, or has no such profile; all mistakes
            of the profile are reported, each at its line.
    """
    root = parse_xml(path, LARGEST, "an XCCDF 1.2 tailoring file")
    place = Location(str(path), line_of(root))
    if root.tag != f"{XCCDF}Tailoring":
        raise InputError(
            "there is no XCCDF 1.2 tailoring in it",
            place=place,
            hint="`hardcost export tailoring` and SCAP Workbench write such files",
        )
    profiles = list(root.iterchildren(f"{XCCDF}Profile"))
    found = _choose_profile(profiles, path, wanted)
    chain = list(_extended_profiles(found, profiles, path))
    changes = [one for part in reversed(chain) for one in part.iterchildren(*_CHANGES)]
    problems = list(_problems(changes, path))
    if problems:
        raise InputError.of(tuple(problems[:_MOST_PROBLEMS]))
    return Tailoring(
        path, id_of(found), title_of(found), chain[-1].get("extends") or "", tuple(changes)
    )


def without_effect(tailoring: Tailoring, benchmark: etree._Element) -> tuple[str, ...]:
    """Return notes about ids in a tailoring that the benchmark does not have."""
    kinds = ("Rule", "Group", "Value")
    items = [one for kind in kinds for one in benchmark.iter(XCCDF + kind)]
    known = {id_of(one) for one in items} | {one.get("cluster-id") for one in items}
    strange = [one for one in tailoring.changes if one.get("idref") not in known]
    if not strange:
        return ()
    named = ", ".join(
        f"{short(one.get('idref') or '')} (line {line_of(one)})" for one in strange[:_MOST_NAMED]
    )
    more = f" and {len(strange) - _MOST_NAMED} more" if len(strange) > _MOST_NAMED else ""
    return (f"{tailoring.path} changes what the datastream does not have: {named}{more}",)


def _choose_profile(profiles: Sequence[etree._Element], path: Path, wanted: str) -> etree._Element:
    """Return the profile of that id, or the only one that extends it."""

    def is_named(name: str) -> bool:
        return wanted in {name, short(name)}

    own = [one for one in profiles if is_named(id_of(one))]
    extending = [one for one in profiles if is_named(one.get("extends") or "")]
    if own:
        return own[0]
    if len(extending) == 1:
        return extending[0]
    names = ", ".join(short(id_of(one)) for one in (extending or profiles))
    what = "several profiles that extend" if extending else "no profile that is, or extends,"
    raise InputError(
        f"the tailoring has {what} '{wanted}'",
        place=Location(str(path)),
        hint=f"it has {names}" if names else "it has no profiles",
    )


def _extended_profiles(
    found: etree._Element, profiles: Sequence[etree._Element], path: Path
) -> Iterator[etree._Element]:
    """Yield a profile, the one of the same file that it extends, and so on."""
    others = {id_of(one): one for one in profiles if one is not found}
    current: etree._Element | None = found
    while current is not None:
        yield current
        if not current.get("extends"):
            raise InputError(
                f"the profile {short(id_of(current))} extends no profile of the datastream",
                place=Location(str(path), line_of(current)),
                hint='give it an attribute such as extends="xccdf_…_profile_stig"',
            )
        current = others.pop(current.get("extends") or "", None)


def _problems(changes: Sequence[etree._Element], path: Path) -> Iterator[Problem]:
    """Yield the problems of the changes."""
    for one in changes:
        place = Location(str(path), line_of(one))
        kind = str(one.tag).removeprefix(XCCDF)
        if not one.get("idref"):
            yield Problem(f"this {kind} has no idref", place, "name the rule, group or value")
        if kind == "select" and one.get("selected") not in {"true", "false", "1", "0"}:
            yield Problem("this select has no selected", place, 'selected="true" or "false"')
