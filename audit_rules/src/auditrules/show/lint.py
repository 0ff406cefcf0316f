"""Diagnostics of audit rules, and repairs, as text and as JSON."""

from __future__ import annotations

import difflib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby
from typing import Literal

from click import style, wrap_text

from auditrules.lint.check import Documentation
from auditrules.lint.context import Context
from auditrules.lint.diagnostic import Diagnostic, Level, Repair
from auditrules.lint.prices import AddedCosts, added_costs
from auditrules.lint.sarif import log
from auditrules.load.load import Fate
from auditrules.prove.relation import Result
from auditrules.repair.result import Fixed, Linted
from auditrules.show.parts import (
    ARCHITECTURE,
    ARCHITECTURES,
    Amount,
    CheckedArchitectures,
    LineAt,
    RulesDocument,
)
from auditrules.words import count, join_in_prose, visible

_IN_FULL = 3
"""Findings of one kind in one file that are shown in full, unless all are."""

_MOST_RANGES = 12
_COLOURS = {Level.ERROR: "red", Level.WARNING: "yellow", Level.NOTE: "cyan"}

# As JSON ------------------------------------------------------------------------------------------


class FindingCost(RulesDocument):
    """Instructions that a diagnostic costs, and which calls pay them."""

    instructions: Amount
    paid: str
    predicted: Literal[True]


class LintFinding(RulesDocument):
    """A diagnostic of lint."""

    code: str
    level: str
    message: str
    file: str
    line: int
    column: int | None
    text: str
    remedy: str | None
    cost: FindingCost | None
    related: tuple[LineAt, ...]


class LintCosts(RulesDocument):
    """The cost of the rules for each call, in instructions; null where not predicted, and why."""

    unit: Literal["insn/call"]
    predicted: Literal[True]
    kernel: str | None
    calls: dict[str, Amount | None]
    not_predicted: dict[str, str]


class LineRepair(RulesDocument):
    """A repair of a line."""

    file: str
    line: int
    code: str
    before: str
    after: str | None
    what: str
    safe: bool


class LeftFinding(RulesDocument):
    """A diagnostic that is not repaired, and why."""

    file: str
    line: int
    code: str
    why: str


class LintRepairs(RulesDocument):
    """The repairs, whether they were written, and whether the same is proved to be recorded."""

    written: bool
    done: tuple[LineRepair, ...]
    offered: tuple[LineRepair, ...]
    left: tuple[LeftFinding, ...]
    proved: bool | None


class LintDocument(RulesDocument):
    """The result of `hardcost rules lint`; `repairs` only with `--fix`."""

    architecture: CheckedArchitectures
    findings: tuple[LintFinding, ...]
    counts: dict[str, int]
    ignored: int
    lines: int
    rules: int
    deleted: int
    stops_at: LineAt | None
    cost: LintCosts
    repairs: LintRepairs | None = None


def to_json(result: Linted) -> str:
    """Return the diagnostics as JSON."""
    return _json(document(result).model_dump(mode="json", exclude_unset=True))


def to_sarif(result: Linted, offered: Sequence[Repair], program: str) -> str:
    """Return the diagnostics as the SARIF log of a program, with the repairs that could be made."""
    return _json(log(result.found, program, _version(program), offered))


def _version(program: str) -> str:
    try:
        return version(program)
    except PackageNotFoundError:  # it runs where it is developed
        return "unknown"


def _json(data: object) -> str:
    return json.dumps(_as_json_text(data), indent=2)


def _as_json_text(data: object) -> object:
    r"""Return data with bytes that are not UTF-8 written as `\xff`: no JSON can hold them."""
    if isinstance(data, str):
        return data.encode(errors="surrogateescape").decode(errors="backslashreplace")
    if isinstance(data, dict):
        return {key: _as_json_text(value) for key, value in data.items()}
    return [_as_json_text(one) for one in data] if isinstance(data, list) else data


def document(result: Linted) -> LintDocument:
    """Return the diagnostics, for JSON."""
    context, found = result.context, result.found
    levels = Counter(one.level for one in found)
    stops = context.loaded.stops_at.reading.place if context.loaded.stops_at else None
    repairs = {} if result.fixed is None else {"repairs": _repairs(result.fixed)}
    return LintDocument(
        architecture=ARCHITECTURES,
        findings=tuple(map(_finding, found)),
        counts={level.value: levels[level] for level in Level},
        ignored=result.ignored,
        lines=len(context.readings),
        rules=len(context.rules),
        deleted=len(context.loaded.of(Fate.DELETED)),
        stops_at=None if stops is None else LineAt.of(stops),
        cost=_lint_costs(added_costs(context)),
        **repairs,
    )


