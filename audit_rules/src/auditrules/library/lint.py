"""Faults and wasted work in audit rules: found, repaired, or written down in comments."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Literal

from auditrules.cost.constants import Constants
from auditrules.files.whole import ChangedError
from auditrules.library.arguments import files_of, parts
from auditrules.library.caller import Caller
from auditrules.library.files import content, put
from auditrules.lint.checks import CODES, findings_in
from auditrules.lint.context import Context, LintOptions, gather
from auditrules.lint.diagnostic import Diagnostic, Repair
from auditrules.load.known_paths import target_of
from auditrules.load.root import Root
from auditrules.load.target import NOWHERE
from auditrules.model.errors import InputError, RequestError
from auditrules.model.fault import RulesError
from auditrules.model.location import Location
from auditrules.read import ignore_comments
from auditrules.read.parse import LARGEST_FILE
from auditrules.repair import repairs
from auditrules.repair.result import Fixed, Linted, LintedFiles


@dataclass(frozen=True)
class LintRequest:
    """A request to lint rules, and to repair or ignore the faults.

    `root` is a folder with the machine's file system; without `b32`, no program makes 32-bit calls.
    `then`: `fix` makes the safe repairs (all with `unsafe`; without `write` they are only found),
    and `ignore` writes comments that leave the diagnostics out from now on.
    """

    texts: tuple[str, ...]
    _: KW_ONLY
    codes: tuple[str, ...] = CODES
    b32: bool = True
    root: Path | None = None
    then: Literal["fix", "ignore"] | None = None
    unsafe: bool = False
    write: bool = True


def lint(request: LintRequest, caller: Caller | None = None) -> Linted:
    """Find faults and wasted work in rules; return those that remain after the repairs.

    Raises:
        InputError: Nothing can be read, or what is to be changed is no file or changed meanwhile.
        StoreError: A file can't be written.
    """
    files = _Files(request, caller or Caller())
    if request.then == "fix":
        return files.repair()
    return files.write_comments() if request.then == "ignore" else files.look()


def possible_repairs(
    result: Linted, codes: Collection[str], caller: Caller | None = None
) -> tuple[Repair, ...]:
    """Return the repairs that could be made, the safe ones and the others; nothing is written."""
    lines = tuple(readings for readings, _ in result.files)
    with (caller or Caller()).work() as tell:
        tell("looking for repairs")
        found = repairs.repair_lines(lines, result.context, codes)
    return (*found.repairs, *found.offered)


# Reading ------------------------------------------------------------------------------------------


def _read(texts: Sequence[str], caller: Caller) -> LintedFiles:
    """Return the lines of each file and folder, with the faults of whole files."""
    files = parts(texts, caller)
    unreadable = [fault for readings, faults in files if not readings for fault in faults]
    if unreadable:
        raise RulesError(tuple(unreadable))
    return files


@dataclass(frozen=True)
class _Files:
    """The files that a request names, and the caller."""

    request: LintRequest
    caller: Caller

    def look(self, files: LintedFiles | None = None) -> Linted:
        """Return the diagnostics of the lines, which are read unless they are given."""
        with self.caller.work() as tell:
            tell("reading the rules")
            files = files or _read(self.request.texts, self.caller)
            tell("loading the rules")
            context = self._context(files)
            every = findings_in(context, self.request.codes, tell=tell)
        found = tuple(one for one in every if not context.leaves_out(one.code, one.spot))
        return Linted(context, found, len(every) - len(found), files)

    def repair(self) -> Linted:
        """Make the repairs, and return the remaining diagnostics."""
        with self.caller.work() as tell:
            tell("reading the rules")
            files = _read(self.request.texts, self.caller)
            self._check_files("`fix`")
            tell("loading the rules")
            context = self._context(files)
        fixed = _fix(context, files, self.request)
        if not fixed.written:
            files = [(part, faults) for part, (_, faults) in zip(fixed.parts, files, strict=True)]
        return replace(self.look(None if fixed.written else files), fixed=fixed)

    def write_comments(self) -> Linted:
        """Write comments that leave out the diagnostics, and return those that remain."""
        before = self.look()
        self._check_files("`generate_ignore`")
        done = _add_comments(before.found)
        return replace(self.look(), written_down=done)

    def _check_files(self, field: str) -> None:
        """Check that only files are named, since a field of the request writes them."""
        texts = self.request.texts
        if len(files_of(texts, self.caller)) < len(texts):
            raise RequestError(
                f"{field} writes files of audit rules, and something else is named",
                hint=f"name files or folders, or leave {field} out",
            )

    def _context(self, files: LintedFiles) -> Context:
        parts = [readings for readings, _ in files]
        faults = [fault for _, of_files in files for fault in of_files]
        folder = None if self.request.root is None else Root(self.request.root)
        options = LintOptions(
            b32=self.request.b32,
            root=folder,
            whole=any(path.is_dir() for path in files_of(self.request.texts, self.caller)),
            constants=Constants.of_debian(),
        )
        rules = [one.rule for part in parts for one in part if one.rule is not None]
        target = NOWHERE.likely_target(rules) if folder is None else target_of(folder)
        return gather(parts, faults, options, target)


# Repairs ------------------------------------------------------------------------------------------


def _fix(context: Context, files: LintedFiles, request: LintRequest) -> Fixed:
    """Find the repairs, the safe ones or all, and write them unless the request says otherwise."""
    lines = tuple(readings for readings, _ in files)
    found = repairs.repair_lines(lines, context, request.codes, unsafe=request.unsafe)
    contents = _contents(found.repairs)
    if request.write:
        for file, (before, after) in contents.items():
            _replace(file, before, after)
    return Fixed(found, contents, written=request.write and bool(contents))


def _add_comments(found: Sequence[Diagnostic]) -> tuple[int, int]:
    """Write a comment above each line with diagnostics, which leaves these out from now on.

    Return how many diagnostics that are, and in how many files.
    """
    codes: dict[str, dict[int, list[Diagnostic]]] = {}
    for one in found:
        if one.spot.line is not None:
            codes.setdefault(one.spot.file, {}).setdefault(one.spot.line, []).append(one)
    for file, by_line in codes.items():
        before = content(Path(file), "the file", LARGEST_FILE)
        lines = before.split(b"\n")
        for number in sorted(by_line, reverse=True):
            named = dict.fromkeys(one.code for one in by_line[number])
            lines.insert(number - 1, ignore_comments.comment(named).encode())
        _replace(file, before, b"\n".join(lines))
    return sum(one.spot.line is not None for one in found), len(codes)


def _contents(found: Sequence[Repair]) -> dict[str, tuple[bytes, bytes]]:
    """Return the content of each file with a repair, before and after."""
    contents = {}
    for file in dict.fromkeys(one.place.file for one in found):
        before = content(Path(file), "the file", LARGEST_FILE)
        lines: list[bytes | None] = list(before.split(b"\n"))
        for one in found:
            if one.place.file != file:
                continue
            at = (one.place.line or 0) - 1
            if at >= len(lines) or lines[at] != one.before.encode(errors="surrogateescape"):
                raise InputError(
                    "the line is not what it was a moment ago",
                    place=one.place,
                    hint="run it again",
                )
            lines[at] = None if one.after is None else one.after.encode(errors="surrogateescape")
        contents[file] = before, b"\n".join(line for line in lines if line is not None)
    return contents


def _replace(file: str, before: bytes, after: bytes) -> None:
    try:
        put(Path(file), after, before=before)
    except ChangedError as error:
        raise InputError(
            "the file changed meanwhile", place=Location(file), hint="run it again"
        ) from error
