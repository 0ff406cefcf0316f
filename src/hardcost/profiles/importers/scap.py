"""The audit rules that a profile of a SCAP datastream requires.

A datastream (SCAP 1.2 and 1.3) is one XML file that holds, among others, benchmarks in XCCDF 1.2:
groups of rules, values, and profiles that select some of them. It is untrusted input: entities are
not expanded, document types are refused, nothing external is loaded, and libxml2's own limits of
depth and size apply.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lxml import etree

from hardcost.auditrules import bounded
from hardcost.auditrules.folder import as_augenrules, version_key
from hardcost.auditrules.parse import join, read_line, read_lines
from hardcost.auditrules.rule import Kind, RuleSet
from hardcost.auditrules.rule import Place as RulePlace
from hardcost.errors import InputError, Place
from hardcost.profiles.importers import scapfix

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

LARGEST = 1 << 26
"""Most bytes of a datastream; those of ssg have 25 million."""

_XCCDF = "{http://checklists.nist.gov/xccdf/1.2}"
_CPE = "{http://cpe.mitre.org/language/2.0}"
_SHELL = "urn:xccdf:fix:script:sh"
_ARCHES = "aarch64|ppc64le|s390x|x86_64"
# The attribute that names a fact about a machine, and how it names an architecture. Content of
# 2023 (ssg 0.1.65) names a platform's facts, that of 2025 (0.1.76) the definitions that check them.
_FACTS = {
    f"{_CPE}fact-ref": ("name", re.compile(rf"(not_)?({_ARCHES})_arch$")),
    f"{_CPE}check-fact-ref": ("id-ref", re.compile(rf"_arch_(not_)?({_ARCHES}):def:\d+$")),
}
_NAMED = re.compile(r"CCE-\d+-\d|SRG-OS-\d+-GPOS-\d+|RHEL-\d\d-\d+")
_OWN_ARCH = "x86_64"
_LONGEST_SCRIPT = 1 << 22  # characters, values filled in
_MOST_EXTENDED = 16  # profiles in a chain of extensions


@dataclass(frozen=True)
class Line:
    """A line of audit rules, its file in /etc/audit/rules.d, and its origin.

    `asked_by` are the ids of the SCAP rules that require it, without the content's prefix; `line`
    is where the first of them begins in the datastream; `ids` are other names of these rules.
    """

    text: str
    file: str
    asked_by: tuple[str, ...]
    line: int
    ids: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scripted:
    """A SCAP rule that a profile selects, with its repair scripts, values filled in.

    `ids` are its other names: its number in the Common Configuration Enumeration, and the
    requirements of the Security Requirements Guide for operating systems.
    """

    name: str
    ids: tuple[str, ...]
    scripts: tuple[str, ...]


@dataclass(frozen=True)
class Missing:
    """A selected SCAP rule about audit rules whose lines could not be found, and why."""

    rule: str
    why: str


@dataclass(frozen=True)
class AuditRules:
    """The audit rules of a profile, on an x86_64 machine without other rules.

    `lines` are in augenrules' order, without comments. `not_found` are rules about audit whose
    lines could not be found, or not all of them; `elsewhere` are those for other architectures.
    `not_taken` counts the profile's other rules.
    """

    profile: str
    title: str
    lines: tuple[Line, ...]
    not_found: tuple[Missing, ...]
    elsewhere: tuple[Missing, ...]
    not_taken: int

    def text(self) -> str:
        """Return the lines as a file of audit rules, each group with the rules that required it."""
        blocks: list[str] = [f"# {self.title}"]
        asked_by: tuple[str, ...] = ()
        for line in self.lines:
            if line.asked_by != asked_by:
                asked_by = line.asked_by
                blocks.append("")
                blocks.extend(f"# {rule}" for rule in asked_by)
            blocks.append(line.text)
        return "\n".join(blocks) + "\n"


def profiles(path: Path) -> tuple[tuple[str, str], ...]:
    """Return ids and titles of a datastream's profiles.

    Raises:
        InputError: The file is not a datastream, or can't be read.
    """
    root = _parsed(path)
    return tuple((_id(one), _title(one)) for one in root.iter(f"{_XCCDF}Profile"))


def audit_rules(path: Path, wanted: str) -> AuditRules:
    """Return the audit rules of the profile `wanted`: its id or the end of it, such as `stig`.

    Raises:
        InputError: The file is not a datastream, can't be read, or has no such profile.
    """
    root = _parsed(path)
    found = _profile(root, path, wanted)
    benchmark = found.getparent()
    if benchmark is None:
        raise InputError("the profile is outside of any benchmark", place=Place(str(path)))
    selection = _Selection.of(benchmark, found)
    gathered = _Gathered(_platforms(benchmark))
    for rule in selection.rules():
        try:
            gathered.take(rule, selection.values)
        except scapfix.TooManyError:
            message = (
                f"its profile {wanted} has more than {scapfix.MOST_LINES} lines of audit rules"
            )
            raise InputError(message, place=Place(str(path))) from None
    lines = gathered.ordered()
    return AuditRules(
        profile=_id(found),
        title=_title(found),
        lines=lines,
        not_found=tuple(gathered.not_found),
        elsewhere=tuple(gathered.elsewhere),
        not_taken=gathered.others,
    )


def scripted(path: Path, wanted: str) -> Iterator[Scripted]:
    """Yield the rules that the profile `wanted` selects, except those for other architectures.

    Raises:
        InputError: As `audit_rules` does.
    """
    found = _profile(_parsed(path), path, wanted)
    benchmark = found.getparent()
    if benchmark is None:
        raise InputError("the profile is outside of any benchmark", place=Place(str(path)))
    selection = _Selection.of(benchmark, found)
    platforms = _platforms(benchmark)
    for rule in selection.rules():
        if _not_for_us(rule, platforms) is None:
            scripts = tuple(_scripts(rule, selection.values))
            yield Scripted(_short(_id(rule)), _ids(rule), scripts)


def rule_set(
    files: Sequence[Path],
    wanted: str,
    shown: Callable[[Path], str] = str,
    ids: dict[RulePlace, tuple[str, ...]] | None = None,
) -> RuleSet:
    """Return the audit rules that the profile `wanted` of datastreams requires.

    A rule's location is that of the SCAP rule that requires it. Lines not found become notes.
    `ids` is filled with the other names of the SCAP rule at each location.

    Raises:
        InputError: As `audit_rules` does.
    """
    sets: list[RuleSet] = []
    for file in files:
        found = audit_rules(file, wanted)
        name = shown(file)
        read = read_lines([(line.text, RulePlace(name, line.line)) for line in found.lines])
        if ids is not None:
            ids |= {RulePlace(name, line.line): line.ids for line in found.lines}
        notes = (*read.notes, *(f"{one.rule}: {one.why}" for one in found.not_found))
        sets.append(replace(read, notes=notes))
    return join(sets)


class _Gathered:
    """The result of the selected rules, processed one by one."""

    def __init__(self, platforms: Mapping[str, etree._Element]) -> None:
        self.platforms = platforms
        self.folder = scapfix.RulesFolder()
        self.not_found: list[Missing] = []
        self.elsewhere: list[Missing] = []
        self.others = 0
        self.starts: dict[str, int] = {}
        self.ids: dict[str, tuple[str, ...]] = {}

    def take(self, rule: etree._Element, values: Mapping[str, str]) -> None:
        """Follow a rule's script, or record why that is not possible."""
        name = _short(_id(rule))
        scripts = _scripts(rule, values)
        prose = "" if scripts else _text(rule)
        self.starts[name] = rule.sourceline or 1
        self.ids[name] = _ids(rule)
        if not any(scapfix.mentions_rules(text) for text in (*scripts, prose)):
            self.others += 1
        elif why := _not_for_us(rule, self.platforms):
            self.elsewhere.append(Missing(name, why))
        elif not scripts:
            self.not_found.append(Missing(name, "it has no shell script with its lines"))
        elif problem := scapfix.follow(scripts[0], self.folder, name):
            self.not_found.append(Missing(name, problem))

    def ordered(self) -> tuple[Line, ...]:
        """Return the lines in augenrules' order; an unreadable one joins `not_found`."""
        lines: dict[RulePlace, Line] = {}
        for name in sorted(self.folder.files, key=version_key):
            for number, written in enumerate(self.folder.files[name], 1):
                start = self.starts[written.asked_by[0]]
                ids = (one for asking in written.asked_by for one in self.ids[asking])
                line = Line(written.text, name, written.asked_by, start, tuple(dict.fromkeys(ids)))
                lines[RulePlace(name, number)] = line
        taken: list[Line] = []
        for one in as_augenrules([read_line(line.text, place) for place, line in lines.items()]):
            line = lines[one.place]
            if one.fault is not None:
                why = f"its line {line.text!r} can't be read: {one.fault.message}"
                self.not_found.append(Missing(line.asked_by[0], why))
            elif one.kind not in {Kind.COMMENT, Kind.REPLACED}:
                taken.append(line)
        return tuple(taken)


