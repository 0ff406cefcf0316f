"""`hardcost rules lint --fix` and `--generate-ignore`: repairs and comments in the files."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardcost.auditrules import ignoring
from hardcost.auditrules.parse import LARGEST_FILE
from hardcost.auditrules.repair import repairs
from hardcost.auditrules.wholefile import ChangedError
from hardcost.cli import arguments
from hardcost.errors import InputError, Place
from hardcost.files import content, put
from hardcost.report.text import visible
from hardcost.units import count

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from hardcost.auditrules.lint.context import Context
    from hardcost.auditrules.lint.diagnostic import Diagnostic, Repair
    from hardcost.auditrules.prove.relation import Result
    from hardcost.auditrules.repair.repairs import Parts, Repaired
    from hardcost.auditrules.rule import Fault, Reading

Files = list[tuple[tuple["Reading", ...], list["Fault"]]]
"""The lines of each file or folder that was named, and the faults of whole files."""


@dataclass(frozen=True)
class Fixed:
    """What was repaired: the repairs, each file's content before and after, and what was left."""

    found: Repaired
    contents: Mapping[str, tuple[bytes, bytes]]
    written: bool

    @property
    def parts(self) -> Parts:
        """All lines with the repairs made."""
        return self.found.parts

    def data(self) -> dict[str, Any]:
        """Return it for JSON."""
        result = self.found.result
        return {
            "written": self.written,
            "done": [_repair(one) for one in self.found.repairs],
            "offered": [_repair(one) for one in self.found.offered],
            "left": [
                {"file": one.place.file, "line": one.place.line, "code": one.code, "why": one.why}
                for one in self.found.left
            ],
            "proved": None if result is None else result.equal,
        }

    def text(self) -> Iterator[str]:
        """Yield the diff, the proof and what was left, line by line."""
        for file, (before, after) in self.contents.items():
            yield from _diff(file, before, after)
        result = self.found.result
        if self.found.repairs:
            done = "written" if self.written else "not written (--dry-run)"
            yield f"{count(len(self.found.repairs), 'repair')}, {done}:"
            for one in self.found.repairs:
                yield _line(one, "" if one.safe else " (unsafe)")
            yield _proof(result)
        elif result is not None:
            why = result.reason or "the prover finds a difference"
            yield f"Nothing is written: {visible(why)}."
        else:
            yield "There is no safe repair to make."
        if self.found.offered:
            yield f"--unsafe-fixes also makes {count(len(self.found.offered), 'repair')}:"
            yield from (_line(one) for one in self.found.offered)
        for left in self.found.left:
            yield f"  {visible(str(left.place))}: left: {visible(left.why)} [{left.code}]"
        yield ""


def fix(
    context: Context,
    files: Files,
    codes: Collection[str],
    *,
    write: bool,
    unsafe: bool,
) -> Fixed:
    """Find the repairs, the safe ones or all, and write them unless told otherwise.

    Raises:
        InputError: A file changed meanwhile.
        StoreError: A file can't be written.
    """
    parts = tuple(readings for readings, _ in files)
    found = repairs.repaired(parts, context, codes, unsafe=unsafe)
    contents = _contents(found.repairs)
    if write:
        for file, (before, after) in contents.items():
            _replace(file, before, after)
    return Fixed(found, contents, written=write and bool(contents))


def offered(context: Context, files: Files, codes: Collection[str]) -> tuple[Repair, ...]:
    """Return the repairs that could be made, the safe ones and the others; nothing is written."""
    found = repairs.repaired(tuple(readings for readings, _ in files), context, codes)
    return (*found.repairs, *found.offered)


def write_down(found: Sequence[Diagnostic]) -> tuple[int, int]:
    """Write a comment above each line with findings, which leaves these out from now on.

    Return how many findings that are, and in how many files.

    Raises:
        InputError: A file changed meanwhile.
        StoreError: A file can't be written.
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
            lines.insert(number - 1, ignoring.comment(named).encode())
        _replace(file, before, b"\n".join(lines))
    return sum(one.spot.line is not None for one in found), len(codes)


def check_files(texts: Sequence[str], option: str) -> None:
    """Check that what an option writes is files.

    Raises:
        InputError: An argument is no file or folder of rules.
    """
    if len(arguments.files_of(texts)) < len(texts):
        raise InputError(
            f"{option} writes files of audit rules, and something else is named",
            hint=f"name files or folders, or leave {option} out",
        )


def _repair(one: Repair) -> dict[str, Any]:
    return {
        "file": one.place.file,
        "line": one.place.line,
        "code": one.code,
        "before": one.before,
        "after": one.after,
        "what": one.what,
        "safe": one.safe,
    }


def _line(one: Repair, more: str = "") -> str:
    return f"  {visible(str(one.place))}: {visible(one.what)} [{one.code}]{more}"


def _proof(result: Result | None) -> str:
    if result is not None and result.equal:
        return "Proved: of all lines that load today, the same is recorded as before."
    why = "" if result is None or not result.reason else f": {visible(result.reason)}"
    return f"Not proved that what loads today records the same{why}."


def _contents(found: Sequence[Repair]) -> dict[str, tuple[bytes, bytes]]:
    """Return the content of each file with a repair, before and after.

    Raises:
        InputError: A file is not what it was when its lines were read.
    """
    contents = {}
    for file in dict.fromkeys(one.place.file for one in found):
        before = content(Path(file), "the file", LARGEST_FILE)
        lines: list[bytes | None] = list(before.split(b"\n"))
        for one in found:
            if one.place.file != file:
                continue
            at = one.place.line - 1
            if at >= len(lines) or lines[at] != one.before.encode(errors="surrogateescape"):
                raise InputError(
                    "the line is not what it was a moment ago",
                    place=Place(file, one.place.line),
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
            "the file changed meanwhile", place=Place(file), hint="run it again"
        ) from error


def _diff(file: str, before: bytes, after: bytes) -> Iterator[str]:
    """Yield the difference of two contents as `diff -u` shows it."""
    old, new = (
        [visible(line) for line in data.decode(errors="surrogateescape").split("\n")]
        for data in (before, after)
    )
    name = visible(file)
    yield from difflib.unified_diff(old, new, name, name, lineterm="", n=1)
