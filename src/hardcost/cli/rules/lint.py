"""`hardcost rules lint`: faults and wasted work in audit rules."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from hardcost.auditrules import semantics
from hardcost.auditrules.cost import events
from hardcost.auditrules.cost.constants import Constants
from hardcost.auditrules.cost.predict import predict
from hardcost.auditrules.fieldtests import UnresolvedError
from hardcost.auditrules.knownpaths import target_of
from hardcost.auditrules.lint import sarif
from hardcost.auditrules.lint.checks import CODES, documentations
from hardcost.auditrules.lint.checks import lint as findings_in
from hardcost.auditrules.lint.context import Options, gather
from hardcost.auditrules.lint.diagnostic import Level
from hardcost.auditrules.loading import Fate
from hardcost.auditrules.root import Root
from hardcost.auditrules.rule import RulesError
from hardcost.cli import arguments, githubjob
from hardcost.cli.monitors import work_progress
from hardcost.cli.rules import common, lintfix
from hardcost.errors import InputError
from hardcost.files import check_put, put
from hardcost.profiles.written import problems_of
from hardcost.report.exports.annotations import github_findings
from hardcost.report.text import listed, visible
from hardcost.units import count

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from hardcost.auditrules.lint.context import Context
    from hardcost.auditrules.lint.diagnostic import Diagnostic, Documentation, Spot

_NO = 1
_IN_FULL = 3
"""Findings of one kind in one file that are shown in full, unless --all is given."""

_PRICED = ("getppid", "read", "openat")
_FAILS = {"error": {Level.ERROR}, "warning": {Level.ERROR, Level.WARNING}}
"""The levels that make the answer "no", by --fail-on."""

_COLOURS = {Level.ERROR: "red", Level.WARNING: "yellow", Level.NOTE: "cyan"}


def _codes(option: str, value: str | None) -> tuple[str, ...]:
    """Return the codes in an option's list, all of which must exist."""
    codes = tuple(code.strip() for code in (value or "").split(",") if code.strip())
    unknown = [code for code in codes if code not in CODES]
    if unknown:
        raise click.BadParameter(
            f"there is no finding {unknown[0]!r}; --list lists them", param_hint=option
        )
    return codes


def explained(code: str) -> str:
    """Return what a finding is, why it matters, and what to do."""
    known = {one.code: one for one in documentations()}
    if code not in known:
        raise click.BadParameter(
            f"there is no finding {code!r}; --list lists them", param_hint="--explain"
        )
    return "\n".join(_said(known[code]))


def listed_codes(_asked: bool) -> str:  # noqa: FBT001  (an option's value)
    """Return the list of findings, one per line."""
    return "\n".join(f"{one.code:18} {one.level:8} {one.title}" for one in documentations())


@dataclass(frozen=True)
class _Linted:
    """What was found, how many findings comments left out, and how many were written down now."""

    context: Context
    found: tuple[Diagnostic, ...]
    ignored: int
    files: lintfix.Files
    fixed: lintfix.Fixed | None = None
    written_down: tuple[int, int] | None = None


def lint(  # noqa: PLR0913  (click's options)
    texts: tuple[str, ...],
    *,
    no_b32: bool,
    root: Path | None,
    select: str | None,
    ignore: str | None,
    generate_ignore: bool,
    show_all: bool,
    fix: bool,
    unsafe_fixes: bool,
    dry_run: bool,
    fail_on: str,
    sarif_file: Path | None,
    format: str,  # noqa: A002
) -> None:
    """Find faults and wasted work in audit rules, and repair what is certain."""
    selected, ignored = _codes("--select", select), _codes("--ignore", ignore)
    fix = fix or unsafe_fixes
    _check(fix=fix, dry_run=dry_run, generate_ignore=generate_ignore, sarif_file=sarif_file)
    codes = tuple(code for code in selected or CODES if code not in ignored)
    rules = _Files(texts, b32=not no_b32, root=root)
    if fix:
        result = rules.fixed(codes, write=not dry_run, unsafe=unsafe_fixes)
    elif generate_ignore:
        result = rules.written_down(codes)
    else:
        result = rules.linted(codes)
    log = _sarif(result, codes) if sarif_file is not None or format == "sarif" else ""
    if sarif_file is not None:  # also where nobody reads what is printed
        put(sarif_file, f"{log}\n".encode(), "the result", "--sarif-file names the file")
    if format == "sarif":
        print(log)
    elif format == "json":
        print(json.dumps(_text_alone(_data(result)), indent=2))
    else:
        click.echo(githubjob.harmless("\n".join(_text(result, show_all=show_all))))
    if githubjob.here() and result.found:
        click.echo(github_findings(result.found), err=format != "text")
    if _FAILS[fail_on] & {one.level for one in result.found}:
        raise click.exceptions.Exit(_NO)


