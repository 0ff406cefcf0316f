"""The rules that a profile of a SCAP datastream selects, with their scripts as text.

A datastream (SCAP 1.2 and 1.3) is one XML file that holds, among others, benchmarks in XCCDF 1.2:
groups of rules, values, and profiles that select some of them. It is untrusted input: `xml.py`
reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from auditrules.model.location import Location
from hardcost.errors import InputError
from hardcost.profiles.importers.scap.tailoring import Tailoring, read, without_effect
from hardcost.profiles.importers.scap.xml import (
    CPE,
    XCCDF,
    element_text,
    id_of,
    line_of,
    parse_xml,
    short,
    title_of,
)

LARGEST = 1 << 26
"""Most bytes of a datastream; those of ssg have 25 million."""

SEVERITIES = ("high", "medium", "low", "info", "unknown")
"""XCCDF's severities, the gravest first."""

_SHELL = "urn:xccdf:fix:script:sh"
_ARCHES = "aarch64|ppc64le|s390x|x86_64"
# The attribute that names a fact about a machine, and how it names an architecture. Content of
# 2023 (ssg 0.1.65) names a platform's facts, that of 2025 (0.1.76) the definitions that check them.
_FACTS = {
    f"{CPE}fact-ref": ("name", re.compile(rf"(not_)?({_ARCHES})_arch$")),
    f"{CPE}check-fact-ref": ("id-ref", re.compile(rf"_arch_(not_)?({_ARCHES}):def:\d+$")),
}
_NAMED = re.compile(r"CCE-\d+-\d|SRG-OS-\d+-GPOS-\d+|(?:RHEL|UBTU)-\d\d-\d+")
_OWN_ARCH = "x86_64"
_LONGEST_SCRIPT = 1 << 22  # characters, values filled in
_MOST_EXTENDED = 16  # profiles in a chain of extensions


@dataclass(frozen=True)
class BenchmarkRule:
    """A rule that a profile selects.

    `name` is its id without the content's prefix, `ids` are its other names: its number in the
    Common Configuration Enumeration, the requirements of the Security Requirements Guide and the
    STIG. `severity` is one of `SEVERITIES`. `line` is where it begins in the datastream. `scripts`
    are its repair scripts, values filled in; `prose` is its text, if it has no script. `elsewhere`
    says why it is for other machines than x86_64, None if it is for ours.
    """

    name: str
    title: str
    severity: str
    ids: tuple[str, ...]
    line: int
    scripts: tuple[str, ...] = ()
    prose: str = ""
    elsewhere: str | None = None


@dataclass(frozen=True)
class Selected:
    """A profile of a datastream, perhaps tailored, with the rules that it selects, in order.

    `notes` say what of a tailoring file has no effect.
    """

    path: Path
    profile: str
    title: str
    rules: tuple[BenchmarkRule, ...]
    notes: tuple[str, ...] = ()


def profiles(path: Path) -> tuple[tuple[str, str], ...]:
    """Return ids and titles of a datastream's profiles.

    Raises:
        InputError: The file is not a datastream, or can't be read.
    """
    root = stream(path)
    return tuple((id_of(one), title_of(one)) for one in root.iter(f"{XCCDF}Profile"))


def selection_of(path: Path, wanted: str, tailoring: Path | None = None) -> Selected:
    """Return the selection of the profile `wanted`: its id or the end of it, such as `stig`.

    With a tailoring file, `wanted` is a profile of that file, or the profile that it extends.

    Raises:
        InputError: A file is not what it should be, can't be read, or there is no such profile.
    """
    root = stream(path)
    tailored = None if tailoring is None else read(tailoring, wanted)
    found = profile(root, path, wanted if tailored is None else tailored.base)
    benchmark = found.getparent()
    if benchmark is None:
        raise InputError("the profile is outside of any benchmark", place=Location(str(path)))
    choice = _Choice.of(benchmark, found, tailored)
    platforms = {id_of(one): one for one in benchmark.iter(f"{CPE}platform")}
    return Selected(
        path=path,
        profile=id_of(found) if tailored is None else tailored.profile,
        title=title_of(found) if tailored is None else tailored.title or title_of(found),
        rules=tuple(choice.rule(one, platforms) for one in choice.selected_rules()),
        notes=() if tailored is None else without_effect(tailored, benchmark),
    )


