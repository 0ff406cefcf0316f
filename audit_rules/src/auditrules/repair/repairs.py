"""Repairs of audit rules, and the proof that the lines that load today record the same.

A repair is safe if it is proved that all lines record the same afterwards. A line that can't be
loaded is repaired where only one thing can have been meant; it then records what it did not before,
so that is unsafe. Where the files have auditctl continue after a faulty line (-i, -c), the set
loads without that line: it stays.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from auditrules.auditctl.translate import translate
from auditrules.lint.context import Context
from auditrules.lint.diagnostic import Repair
from auditrules.lint.findings import cannot_load, costly_order, duplicate_rule
from auditrules.load.load import AddedLine, Fate, LoadedLines, load_lines
from auditrules.model.fault import RulesError
from auditrules.model.kernel_rule import KernelRule
from auditrules.model.location import Location
from auditrules.model.rule import Reading, RuleKind
from auditrules.prove.prove import DEFAULT_SECONDS, prove_equal
from auditrules.prove.relation import ProverError, Relation, Result
from auditrules.read import ignore_comments, parse
from auditrules.repair import field_order, spelling

FileParts = tuple[tuple["Reading", ...], ...]

DUPLICATE, SPELLING, ORDER = duplicate_rule.CODE, cannot_load.CODE, costly_order.CODE
CODES = (DUPLICATE, SPELLING, ORDER)
"""The codes of the diagnostics that can be repaired."""


@dataclass(frozen=True)
class UnrepairedLine:
    """A line that is at fault and stays, with why."""

    place: Location
    code: str
    why: str


@dataclass(frozen=True)
class Repaired:
    """The repairs of a set, the lines left, and the proof; `result` is None if nothing is done.

    `offered` are repairs that were not asked for, since they are not safe.
    """

    repairs: tuple[Repair, ...]
    left: tuple[UnrepairedLine, ...]
    result: Result | None = None
    parts: FileParts = ()
    offered: tuple[Repair, ...] = ()


def repair_lines(
    parts: FileParts,
    context: Context,
    codes: Collection[str] = CODES,
    seconds: float = DEFAULT_SECONDS,
    *,
    unsafe: bool = False,
) -> Repaired:
    """Return the repairs of a set's lines: the safe ones, with `unsafe` the others, too.

    `context` is lint's of the same lines. No repair is made that the prover shows to change what
    loads today.
    """
    found = _RepairSearch(parts, context, frozenset(codes))
    found.look()
    possible = _harmless(parts, found.repairs, context, found.left)
    wanted = [one for one in possible if unsafe or one.code != SPELLING]
    offered = [one for one in possible if one not in wanted]
    if not wanted:
        return Repaired((), tuple(found.left), None, parts, tuple(offered))
    result = _proof(parts, wanted, context, seconds)
    if result.equal is False:
        why = "the prover finds that what is recorded would change"
        left = [UnrepairedLine(one.place, one.code, why) for one in wanted]
        return Repaired((), (*found.left, *left), result, parts, tuple(offered))
    if result.equal is None and not unsafe:
        offered, wanted = sorted([*offered, *wanted], key=found.repairs.index), []
    known = result.equal is True
    done = tuple(replace(one, safe=known and one.code != SPELLING) for one in wanted)
    return Repaired(done, tuple(found.left), result, apply_repairs(parts, done), tuple(offered))


def apply_repairs(parts: FileParts, repairs: Sequence[Repair]) -> FileParts:
    """Return the lines with the repairs made."""
    by_place = {one.place: one for one in repairs}
    return tuple(tuple(_apply_to_part(part, by_place)) for part in parts)


def _apply_to_part(part: Sequence[Reading], by_place: dict[Location, Repair]) -> Iterator[Reading]:
    for reading in part:
        repair = by_place.get(reading.place)
        if repair is None:
            yield reading
        elif repair.after is not None:
            yield ignore_comments.with_codes(
                parse.read_line(repair.after, reading.place), reading.ignores
            )


class _RepairSearch:
    """Searches lines for repairs."""

    def __init__(self, parts: FileParts, context: Context, codes: frozenset[str]) -> None:
        self.parts, self.context, self.codes = parts, context, codes
        self.loaded = load_lines(parts, context.target)
        self.known = set(self.loaded.rules)
        self.repairs: list[Repair] = []
        self.left: list[UnrepairedLine] = []
        spots = costly_order.find(context) if ORDER in codes else ()
        self.costly = {(one.spot.file, one.spot.line) for one in spots}

    def look(self) -> None:
        """Find all repairs, and the lines left."""
        certain = load_lines(self.parts)  # without guessing what lies at a watched path
        twice = {one.reading.place for one in certain.of(Fate.TWICE)}
        for line in self.loaded.lines:
            reading = line.reading
            if reading.cut_at is not None or reading.kind is not RuleKind.RULE:
                continue
            if line.fate is Fate.TWICE and self._is_wanted(DUPLICATE, reading):
                self._look_at_repeated(line, certain=reading.place in twice)
            elif line.fate is Fate.REFUSED and self._is_wanted(SPELLING, reading):
                self._look_at_refused(line)
            elif line.fate is Fate.LOADED and self._is_wanted(ORDER, reading):
                self._look_at_loaded(line)

    def _is_wanted(self, code: str, reading: Reading) -> bool:
        return code in self.codes and code not in reading.ignores

    def _look_at_repeated(self, line: AddedLine, *, certain: bool) -> None:
        place = line.reading.place
        earlier = line.earlier.source if line.earlier else None
        at = f" of {earlier.place}" if earlier and earlier.place else ""
        if line.reading.ignores:
            why = "the comment above it would then be about the next line: remove both"
            self.left.append(UnrepairedLine(place, DUPLICATE, why))
        elif certain:
            what = f"removed: it repeats the rule{at}"
            self.repairs.append(Repair(place, DUPLICATE, line.reading.raw, None, what))
        else:
            why = f"whether it repeats the rule{at} depends on what lies at the watched path"
            self.left.append(UnrepairedLine(place, DUPLICATE, why))

    def _look_at_refused(self, line: AddedLine) -> None:
        reading = line.reading
        ordered = field_order.arch_first(reading.raw)
        try:
            after = spelling.respell(ordered)
            rule = None if after == reading.raw else self._rule_of(after, reading.place)
        except spelling.UncertainError as error:
            self.left.append(UnrepairedLine(reading.place, SPELLING, str(error)))
            return
        if rule is None:
            return  # something else is wrong with it, as lint says
        if line.tolerated:
            why = "the set loads without this line (-i, -c): repairing it would record more"
            self.left.append(UnrepairedLine(reading.place, SPELLING, why))
        elif rule in self.known:
            why = "with the near name it would repeat another rule: that was not meant"
            self.left.append(UnrepairedLine(reading.place, SPELLING, why))
        else:
            self.known.add(rule)
            what = [f"{old} became {new}" for old, new in spelling.names_changed(ordered, after)]
            what += ["arch now stands before -S"] * (ordered != reading.raw)
            said = ", ".join(what)
            self.repairs.append(Repair(reading.place, SPELLING, reading.raw, after, said))

    def _look_at_loaded(self, line: AddedLine) -> None:
        reading, rule = line.reading, line.rule
        constants = self.context.options.constants
        if (reading.place.file, reading.place.line) not in self.costly:
            return
        if rule is None or constants is None:
            return
        after = field_order.cheap_first(reading.raw, rule, self.context)
        again = None if after == reading.raw else self._rule_of(after, reading.place)
        if again is None or replace(again, conditions=rule.conditions) != rule:
            return
        if field_order.is_cheaper(again, rule, constants):
            what = "cheap conditions first"
            self.repairs.append(Repair(reading.place, ORDER, reading.raw, after, what))
        else:
            why = "the other order would make some call cost more (predicted)"
            self.left.append(UnrepairedLine(reading.place, ORDER, why))

    def _rule_of(self, raw: str, place: Location) -> KernelRule | None:
        """Return the rule that the kernel would hold of a line; None if it can't be loaded."""
        written = parse.read_line(raw, place).rule
        if written is None:
            return None
        try:
            return translate(written, self.context.target)
        except RulesError:
            return None