# XML --------------------------------------------------------------------------------------------


def _parsed(path: Path) -> etree._Element:
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
    )
    place = Place(str(path))
    try:
        bounded.check(path, LARGEST)
        tree = etree.parse(path, parser)
    except bounded.UnreadableError as error:
        raise InputError(str(error), place=place, hint="name a SCAP datastream") from None
    except etree.XMLSyntaxError as error:
        line = error.lineno or None
        raise InputError(f"it is not XML: {error.msg}", place=Place(str(path), line)) from None
    except (OSError, ValueError) as error:
        raise InputError(f"it can't be read: {error}", place=place) from None
    if tree.docinfo.internalDTD is not None:
        raise InputError("it has a document type, which no SCAP datastream has", place=place)
    root = tree.getroot()
    if root.find(f".//{_XCCDF}Benchmark") is None and root.tag != f"{_XCCDF}Benchmark":
        raise InputError(
            "there is no XCCDF 1.2 benchmark in it",
            place=place,
            hint="name a SCAP datastream, such as ssg-rhel9-ds.xml",
        )
    return root


def _profile(root: etree._Element, path: Path, wanted: str) -> etree._Element:
    found = list(root.iter(f"{_XCCDF}Profile"))
    for one in found:
        if wanted in {_id(one), _short(_id(one))}:
            return one
    names = ", ".join(_short(_id(one)) for one in found)
    raise InputError(
        f"there is no profile '{wanted}'",
        place=Place(str(path)),
        hint=f"there are {names}" if names else "it has no profiles",
    )