def stream(path: Path) -> etree._Element:
    """Return the root of a datastream, or of a benchmark by itself.

    Raises:
        InputError: The file is neither, or can't be read.
    """
    root = parse_xml(path, LARGEST, "a SCAP datastream")
    if root.find(f".//{XCCDF}Benchmark") is None and root.tag != f"{XCCDF}Benchmark":
        raise InputError(
            "there is no XCCDF 1.2 benchmark in it",
            place=Location(str(path)),
            hint="name a SCAP datastream, such as ssg-rhel9-ds.xml",
        )
    return root


def profile(root: etree._Element, path: Path, wanted: str) -> etree._Element:
    """Return the profile of that id, or whose id ends so.

    Raises:
        InputError: There is none.
    """
    found = list(root.iter(f"{XCCDF}Profile"))
    for one in found:
        if wanted in {id_of(one), short(id_of(one))}:
            return one
    names = ", ".join(short(id_of(one)) for one in found)
    raise InputError(
        f"there is no profile '{wanted}'",
        place=Location(str(path)),
        hint=f"there are {names}" if names else "it has no profiles",
    )


def other_names(rule: etree._Element) -> tuple[str, ...]:
    """Return a rule's other names: its CCE number, the requirements behind a STIG."""
    named = (
        element_text(one)
        for kind in ("ident", "reference")
        for one in rule.iterchildren(XCCDF + kind)
    )
    return tuple(dict.fromkeys(text for text in named if _NAMED.fullmatch(text)))


# What a profile selects -------------------------------------------------------------------------


@dataclass(frozen=True)
class _Choice:
    """A profile's choice of a benchmark's items by id or cluster id, and of values by id."""

    benchmark: etree._Element
    selected: Mapping[str, bool]
    values: Mapping[str, str]
    severities: Mapping[str, str]

    @classmethod
    def of(
        cls, benchmark: etree._Element, found: etree._Element, tailored: Tailoring | None
    ) -> _Choice:
        selected: dict[str, bool] = {}
        chosen: dict[str, str] = {}
        set_to: dict[str, str] = {}
        severities: dict[str, str] = {}
        changes = [one for part in reversed(list(_profile_chain(benchmark, found))) for one in part]
        for part in (*changes, *(() if tailored is None else tailored.changes)):
            name = part.get("idref") or ""
            if part.tag == f"{XCCDF}select":
                selected[name] = part.get("selected") in {"true", "1"}
            elif part.tag == f"{XCCDF}refine-value" and part.get("selector") is not None:
                chosen[name] = part.get("selector") or ""
                set_to.pop(name, None)
            elif part.tag == f"{XCCDF}set-value":
                set_to[name] = element_text(part)
            elif part.tag == f"{XCCDF}refine-rule" and part.get("severity") is not None:
                severities[name] = part.get("severity") or ""
        values = {
            id_of(value): _value(value, chosen.get(id_of(value), ""))
            for value in benchmark.iter(f"{XCCDF}Value")
        }
        return cls(benchmark, selected, {**values, **set_to}, severities)

    def rule(self, rule: etree._Element, platforms: Mapping[str, etree._Element]) -> BenchmarkRule:
        """Return a rule as a value."""
        scripts = tuple(_scripts(rule, self.values))
        severity = self.severities.get(id_of(rule)) or rule.get("severity") or ""
        return BenchmarkRule(
            name=short(id_of(rule)),
            title=title_of(rule),
            severity=severity if severity in SEVERITIES else "unknown",
            ids=other_names(rule),
            line=line_of(rule),
            scripts=scripts,
            prose="" if scripts else element_text(rule),
            elsewhere=_not_for_us(rule, platforms),
        )

    def selected_rules(self) -> Iterator[etree._Element]:
        """Yield the selected rules in the order of the benchmark."""
        yield from self._within(self.benchmark)

    def _within(self, item: etree._Element) -> Iterator[etree._Element]:
        for part in item.iterchildren(f"{XCCDF}Group", f"{XCCDF}Rule"):
            if not self._is_on(part):
                continue
            if part.tag == f"{XCCDF}Rule":
                yield part
            else:
                yield from self._within(part)

    def _is_on(self, item: etree._Element) -> bool:
        for name in (id_of(item), item.get("cluster-id")):
            if name in self.selected:
                return self.selected[name]
        return item.get("selected", "true") in {"true", "1"}


