"""The file of a cheaper set: its rules, the origin of each, and the comments that belong to it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from auditrules.auditctl.field_rules import expand_classes
from auditrules.auditctl.translate import Target, translate_all
from auditrules.auditctl.write import text_of
from auditrules.model.kernel_rule import ALL_CALLS, FilterList, KernelRule, bits, mask_of
from auditrules.model.location import Location
from auditrules.model.rule import Reading, RuleKind
from auditrules.optimize import never, reasons
from auditrules.optimize.lines import Candidate
from auditrules.optimize.optimize import Optimised
from auditrules.optimize.permissions import NUMBERS, class_numbers
from auditrules.optimize.reachable_calls import reach
from auditrules.prove.assumptions import under_releases
from auditrules.read import parse
from auditrules.tables import lookup
from auditrules.tables.lookup import Release

_WIDTH = 100  # columns of a comment that is written
_SAVINGS = (
    "What a change saves is predicted, for the mean call of the workload where no rule records it."
)
_WHY_NUMBERS = (
    "Rules without arch list calls by number. A number means one call on b64 and another on b32,"
    " and such a rule covers both. These are the calls that it can match:"
)

_WHY_CLASSES = (
    "Numbers from 2032 on are the kernel's own classes of calls. The kernel expands them when it"
    " loads the rule, so the rule stays correct on later kernels, whose classes have more calls:"
)
_CLASS_NAMES = {
    "read": "calls that read (r)",
    "write": "calls that write (w)",
    "attributes": "calls that change attributes (a)",
}

_MOST_QUOTED = 1000  # characters of a line that a comment repeats
_SETTINGS = frozenset({RuleKind.SETTING, RuleKind.MOOT, RuleKind.LEFT_OUT})


class ChangedByWritingError(RuntimeError):
    """The written file does not read back as the intended rules: a bug in the writer."""


def text(  # noqa: PLR0913, PLR0917  (what a file says is from as many places)
    made: Optimised,
    readings: Sequence[Reading],
    target: Target,
    releases: Sequence[Release] = (),
    left_out: Sequence[str] = (),
    verb: str = "auditrules optimize",
) -> str:
    """Return the file's content, which auditctl -R takes.

    `readings` are the lines that the rules were read from, in loading order; `releases` are those
    of Linux for which the file is proved to record the same; `left_out` lists the lines that the
    set does not include; `verb` is how its maker was called.

    Raises:
        ChangedByWritingError: It would not read back as the rules that were proved equal.
    """
    writer = _Writer(made, readings, releases, left_out, verb)
    content = "\n".join([*writer.lines(), ""])
    again = parse.read_bytes(content.encode(errors="surrogateescape"), "")
    rules, faults = translate_all([one.rule for one in again if one.rule is not None], target)
    wanted = tuple(replace(rule, source=None) for rule in writer.written)
    if faults or any(one.fault for one in again) or rules != wanted:
        raise ChangedByWritingError("what was written does not read back as the intended rules")
    return content


def rule_text(rule: KernelRule, classes: Sequence[int] = ()) -> str:
    """Return a rule's line. Without `arch`, it lists calls by number, which names no ABI.

    `classes` are the kernel's classes of calls that replace their calls (`permissions.py`).
    """
    line = text_of(rule, classes)
    if not by_number(rule):
        return line
    beside = rule.mask & ~expand_classes(mask_of(classes))
    calls = ",".join(map(str, [*bits(beside), *classes]))
    words = line.split(" ")  # the calls precede all conditions, which may contain spaces
    return " ".join([*words[:3], calls, *words[4:]])


def by_number(rule: KernelRule) -> bool:
    """Say whether a rule's calls are written as numbers."""
    return rule.list is FilterList.EXIT and rule.mask != ALL_CALLS and not rule.tests("arch")