def _id(element: etree._Element) -> str:
    return element.get("id") or ""


def _short(name: str) -> str:
    """Return an id without `xccdf_NAMESPACE_rule_`, and without characters that ids can't have."""
    bare = re.sub(r"^xccdf_[^_]+_(?:rule|profile|group|value)_", "", name)
    return re.sub(r"[^\w.:-]", "_", bare)


def _ids(rule: etree._Element) -> tuple[str, ...]:
    """Return a rule's other names: its CCE number, the requirements behind a STIG."""
    named = (
        _text(one) for kind in ("ident", "reference") for one in rule.iterchildren(_XCCDF + kind)
    )
    return tuple(dict.fromkeys(text for text in named if _NAMED.fullmatch(text)))


def _title(element: etree._Element) -> str:
    title = element.find(f"{_XCCDF}title")
    text = _text(title) if title is not None else _id(element)
    return " ".join("".join(one if one.isprintable() else " " for one in text).split())


def _text(element: etree._Element) -> str:
    return "".join(str(part) for part in element.itertext())


# What a profile selects -------------------------------------------------------------------------


@dataclass(frozen=True)
class _Selection:
    """A profile's choice of a benchmark's items by id or cluster id, and of values by id."""

    benchmark: etree._Element
    selected: Mapping[str, bool]
    values: Mapping[str, str]

    @classmethod
    def of(cls, benchmark: etree._Element, profile: etree._Element) -> _Selection:
        selected: dict[str, bool] = {}
        chosen: dict[str, str] = {}
        set_to: dict[str, str] = {}
        for one in reversed(list(_extended(benchmark, profile))):
            for part in one:
                name = part.get("idref") or ""
                if part.tag == f"{_XCCDF}select":
                    selected[name] = part.get("selected") in {"true", "1"}
                elif part.tag == f"{_XCCDF}refine-value" and part.get("selector") is not None:
                    chosen[name] = part.get("selector") or ""
                    set_to.pop(name, None)
                elif part.tag == f"{_XCCDF}set-value":
                    set_to[name] = _text(part)
        values = {
            _id(value): _value(value, chosen.get(_id(value), ""))
            for value in benchmark.iter(f"{_XCCDF}Value")
        }
        return cls(benchmark, selected, {**values, **set_to})

    def rules(self) -> Iterator[etree._Element]:
        """Yield the selected rules in the order of the benchmark."""
        yield from self._within(self.benchmark)

    def _within(self, item: etree._Element) -> Iterator[etree._Element]:
        for part in item.iterchildren(f"{_XCCDF}Group", f"{_XCCDF}Rule"):
            if not self._is_on(part):
                continue
            if part.tag == f"{_XCCDF}Rule":
                yield part
            else:
                yield from self._within(part)

    def _is_on(self, item: etree._Element) -> bool:
        for name in (_id(item), item.get("cluster-id")):
            if name in self.selected:
                return self.selected[name]
        return item.get("selected", "true") in {"true", "1"}