def _check(*, fix: bool, dry_run: bool, generate_ignore: bool, sarif_file: Path | None) -> None:
    """Check that options fit together, and that the file can be written.

    Raises:
        HardcostError: The file can't be written.
    """
    if dry_run and not fix:
        raise click.UsageError("--dry-run shows what --fix would write: give both.")
    if generate_ignore and fix:
        raise click.UsageError("--fix and --generate-ignore both write the files: give one.")
    if sarif_file is not None:
        check_put(sarif_file, "--sarif-file")


def _sarif(result: _Linted, codes: Sequence[str]) -> str:
    """Return the findings as a SARIF log, with the repairs that could be made."""
    with work_progress() as tell:
        tell("looking for repairs")
        offered = lintfix.offered(result.context, result.files, codes)
    log = sarif.log(result.found, version("hardcost"), offered)
    return json.dumps(_text_alone(log), indent=2)


# Reading ----------------------------------------------------------------------------------------


def _read(texts: Sequence[str]) -> lintfix.Files:
    """Return the lines of each file and folder, with the faults of whole files.

    Raises:
        InputError: Nothing in a file or folder could be read.
    """
    files = arguments.parts(texts)
    unreadable = [fault for readings, faults in files if not readings for fault in faults]
    if unreadable:
        raise InputError.of(problems_of(RulesError(tuple(unreadable))))
    return files


@dataclass(frozen=True)
class _Files:
    """What was named, and what is known of their machine."""

    texts: Sequence[str]
    b32: bool
    root: Path | None

    def linted(self, codes: Collection[str], files: lintfix.Files | None = None) -> _Linted:
        """Return what there is to say of the lines, which are read unless they are given."""
        with work_progress() as tell:
            tell("reading the rules")
            files = files or _read(self.texts)
            tell("loading the rules")
            context = self._context(files)
            every = findings_in(context, codes, tell=tell)
        found = tuple(one for one in every if not context.leaves_out(one.code, one.spot))
        return _Linted(context, found, len(every) - len(found), files)

    def fixed(self, codes: Collection[str], *, write: bool, unsafe: bool) -> _Linted:
        """Make the repairs, and return what there is to say of what remains."""
        with work_progress() as tell:
            tell("reading the rules")
            files = _read(self.texts)
            lintfix.check_files(self.texts, "--fix")
            tell("loading the rules")
            context = self._context(files)
        fixed = lintfix.fix(context, files, codes, write=write, unsafe=unsafe)
        if not fixed.written:
            files = [(part, faults) for part, (_, faults) in zip(fixed.parts, files, strict=True)]
        return replace(self.linted(codes, None if fixed.written else files), fixed=fixed)

    def written_down(self, codes: Collection[str]) -> _Linted:
        """Write comments that leave out what is found, and return what remains."""
        before = self.linted(codes)
        lintfix.check_files(self.texts, "--generate-ignore")
        done = lintfix.write_down(before.found)
        return replace(self.linted(codes), written_down=done)

    def _context(self, files: lintfix.Files) -> Context:
        parts = [readings for readings, _ in files]
        faults = [fault for _, of_files in files for fault in of_files]
        folder = None if self.root is None else Root(self.root)
        options = Options(
            b32=self.b32,
            root=folder,
            whole=any(path.is_dir() for path in arguments.files_of(self.texts)),
            constants=Constants.of_debian(),
        )
        rules = [one.rule for part in parts for one in part if one.rule is not None]
        target = common.NOWHERE.likely_target(rules) if folder is None else target_of(folder)
        return gather(parts, faults, options, target)


# Text -------------------------------------------------------------------------------------------


def _said(one: Documentation) -> Iterator[str]:
    """Yield the documentation of a finding, line by line."""
    said = one.sections
    yield f"{one.code} ({one.level}): {one.title}."
    for name in ("What", "Why", "Remedy"):
        yield ""
        yield click.wrap_text(f"{name}: {said[name]}", 100)
    yield ""
    yield "Example:"
    yield from (f"    {line}" for line in said["Example"].splitlines())


def _text(result: _Linted, *, show_all: bool) -> Iterator[str]:
    """Yield what was repaired, the findings file by file, and a summary."""
    if result.fixed is not None:
        yield from result.fixed.text()
    for file, of_file in groupby(result.found, key=lambda one: one.spot.file):
        yield click.style(visible(file) or "the rules", bold=True)
        seen: dict[str, list[Diagnostic]] = {}
        for finding in of_file:
            alike = seen.setdefault(finding.code, [])
            alike.append(finding)
            if show_all or len(alike) <= _IN_FULL:
                yield from _in_full(finding)
        if not show_all:
            yield from _left_out(seen)
        yield ""
    if result.written_down is not None:
        findings, files = result.written_down
        yield (
            f"{count(findings, 'finding')} written down in {count(files, 'file')}, as comments that"
            " leave them out from now on."
        )
    yield from _summary(result)


def _in_full(finding: Diagnostic) -> Iterator[str]:
    spot = finding.spot
    place = ":".join(str(part) for part in (spot.line, spot.column) if part is not None)
    level = click.style(finding.level.value, fg=_COLOURS[finding.level])
    yield f"  {place or '-'}: {level}: {visible(finding.message)} [{finding.code}]"
    if finding.text:
        yield f"      {visible(finding.text)}"
    if finding.remedy:
        yield f"      remedy: {visible(finding.remedy)}"
    if finding.cost:
        yield f"      predicted cost: {finding.cost}"