def _profile_chain(benchmark: etree._Element, found: etree._Element) -> Iterator[etree._Element]:
    """Yield a profile, the one that it extends, and so on."""
    by_id = {id_of(one): one for one in benchmark.iter(f"{XCCDF}Profile")}
    current: etree._Element | None = found
    for _ in range(_MOST_EXTENDED):
        if current is None:
            return
        yield current
        current = by_id.get(current.get("extends") or "")
    raise InputError(f"the profile {id_of(found)} extends itself")


def _value(value: etree._Element, selector: str) -> str:
    """Return a value under a selector, else its default."""
    for wanted in (selector, ""):
        for one in value.iterchildren(f"{XCCDF}value"):
            if (one.get("selector") or "") == wanted:
                return element_text(one)
    return ""


def _scripts(rule: etree._Element, values: Mapping[str, str]) -> list[str]:
    """Return the shell scripts that repair a rule, with values filled in."""
    scripts: list[str] = []
    for fix in rule.iterchildren(f"{XCCDF}fix"):
        if fix.get("system") == _SHELL:
            parts = [fix.text or ""]
            length = len(parts[0])
            for part in fix:
                if part.tag == f"{XCCDF}sub":
                    parts.append(values.get(part.get("idref") or "", ""))
                parts.append(part.tail or "")
                length += len("".join(parts[-2:]))
                if length > _LONGEST_SCRIPT:
                    raise InputError(f"the script of {short(id_of(rule))} is far too long")
            scripts.append("".join(parts))
    return scripts


# Where a rule applies ---------------------------------------------------------------------------


def _not_for_us(rule: etree._Element, platforms: Mapping[str, etree._Element]) -> str | None:
    """Say why a rule is for another architecture, or return None.

    Only the architecture of a platform is known here; anything else is assumed to apply.
    """
    named = [
        (part.get("idref") or "").removeprefix("#")
        for part in rule.iterchildren(f"{XCCDF}platform")
    ]
    if not named or any(_applies(platforms.get(name)) for name in named):
        return None
    return f"it is for other machines: {', '.join(named)}"


def _applies(platform: etree._Element | None) -> bool:
    if platform is None:
        return True
    return all(_holds(test) is not False for test in platform.iterchildren(f"{CPE}logical-test"))


def _holds(test: etree._Element) -> bool | None:
    """Return the result of a platform's test; None if it is unknown here."""
    if test.tag in _FACTS:
        attribute, arch = _FACTS[test.tag]
        found = arch.search(test.get(attribute) or "")
        return None if found is None else (found[2] == _OWN_ARCH) is not bool(found[1])
    if test.tag != f"{CPE}logical-test":
        return None
    parts = [_holds(part) for part in test] or [None]
    return _combine_results(test, parts)


def _combine_results(test: etree._Element, parts: Sequence[bool | None]) -> bool | None:
    """Return the result of a logical test of `parts`."""
    decisive = test.get("operator", "AND").upper() == "OR"
    if decisive in parts:
        result: bool | None = decisive
    else:
        result = None if None in parts else not decisive
    if result is None:
        return None
    return result is not (test.get("negate") in {"true", "1"})