def _extended(benchmark: etree._Element, profile: etree._Element) -> Iterator[etree._Element]:
    """Yield a profile, the one that it extends, and so on."""
    by_id = {_id(one): one for one in benchmark.iter(f"{_XCCDF}Profile")}
    current: etree._Element | None = profile
    for _ in range(_MOST_EXTENDED):
        if current is None:
            return
        yield current
        current = by_id.get(current.get("extends") or "")
    raise InputError(f"the profile {_id(profile)} extends itself")


def _value(value: etree._Element, selector: str) -> str:
    """Return a value under a selector, else its default."""
    for wanted in (selector, ""):
        for one in value.iterchildren(f"{_XCCDF}value"):
            if (one.get("selector") or "") == wanted:
                return _text(one)
    return ""


def _scripts(rule: etree._Element, values: Mapping[str, str]) -> list[str]:
    """Return the shell scripts that repair a rule, with values filled in."""
    scripts: list[str] = []
    for fix in rule.iterchildren(f"{_XCCDF}fix"):
        if fix.get("system") == _SHELL:
            parts = [fix.text or ""]
            length = len(parts[0])
            for part in fix:
                if part.tag == f"{_XCCDF}sub":
                    parts.append(values.get(part.get("idref") or "", ""))
                parts.append(part.tail or "")
                length += len("".join(parts[-2:]))
                if length > _LONGEST_SCRIPT:
                    raise InputError(f"the script of {_short(_id(rule))} is far too long")
            scripts.append("".join(parts))
    return scripts


# Where a rule applies ---------------------------------------------------------------------------


def _platforms(benchmark: etree._Element) -> Mapping[str, etree._Element]:
    return {_id(one): one for one in benchmark.iter(f"{_CPE}platform")}


def _not_for_us(rule: etree._Element, platforms: Mapping[str, etree._Element]) -> str | None:
    """Say why a rule is for another architecture, or return None.

    Only the architecture of a platform is known here; anything else is assumed to apply.
    """
    named = [
        (part.get("idref") or "").removeprefix("#")
        for part in rule.iterchildren(f"{_XCCDF}platform")
    ]
    if not named or any(_applies(platforms.get(name)) for name in named):
        return None
    return f"it is for other machines: {', '.join(named)}"


def _applies(platform: etree._Element | None) -> bool:
    if platform is None:
        return True
    return all(_holds(test) is not False for test in platform.iterchildren(f"{_CPE}logical-test"))


def _holds(test: etree._Element) -> bool | None:
    """Return the result of a platform's test; None if it is unknown here."""
    if test.tag in _FACTS:
        attribute, arch = _FACTS[test.tag]
        found = arch.search(test.get(attribute) or "")
        return None if found is None else (found[2] == _OWN_ARCH) is not bool(found[1])
    if test.tag != f"{_CPE}logical-test":
        return None
    parts = [_holds(part) for part in test] or [None]
    decisive = test.get("operator", "AND").upper() == "OR"
    if decisive in parts:
        result: bool | None = decisive
    else:
        result = None if None in parts else not decisive
    if result is None:
        return None
    return result is not (test.get("negate") in {"true", "1"})
