"""`hardcost rules lint --fix`: the certain repairs, written into the files."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardcost.auditrules.parse import LARGEST_FILE
from hardcost.auditrules.repair import repairs
from hardcost.auditrules.wholefile import ChangedError
from hardcost.errors import InputError, Place
from hardcost.files import content, put
from hardcost.report.text import visible
from hardcost.units import count

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from hardcost.auditrules.lint.context import Context
    from hardcost.auditrules.repair.repairs import Parts, Repair, Repaired
    from hardcost.auditrules.rule import Fault, Reading

Files = list[tuple[tuple["Reading", ...], list["Fault"]]]
"""The lines of each file or folder that was named, and the faults of whole files."""

_INPUT = "-"


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
            "done": [
                {
                    "file": one.place.file,
                    "line": one.place.line,
                    "code": one.code,
                    "before": one.before,
                    "after": one.after,
                    "what": one.what,
                }
                for one in self.found.repairs
            ],
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
                yield f"  {visible(str(one.place))}: {visible(one.what)} [{one.code}]"
            yield "Proved: of all lines that load today, the same is recorded as before."
        elif result is not None:
            why = result.reason or "the prover finds a difference"
            yield f"Nothing is written: {visible(why)}."
        else:
            yield "There is nothing that is certain to repair."
        for left in self.found.left:
            yield f"  {visible(str(left.place))}: left: {visible(left.why)} [{left.code}]"
        yield ""


def fix(
    paths: Sequence[Path],
    context: Context,
    files: Files,
    codes: Collection[str],
    *,
    write: bool,
) -> Fixed:
    """Find the certain repairs, and write them unless told otherwise.

    Raises:
        InputError: A file is standard input, or changed meanwhile.
        StoreError: A file can't be written.
    """
    if any(str(path) == _INPUT for path in paths):
        raise InputError("--fix writes files, and standard input is none", hint="name a file")
    parts = tuple(readings for readings, _ in files)
    found = repairs.repaired(parts, context, codes)
    contents = _contents(found.repairs)
    if write:
        for file, (before, after) in contents.items():
            _replace(file, before, after)
    return Fixed(found, contents, written=write and bool(contents))


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
            "the file changed while it was repaired", place=Place(file), hint="run it again"
        ) from error


def _diff(file: str, before: bytes, after: bytes) -> Iterator[str]:
    """Yield the difference of two contents as `diff -u` shows it."""
    old, new = (
        [visible(line) for line in data.decode(errors="surrogateescape").split("\n")]
        for data in (before, after)
    )
    name = visible(file)
    yield from difflib.unified_diff(old, new, name, name, lineterm="", n=1)