@dataclass
class _Writer:
    """The lines of the new file during writing."""

    made: Optimised
    readings: Sequence[Reading]
    releases: Sequence[Release]
    left_out: Sequence[str]
    verb: str
    written: list[KernelRule] = field(default_factory=list)
    _before: dict[int, list[str]] = field(default_factory=dict)
    _tail: list[str] = field(default_factory=list)
    _lists: dict[str, int] = field(default_factory=dict)
    _classes: set[int] = field(default_factory=set)

    def lines(self) -> Iterator[str]:
        head = self._attach()
        body = list(self._body())
        yield from self._header()
        yield from head
        yield from body
        yield from self._tail

    def _attach(self) -> list[str]:
        """Attach each comment and setting to the rule below it; return the first ones.

        Whatever precedes the first blank line or setting belongs to the file, not to a rule.
        """
        index = {
            rule.source.place: number
            for number, rule in enumerate(self.made.original)
            if rule.source is not None
        }
        head: list[str] = []
        ends: list[str] = []
        waiting: list[str] = []
        seen = False
        for reading in self.readings:
            place: Location | None = reading.place
            if reading.rule is not None and place in index:
                self._before[index[place]] = waiting
                waiting, seen = [], True
            elif reading.kind is RuleKind.FAULT:
                waiting += _comment(
                    f"left out, since auditctl refuses it: {_cut_line(reading.text)}"
                )
            elif reading.deletes is not None and seen:
                waiting.append(
                    "# left out, since the rules that it deleted are gone:"
                    f" {_cut_line(reading.text)}"
                )
            elif reading.text.startswith("-e"):
                ends.append(reading.text)  # it may lock the rules
            elif reading.kind is RuleKind.COMMENT or reading.kind in _SETTINGS:
                waiting.append(reading.text)
            elif reading.kind is RuleKind.BLANK:
                if not seen and waiting:
                    head += [*waiting, ""]
                    waiting = []
            elif reading.rule is not None:
                quoted = _cut_line(reading.text)
                waiting.append(f"# left out, since it does not stay loaded: {quoted}")
        self._tail = ["", *waiting, *ends] if waiting or ends else []
        return head

    def _header(self) -> Iterator[str]:
        files = dict.fromkeys(reading.place.file for reading in self.readings)
        yield from _comment(f"Made by `{self.verb}` from {', '.join(files)}.")
        if any(line.done for line in self.made.lines):
            yield from _comment(_SAVINGS)
        claim = "It records the same" if self.made.proof.equal else "It is unchanged"
        if self.made.proof.equal:
            under = f" for Linux {', '.join(self.releases)}" if self.releases else ""
            yield from _comment(f"{claim}, under the same keys. Proved{under}, if:")
            for assumption in under_releases(self.made.proof.assumptions, self.releases):
                yield from _comment(f"- {assumption.text}", "  ")
            for text in self.left_out:
                yield from _comment(f"- {text}", "  ")
        if any(never.NEVER_FIRST in line.done for line in self.made.lines):
            yield from _comment(f"Not the same: {never.GIVES_UP}")
        yield from self._about_numbers()
        yield ""

    def _about_numbers(self) -> Iterator[str]:
        if self._classes:
            yield "#"
            yield from _comment(_WHY_CLASSES)
            for (arch, name), number in NUMBERS.items():
                if number in self._classes:
                    yield from _comment(f"{number}: {_CLASS_NAMES[name]}, {arch}", "    ")
        if self._lists:
            yield "#"
            yield from _comment(_WHY_NUMBERS)
        for number, meaning in enumerate(self._lists, 1):
            yield from _comment(f"[{number}] {meaning}", "    ")

    def _body(self) -> Iterator[str]:
        others = iter(sorted({*self.made.others, *self.made.dropped}))
        pending = next(others, None)
        for line in self.made.lines:
            first = min(line.origins, default=-1)
            while pending is not None and pending < first:
                yield from self._other(pending)
                pending = next(others, None)
            yield from self._line(line)
        while pending is not None:
            yield from self._other(pending)
            pending = next(others, None)

    def _other(self, number: int) -> Iterator[str]:
        """Yield a rule of another list, or the note on a dropped one."""
        rule = self.made.original[number]
        yield from self._before.pop(number, ())
        if number in self.made.dropped:
            quoted = _cut_line(_source(rule))
            yield from _comment(f"{_place(rule)}, left out, since {reasons.DROPPED}: {quoted}")
            return
        yield from _comment(f"from {_place(rule)}")
        self.written.append(rule)
        yield self._as_written(rule)

    def _as_written(self, rule: KernelRule) -> str:
        """Return a rule's line, with its original spaces if lines are kept."""
        if self.made.options.keep_lines and rule.source is not None:
            return self._raw.get((rule.source.place, rule.source.text), rule.source.text)
        return _source(rule)

    @cached_property
    def _raw(self) -> dict[tuple[Location | None, str], str]:
        """Lines with their spaces; rules of a datastream share the place of their XCCDF rule."""
        return {
            (one.place, one.rule.text): one.raw
            for one in self.readings
            if one.rule is not None and one.raw
        }

    def _line(self, line: Candidate) -> Iterator[str]:
        for number in line.origins:
            yield from self._before.pop(number, ())
        rules = [self.made.original[number] for number in line.origins]
        done = "; ".join(line.done)
        if rules:
            origin = f"from {places(rules)}"
            yield from _comment(f"{origin}: {done} ({saves_words(line.saves)})" if done else origin)
        else:
            yield from _comment(done)
        if said := reasons.why(line):
            yield from _comment(said)
        self.written.append(line.rule)
        same = len(rules) == 1 and rules[0] == line.rule and rules[0].source is not None
        if same:
            yield self._as_written(rules[0])
            return
        classes = class_numbers(line.rule, rules, b32=self.made.options.b32)
        self._classes.update(classes)
        beside = line.rule.mask & ~expand_classes(mask_of(classes))
        if by_number(line.rule) and beside:
            meaning = _meaning(beside, line.rule)
            number = self._lists.setdefault(meaning, len(self._lists) + 1)
            yield f"# its calls{' besides the classes' if classes else ''}: [{number}] above"
        yield rule_text(line.rule, classes)