def _left_out(seen: Mapping[str, Sequence[Diagnostic]]) -> Iterator[str]:
    for code, alike in seen.items():
        rest = alike[_IN_FULL:]
        if rest:
            lines = _ranges(sorted({one.spot.line for one in rest if one.spot.line is not None}))
            yield f"  … {len(rest):,} more of {code}, lines {lines} (--all shows them)"


_MOST_RANGES = 12


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


def _summary(result: _Linted) -> Iterator[str]:
    context = result.context
    levels = Counter(one.level for one in result.found)
    lines = count(len(context.readings), "line")
    said = listed(count(levels[level], level.value) for level in Level)
    yield f"{said} in {lines}; {_loaded(context)} ({common.ARCHITECTURE})."
    if result.ignored:
        verb = "is" if result.ignored == 1 else "are"
        yield f"{count(result.ignored, 'finding')} {verb} left out by comments."
    costs = _costs(context)
    if costs.by_call:
        priced = listed(f"{cost:,.0f} to each {name}" for name, cost in costs.by_call.items())
        yield (
            f"All rules together add {priced} (predicted instructions on {costs.kernel},"
            " for an ordinary user's call on files that no rule watches)."
        )
    for reason in dict.fromkeys(costs.unknown.values()):
        calls = listed(name for name, why in costs.unknown.items() if why == reason)
        yield f"What all rules together add to each {calls} is not predicted: {reason}."
    yield from _guessed(context)


def _guessed(context: Context) -> Iterator[str]:
    """Say that the kinds of watched paths (-w) are guessed from their names, if they are."""
    watches = [rule for rule in context.rules if rule.source and rule.source.text.startswith("-w")]
    if watches and context.options.root is None:
        trees = sum(rule.directory is not None for rule in watches)
        yield (
            f"Judging by name, {trees} of {count(len(watches), 'watched path')} (-w) are"
            " directories; auditctl asks the file system, which --root provides."
        )


def _loaded(context: Context) -> str:
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


# Data -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Costs:
    """What all rules together add to some typical calls (instructions), and on which kernel.

    `unknown` are calls whose cost is not predicted, with the reason.
    """

    by_call: Mapping[str, float]
    kernel: str
    unknown: Mapping[str, str]


def _costs(context: Context) -> _Costs:
    """Return the prediction; nothing if a rule names a user whose number is unknown."""
    constants = context.options.constants
    if constants is None or not context.rules:
        return _Costs({}, "", {})
    loaded = semantics.load(context.rules)
    try:
        found = {name: predict(constants, loaded, events.typical(name)) for name in _PRICED}
    except UnresolvedError:
        return _Costs({}, "", {})
    return _Costs(
        {name: one.total for name, one in found.items() if not one.unknown},
        constants.about.get("kernel", "a kernel"),
        {name: one.unknown for name, one in found.items() if one.unknown},
    )


def _text_alone(data: Any) -> Any:  # noqa: ANN401  (JSON)
    r"""Return data with bytes that are not UTF-8 written as `\xff`: no JSON can hold them."""
    if isinstance(data, str):
        return data.encode(errors="surrogateescape").decode(errors="backslashreplace")
    if isinstance(data, dict):
        return {key: _text_alone(value) for key, value in data.items()}
    return [_text_alone(one) for one in data] if isinstance(data, list) else data


def _data(result: _Linted) -> dict[str, Any]:
    context, found = result.context, result.found
    costs = _costs(context)
    levels = Counter(one.level for one in found)
    stops = context.loaded.stops_at.reading.place if context.loaded.stops_at else None
    return {
        **common.ARCHITECTURE_DATA,
        "findings": [_finding(one) for one in found],
        "counts": {level.value: levels[level] for level in Level},
        "ignored": result.ignored,
        "lines": len(context.readings),
        "rules": len(context.rules),
        "deleted": len(context.loaded.of(Fate.DELETED)),
        "stops_at": None if stops is None else {"file": stops.file, "line": stops.line},
        "cost": {
            "unit": "insn/call",
            "predicted": True,
            "kernel": costs.kernel or None,
            "calls": {**costs.by_call, **dict.fromkeys(costs.unknown)},
            "not_predicted": dict(costs.unknown),
        },
        **({} if result.fixed is None else {"repairs": result.fixed.data()}),
    }


def _finding(one: Diagnostic) -> dict[str, Any]:
    return {
        "code": one.code,
        "level": one.level.value,
        "message": one.message,
        **_spot(one.spot),
        "column": one.spot.column,
        "text": one.text,
        "remedy": one.remedy or None,
        "cost": one.cost
        and {"instructions": one.cost.instructions, "paid": one.cost.paid, "predicted": True},
        "related": [_spot(spot) for spot in one.related],
    }


def _spot(spot: Spot) -> dict[str, Any]:
    return {"file": spot.file, "line": spot.line}
