"""Patches to a kernel's source: found, read and checked before they are used.

A patch is a unified diff, as `git format-patch` or `diff -u` write it, with any text around it.
Only the parts that this reader accepts as a diff reach the program that applies it, with the names
that were checked here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from auditrules.library import files
from auditrules.model.location import Location
from hardcost.errors import InputError, Problem
from hardcost.supply.kernels import host_programs

_SERIES = Path(str(resources.files("hardcost.supply.kernels"))) / "series"
_SUFFIXES = (".patch", ".diff")
_RELEASE = re.compile(r"\d+\.\d+")
_COVER_LETTER = "0000-"  # as `git format-patch` names it
_LARGEST = 16 << 20  # bytes of a patch
_NAME = re.compile(r"[\w./+,@%=~-]+", re.ASCII)
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_STAMPED = re.compile(r"(?P<name>[^\t]*?)(?P<stamp>\t[\x20-\x7e]*)?\s*")
_MODE = re.compile(r"(?:old mode|new mode|new file mode|deleted file mode) (?P<mode>\d+)")
_INDEX = re.compile(r"index [0-9a-f]+\.\.[0-9a-f]+(?: (?P<mode>\d+))?")
_MOVED = re.compile(r"(?P<what>rename|copy) (?P<end>from|to) (?P<name>.+)")
_ALIKE = re.compile(r"(?:dis)?similarity index \d+%")
_ORDINARY = ("100644", "100755")
_NOWHERE = "/dev/null"
_NO_NEWLINE = "\\"
_HINT = "a patch is a unified diff, as git format-patch or diff -u write it"


@dataclass(frozen=True)
class FileChange:
    """A patch's change to one file: the diff's own lines, and the line of each hunk in the patch.

    `names` are the files concerned, relative to the source; two if the file is renamed or copied.
    """

    names: tuple[str, ...]
    text: str
    line: int
    hunks: tuple[int, ...] = ()


@dataclass(frozen=True)
class Patch:
    """A patch that was read: its name for a reader, its location, and its changes."""

    name: str
    file: str
    changes: tuple[FileChange, ...]

    @property
    def text(self) -> str:
        """Return the diff without the text around it."""
        return "".join(change.text for change in self.changes)

    @property
    def is_ours(self) -> bool:
        """Whether it comes with hardcost."""
        return Path(self.file).is_relative_to(_SERIES)

    @property
    def run(self) -> tuple[str, ...]:
        """The changed files that run on the host during a build."""
        names = dict.fromkeys(name for change in self.changes for name in change.names)
        return tuple(name for name in names if host_programs.runs(name))


def series() -> tuple[str, ...]:
    """Return the names of the series of patches that come with hardcost."""
    return tuple(sorted(one.name for one in _SERIES.iterdir() if one.is_dir()))


def read(words: Sequence[str], version: str = "") -> tuple[Patch, ...]:
    """Return the patches that `words` name, in order of application.

    A word is the name of a series that comes with hardcost, a file, or a folder. From a folder, the
    files *.patch and *.diff are used in the order of their names, without cover letters (0000-*)
    and files without a diff. A series has a folder for each release of Linux from which its patches
    are others; `version` is the source's, such as 7.3.4.

    Raises:
        InputError: One does not exist, can't be read, or is not an acceptable patch.
    """
    return tuple(patch for word in words for patch in _patches_named(word, version))


def patch_names(words: Sequence[str]) -> str:
    """Return the names of patches for a reader: of series, files and folders."""
    return ", ".join(Path(word).name or word for word in words)


def _patches_named(word: str, version: str) -> Iterator[Patch]:
    path = of_release(_SERIES / word, version) if word in series() else Path(word)
    try:
        if path.is_dir():
            yield from _of_folder(path, word)
        elif path.exists():
            patch = _parse_file(path, path.name)
            if patch is None:
                raise InputError("there is no diff in it", place=Location(str(path)), hint=_HINT)
            yield patch
        else:
            known = ", ".join(series()) or "none"
            raise InputError(
                f"there is no patch {word}",
                hint=f"name a file, a folder of patches, or a series of hardcost's own: {known}",
            )
    except (OSError, ValueError) as error:
        raise InputError(f"the patch {word!r} can't be read: {error}") from None


def of_release(folder: Path, version: str) -> Path:
    """Return the folder of patches for a version of Linux.

    `folder` has a folder for each release from which patches are others. It is the newest one up to
    the version, else the oldest.
    """
    releases = sorted(
        (one for one in folder.iterdir() if _RELEASE.fullmatch(one.name)),
        key=lambda one: _numbers(one.name),
    )
    reached = [one for one in releases if _numbers(one.name) <= _numbers(version)]
    return reached[-1] if reached else releases[0]


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


def _of_folder(folder: Path, word: str) -> Iterator[Patch]:
    """Yield the patches of a folder; it is an error if there are none."""
    named = sorted(
        file
        for file in folder.iterdir()
        if file.suffix in _SUFFIXES and not file.name.startswith(_COVER_LETTER) and file.is_file()
    )
    found = [_parse_file(file, f"{Path(word).name or word}/{file.name}") for file in named]
    if not any(found):
        raise InputError(
            f"there is no patch in the folder {folder}",
            hint=f"only files named {' or '.join('*' + one for one in _SUFFIXES)} are used",
        )
    yield from filter(None, found)


def _parse_file(path: Path, name: str) -> Patch | None:
    """Return a file's patch; None if it holds no diff."""
    content = files.content(path, "the patch", _LARGEST, _HINT)
    changes = tuple(_Reader(str(path), content.decode("utf-8", "surrogateescape")).changes())
    return Patch(name, str(path), changes) if changes else None