def _harmless(
    parts: FileParts, repairs: Sequence[Repair], context: Context, left: list[UnrepairedLine]
) -> list[Repair]:
    """Return the repairs after which no line fails that does not today; others join `left`."""
    before = _failing_places(load_lines(parts, context.target))

    def harms(some: Sequence[Repair]) -> bool:
        return bool(
            _failing_places(load_lines(apply_repairs(parts, some), context.target)) - before
        )

    if not harms(repairs):
        return list(repairs)
    kept: list[Repair] = []
    for one in repairs:
        if harms([*kept, one]):
            why = "another line, such as one that deletes this rule, could not be loaded then"
            left.append(UnrepairedLine(one.place, one.code, why))
        else:
            kept.append(one)
    return kept


def _failing_places(loaded: LoadedLines) -> set[Location]:
    return {one.reading.place for one in loaded.failing}


def _proof(parts: FileParts, repairs: Sequence[Repair], context: Context, seconds: float) -> Result:
    """Prove that the lines that load today, without those at fault, record as before.

    Lines that could not be loaded before are no part of that.
    """
    new = {one.place for one in repairs if one.code == SPELLING}
    before = load_lines(parts, context.target).rules
    after = tuple(
        rule
        for rule in load_lines(apply_repairs(parts, repairs), context.target).rules
        if rule.source is None or rule.source.place not in new
    )
    try:
        return prove_equal(before, after, seconds=seconds)
    except ProverError as error:
        return Result(None, Relation(), reason=str(error))