def _meaning(mask: int, rule: KernelRule) -> str:
    """Return which calls a rule's numbers mean, by ABI."""
    calls = reach(replace(rule, mask=mask))
    said = []
    for arch in lookup.ARCHES:
        names = [lookup.call_name(arch, number) for number in bits(calls.of(arch))]
        known = [name for name in names if not name.isdecimal()]
        if known:
            said.append(f"{arch}: {', '.join(known)}")
    return "; ".join(said)


def _cut_line(line: str) -> str:
    """Return a line, or its beginning: auditctl takes what follows 8 KiB for a line of its own."""
    return line if len(line) <= _MOST_QUOTED else f"{line[:_MOST_QUOTED]}..."


def _comment(words: str, further: str = "") -> list[str]:
    """Return a wrapped comment; no character in it can end a line."""
    plain = "".join(letter if letter.isprintable() else "?" for letter in words)
    return textwrap.wrap(
        plain,
        _WIDTH,
        initial_indent="# ",
        subsequent_indent=f"# {further}",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _source(rule: KernelRule) -> str:
    return rule.source.text if rule.source else text_of(rule)


def _place(rule: KernelRule) -> str:
    return str(rule.source.place) if rule.source and rule.source.place else "the input"


def saves_words(saved: float) -> str:
    """Return the saving of a change, in words."""
    return f"saves the mean call {saved:,.1f} instructions"


def places(rules: Iterable[KernelRule]) -> str:
    """Return places as `a.rules:3, 5 and b.rules:7`."""
    files: dict[str, list[str]] = {}
    for rule in rules:
        place = rule.source.place if rule.source else None
        files.setdefault(place.file if place else "the input", []).append(
            str(place.line) if place else "?"
        )
    return " and ".join(f"{file}:{', '.join(lines)}" for file, lines in files.items())