class _Reader:
    """Reads a patch line by line; anything that is not a diff is skipped as text."""

    def __init__(self, file: str, text: str) -> None:
        self._file = file
        self._lines = (text if text.endswith("\n") else text + "\n").split("\n")
        self._at = 0

    def changes(self) -> Iterator[FileChange]:
        """Yield the change to each file, in order."""
        while self._at < len(self._lines):
            if self._line().startswith("diff --git "):
                change = self._git()
            elif self._begins_plain():
                change = self._plain()
            elif self._line().startswith("*** ") and self._line(2) == "*" * 15:
                raise self._error("this is a context diff")
            else:
                self._at += 1
                continue
            if change is not None:
                yield change

    def _line(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._lines[at] if at < len(self._lines) else ""

    def _begins_plain(self) -> bool:
        return (
            self._line().startswith("--- ")
            and self._line(1).startswith("+++ ")
            and self._line(2).startswith("@@ ")
        )

    def _git(self) -> FileChange | None:
        """Read what `diff --git` begins; None if no part of a diff follows."""
        begun, names = self._at, self._line().split(" ")[2:]
        if len(names) != 2:  # noqa: PLR2004  (the file's name before and after)
            raise self._error("the names of the files are ambiguous")
        moved: dict[str, str] = {}
        self._at += 1
        while self._take_git_line(moved):
            self._at += 1
        extended = self._lines[begun + 1 : self._at]
        old, new = (self._without_first_folder(name, begun) for name in names)
        if moved and (moved.get("from"), moved.get("to")) != (old, new):
            raise self._error("the renaming contradicts `diff --git`", begun)
        if old != new and not moved:
            raise self._error(f"{old} and {new} are two files", begun)
        head = [f"diff --git a/{old} b/{new}", *extended]
        if self._begins_plain():
            plain = self._plain(dict.fromkeys((old, new)))
            return FileChange(plain.names, _join_lines(head) + plain.text, begun + 1, plain.hunks)
        if all(line.startswith("index ") for line in extended):
            return None
        return FileChange(tuple(dict.fromkeys((old, new))), _join_lines(head), begun + 1)

    def _take_git_line(self, moved: dict[str, str]) -> bool:
        """Process one of git's lines on a file; say whether it was one."""
        line = self._line()
        if line.startswith(("GIT binary patch", "Binary files ")):
            raise self._error("this is a change to a binary file")
        if mode := _MODE.fullmatch(line) or _INDEX.fullmatch(line):
            if mode["mode"] not in {*_ORDINARY, None}:
                raise self._error(f"mode {mode['mode']} is not that of an ordinary file")
            return True
        if found := _MOVED.fullmatch(line):
            moved[found["end"]] = self._check_name(found["name"], self._at)
            return True
        return _ALIKE.fullmatch(line) is not None

    def _plain(self, known: dict[str, None] | None = None) -> FileChange:
        """Read `---`, `+++` and the hunks; `known` are the files that git's own lines name."""
        begun = self._at
        (old, before), (new, after) = (self._name_and_stamp(ahead) for ahead in (0, 1))
        named = [
            self._without_first_folder(name, begun + ahead)
            for ahead, name in enumerate((old, new))
            if name != _NOWHERE
        ]
        if not named:
            raise self._error("no file is named")
        if known is not None and not set(named) <= set(known):
            raise self._error(f"{named[0]} is not the file that `diff --git` names")
        if known is None and len(set(named)) > 1:
            raise self._error(f"{named[0]} and {named[1]} are two files")
        self._at += 2
        hunks = []
        while _HUNK.match(self._line()):
            hunks.append(self._at + 1)
            self._hunk()
        if not hunks:
            raise self._error("this is not a hunk of a unified diff")
        head = [
            f"--- {old if old == _NOWHERE else 'a/' + named[0]}{before}",
            f"+++ {new if new == _NOWHERE else 'b/' + named[-1]}{after}",
        ]
        body = self._lines[begun + 2 : self._at]
        names = tuple(known or dict.fromkeys(named))
        return FileChange(names, _join_lines([*head, *body]), begun + 1, tuple(hunks))

    def _name_and_stamp(self, ahead: int) -> tuple[str, str]:
        """Return the name that a line gives, and the timestamp after it."""
        found = _STAMPED.fullmatch(self._line(ahead)[4:])
        if found is None:
            raise self._error("this names no file", self._at + ahead)
        return found["name"], found["stamp"] or ""

    def _hunk(self) -> None:
        """Skip a hunk, which must have as many lines as its header says."""
        begun = self._at
        head = _HUNK.match(self._line())
        old, new = (int(count or 1) for count in (head[2], head[4])) if head else (0, 0)
        self._at += 1
        while old > 0 or new > 0:
            kind = self._line()[:1] if self._at < len(self._lines) - 1 else "end"
            if kind not in {"", " ", "-", "+", _NO_NEWLINE}:
                raise self._error("the hunk has fewer lines than its header says", begun)
            old -= kind in {"", " ", "-"}
            new -= kind in {"", " ", "+"}
            self._at += 1
        if old or new:
            raise self._error("the hunk has other lines than its header says", begun)
        if self._line().startswith(_NO_NEWLINE):
            self._at += 1
        if self._line()[:1] in {"+", " ", "-"} and not self._ends():
            raise self._error("the hunk has more lines than its header says", begun)

    def _ends(self) -> bool:
        """Say whether this line follows the diff: a mail's signature, or another file."""
        return self._line().rstrip() == "--" or self._begins_plain()

    def _without_first_folder(self, name: str, at: int) -> str:
        """Return a name without its first folder (a/, b/), if it stays within the source."""
        first, _, rest = self._check_name(name, at).partition("/")
        if not rest or not first:
            raise self._error(f"{name!r} has no leading folder, such as a/ or b/", at)
        return rest

    def _check_name(self, name: str, at: int) -> str:
        """Return a name that stays within the source."""
        if not _NAME.fullmatch(name):
            raise self._error(f"{name!r} is not a valid name in a kernel's source", at)
        if {"", ".", ".."} & set(name.split("/")):
            raise self._error(f"{name!r} leaves the kernel's source", at)
        return name

    def _error(self, message: str, at: int | None = None) -> InputError:
        line = (self._at if at is None else at) + 1
        return InputError.of((Problem(message, Location(self._file, line), _HINT),))


def _join_lines(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