def _lint_costs(costs: AddedCosts) -> LintCosts:
    return LintCosts(
        unit="insn/call",
        predicted=True,
        kernel=costs.kernel or None,
        calls={**costs.by_call, **dict.fromkeys(costs.unknown)},
        not_predicted=dict(costs.unknown),
    )


def _finding(one: Diagnostic) -> LintFinding:
    cost = one.cost and FindingCost(
        instructions=one.cost.instructions, paid=one.cost.paid, predicted=True
    )
    return LintFinding(
        code=one.code,
        level=one.level.value,
        message=one.message,
        file=one.spot.file,
        line=one.spot.line,
        column=one.spot.column,
        text=one.text,
        remedy=one.remedy or None,
        cost=cost,
        related=tuple(map(LineAt.of, one.related)),
    )


def _repairs(fixed: Fixed) -> LintRepairs:
    result = fixed.found.result
    return LintRepairs(
        written=fixed.written,
        done=tuple(map(_repair, fixed.found.repairs)),
        offered=tuple(map(_repair, fixed.found.offered)),
        left=tuple(
            LeftFinding(file=one.place.file, line=one.place.line, code=one.code, why=one.why)
            for one in fixed.found.left
        ),
        proved=None if result is None else result.equal,
    )


def _repair(one: Repair) -> LineRepair:
    return LineRepair(
        file=one.place.file,
        line=one.place.line,
        code=one.code,
        before=one.before,
        after=one.after,
        what=one.what,
        safe=one.safe,
    )


# As text ------------------------------------------------------------------------------------------


def documentation_lines(one: Documentation) -> Iterator[str]:
    """Yield the documentation of a diagnostic, line by line."""
    said = one.sections
    yield f"{one.code} ({one.level}): {one.title}."
    for name in ("What", "Why", "Remedy"):
        yield ""
        yield wrap_text(f"{name}: {said[name]}", 100)
    yield ""
    yield "Example:"
    yield from (f"    {line}" for line in said["Example"].splitlines())


def text(result: Linted, *, show_all: bool = False) -> Iterator[str]:
    """Yield the repairs, the diagnostics file by file, and a summary."""
    if result.fixed is not None:
        yield from _repair_lines(result.fixed)
    for file, of_file in groupby(result.found, key=lambda one: one.spot.file):
        yield style(visible(file) or "the rules", bold=True)
        seen: dict[str, list[Diagnostic]] = {}
        for diagnostic in of_file:
            alike = seen.setdefault(diagnostic.code, [])
            alike.append(diagnostic)
            if show_all or len(alike) <= _IN_FULL:
                yield from _diagnostic_lines(diagnostic)
        if not show_all:
            yield from _rest_lines(seen)
        yield ""
    if result.written_down is not None:
        findings, files = result.written_down
        yield (
            f"{count(findings, 'finding')} written down in {count(files, 'file')}, as comments that"
            " leave them out from now on."
        )
    yield from _summary(result)


def _diagnostic_lines(diagnostic: Diagnostic) -> Iterator[str]:
    spot = diagnostic.spot
    place = ":".join(str(part) for part in (spot.line, spot.column) if part is not None)
    level = style(diagnostic.level.value, fg=_COLOURS[diagnostic.level])
    yield f"  {place or '-'}: {level}: {visible(diagnostic.message)} [{diagnostic.code}]"
    if diagnostic.text:
        yield f"      {visible(diagnostic.text)}"
    if diagnostic.remedy:
        yield f"      remedy: {visible(diagnostic.remedy)}"
    if diagnostic.cost:
        yield f"      predicted cost: {diagnostic.cost}"


def _rest_lines(seen: Mapping[str, Sequence[Diagnostic]]) -> Iterator[str]:
    for code, alike in seen.items():
        rest = alike[_IN_FULL:]
        if rest:
            lines = _ranges(sorted({one.spot.line for one in rest if one.spot.line is not None}))
            yield f"  … {len(rest):,} more of {code}, lines {lines} (--all shows them)"


def _ranges(lines: Sequence[int]) -> str:
    """Return lines such as `4, 7-9`, shortened if there are many."""
    ranges: list[list[int]] = []
    for line in lines:
        if ranges and line == ranges[-1][-1] + 1:
            ranges[-1] = [ranges[-1][0], line]
        else:
            ranges.append([line])
    shown = [str(one[0]) if len(one) == 1 else f"{one[0]}-{one[1]}" for one in ranges]
    return ", ".join(shown[:_MOST_RANGES]) + (", …" if len(shown) > _MOST_RANGES else "")


def _summary(result: Linted) -> Iterator[str]:
    context = result.context
    levels = Counter(one.level for one in result.found)
    lines = count(len(context.readings), "line")
    said = join_in_prose(count(levels[level], level.value) for level in Level)
    yield f"{said} in {lines}; {_loading_summary(context)} ({ARCHITECTURE})."
    if result.ignored:
        verb = "is" if result.ignored == 1 else "are"
        yield f"{count(result.ignored, 'finding')} {verb} left out by comments."
    costs = added_costs(context)
    if costs.by_call:
        priced = join_in_prose(
            f"{cost:,.0f} to each {name}" for name, cost in costs.by_call.items()
        )
        yield (
            f"All rules together add {priced} (predicted instructions on {costs.kernel},"
            " for an ordinary user's call on files that no rule watches)."
        )
    for reason in dict.fromkeys(costs.unknown.values()):
        calls = join_in_prose(name for name, why in costs.unknown.items() if why == reason)
        yield f"What all rules together add to each {calls} is not predicted: {reason}."
    yield from _guess_lines(context)


def _guess_lines(context: Context) -> Iterator[str]:
    """Say that the kinds of watched paths (-w) are guessed from their names, if they are."""
    watches = [rule for rule in context.rules if rule.source and rule.source.text.startswith("-w")]
    if watches and context.options.root is None:
        trees = sum(rule.directory is not None for rule in watches)
        yield (
            f"Judging by name, {trees} of {count(len(watches), 'watched path')} (-w) are"
            " directories; auditctl asks the file system, which --root provides."
        )


def _loading_summary(context: Context) -> str:
    """Return how many rules stay loaded, and why others do not."""
    rules = len(context.rules)
    stay = f"{count(rules, 'rule')} {'stays' if rules == 1 else 'stay'} loaded"
    deleted = len(context.loaded.of(Fate.DELETED))
    if deleted:
        stay += f", {deleted:,} {'is' if deleted == 1 else 'are'} deleted again"
    stops = context.loaded.stops_at
    if stops is None:
        return stay
    return f"auditctl stops at {visible(str(stops.reading.place))}; without faulty lines, {stay}"


# Repairs as text ----------------------------------------------------------------------------------


def _repair_lines(fixed: Fixed) -> Iterator[str]:
    """Yield the diff, the proof and the lines left, line by line."""
    for file, (before, after) in fixed.contents.items():
        yield from _diff(file, before, after)
    result = fixed.found.result
    if fixed.found.repairs:
        done = "written" if fixed.written else "not written (--dry-run)"
        yield f"{count(len(fixed.found.repairs), 'repair')}, {done}:"
        for one in fixed.found.repairs:
            yield _line(one, "" if one.safe else " (unsafe)")
        yield _proof(result)
    elif result is not None:
        why = result.reason or "the prover finds a difference"
        yield f"Nothing is written: {visible(why)}."
    else:
        yield "There is no safe repair to make."
    if fixed.found.offered:
        yield f"--unsafe-fixes also makes {count(len(fixed.found.offered), 'repair')}:"
        yield from (_line(one) for one in fixed.found.offered)
    for left in fixed.found.left:
        yield f"  {visible(str(left.place))}: left: {visible(left.why)} [{left.code}]"
    yield ""


def _line(one: Repair, more: str = "") -> str:
    return f"  {visible(str(one.place))}: {visible(one.what)} [{one.code}]{more}"


def _proof(result: Result | None) -> str:
    if result is not None and result.equal:
        return "Proved: of all lines that load today, the same is recorded as before."
    why = "" if result is None or not result.reason else f": {visible(result.reason)}"
    return f"Not proved that what loads today records the same{why}."


def _diff(file: str, before: bytes, after: bytes) -> Iterator[str]:
    """Yield the difference of two contents as `diff -u` shows it."""
    old, new = (
        [visible(line) for line in data.decode(errors="surrogateescape").split("\n")]
        for data in (before, after)
    )
    name = visible(file)
    yield from difflib.unified_diff(old, new, name, name, lineterm="", n=1)
