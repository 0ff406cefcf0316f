"""The effect of patches on a kernel's source: the files that differ, computed separately."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from auditrules.model.location import Location
from hardcost.errors import InputError, MachineError, Problem
from hardcost.host import compiler
from hardcost.host.process import run
from hardcost.supply.cache.cache import digest
from hardcost.supply.kernels.patches import Patch

# Exact context, no fuzz, and no extra files: a hunk that does not fit is an error.
_APPLY = (
    *("patch", "--strip=1", "--unified", "--fuzz=0", "--force", "--binary", "--get=0"),
    *("--no-backup-if-mismatch", "--reject-file=-"),
)
_PATCHING = re.compile(r"(?:patching|checking) (?:file|symbolic link) (\S+)")
_FAILED = re.compile(r"Hunk #(\d+) FAILED")
_MOST_PROBLEMS = 20  # a patch for another source fits nowhere
_SHOWN_LINES = 3  # of the program's own messages, if they are not about a hunk
# make follows the contents of these files, wherever they are; other files may matter otherwise.
_FOLLOWED = (".c", ".h", ".S", ".rst", ".txt")
_FOLLOWED_NAMES = ("Makefile", "Kbuild", "MAINTAINERS")
_HEADER = ".h"


@dataclass(frozen=True)
class PatchedFile:
    """A file's content, and whether it is executable."""

    content: bytes
    runs: bool = False

    @classmethod
    def at(cls, path: Path) -> PatchedFile | None:
        """Return the file at a path; None if there is none."""
        if not path.is_file():
            return None
        return cls(path.read_bytes(), os.access(path, os.X_OK))

    def write(self, path: Path) -> None:
        """Write the file in one step, replacing any other."""
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f".{path.name}.{os.getpid()}")
        fresh.write_bytes(self.content)
        fresh.chmod(0o755 if self.runs else 0o644)
        fresh.rename(path)


@dataclass(frozen=True)
class Overlay:
    """The files that differ from a source: their content by name; None: the file is removed.

    `added` are those that the source does not have.
    """

    files: Mapping[str, PatchedFile | None] = field(default_factory=dict)
    added: frozenset[str] = frozenset()

    @cached_property
    def digest(self) -> str:
        """The hash of all its changes, "" if there are none."""
        if not self.files:
            return ""
        return digest({name: _hash_text(file) for name, file in self.files.items()})

    def is_plain(self, source: Path) -> bool:
        """Say whether make finds out by itself what to compile again.

        It can't if the overlay changes the configuration or the build rules, or adds a header that
        takes precedence over another in files compiled before.
        """
        if not all(map(_is_followed, self.files)):
            return False
        headers = {Path(name).name for name in self.added if name.endswith(_HEADER)}
        return not headers or headers.isdisjoint(
            name for _, _, names in os.walk(source) for name in names
        )


NOTHING = Overlay()
"""An overlay without changes."""


def overlay_of(patches: Sequence[Patch], source: Path) -> Overlay:
    """Return the effect of `patches`, one after another, on the source in a folder.

    Raises:
        InputError: One does not apply, or is about something that is not a file of the source.
        MachineError: The program `patch` is missing.
    """
    if not patches:
        return NOTHING
    compiler.need_patch()
    with tempfile.TemporaryDirectory(prefix="hardcost-patch-") as folder:
        work = Path(folder) / "source"
        work.mkdir()
        touched: dict[str, None] = {}
        for patch in patches:
            _check(patch, source)
            for name in (name for change in patch.changes for name in change.names):
                if name not in touched and (source / name).is_file():
                    (work / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(source / name, work / name)
                touched[name] = None
            _apply(patch, work, Path(folder) / "diff")
        return _overlay(touched, work, source)


def _overlay(touched: Iterable[str], work: Path, source: Path) -> Overlay:
    """Return the result for the touched files, as far as they differ."""
    files = {name: PatchedFile.at(work / name) for name in sorted(touched)}
    before = {name: PatchedFile.at(source / name) for name in files}
    changed = {name: file for name, file in files.items() if file != before[name]}
    return Overlay(changed, frozenset(name for name in changed if before[name] is None))


def _check(patch: Patch, source: Path) -> None:
    """Check that a patch is about files of the source, none of them reached by a link."""
    for change in patch.changes:
        for name in change.names:
            *folders, path = (source / part for part in _beginnings(name))
            link = next((one for one in (*folders, path) if one.is_symlink()), None)
            if link is not None:
                raise _patch_error(
                    patch, change.line, f"{link.relative_to(source)} is a symbolic link"
                )
            if path.is_dir() or any(one.is_file() for one in folders):
                raise _patch_error(patch, change.line, f"{name} can't be a file of this source")


def _beginnings(name: str) -> list[str]:
    """Return the folders of a file, from the outermost, and the file."""
    parts = name.split("/")
    return ["/".join(parts[:n]) for n in range(1, len(parts) + 1)]


def _patch_error(patch: Patch, line: int, message: str) -> InputError:
    return InputError(f"{patch.name} can't be applied: {message}", place=Location(patch.file, line))


def _apply(patch: Patch, work: Path, diff: Path) -> None:
    """Apply a patch to the files in `work`."""
    diff.write_bytes(patch.text.encode("utf-8", "surrogateescape"))
    try:
        run([*_APPLY, f"--directory={work}", f"--input={diff}"])
    except MachineError as error:
        raise InputError.of(tuple(_problems(patch, str(error)))) from None


def _problems(patch: Patch, output: str) -> Iterable[Problem]:
    """Return the hunks that do not fit, by the output of the program `patch`."""
    hint = "patches must be made for this source, and are applied in the order of their names"
    hunks: list[Problem] = []
    name, places = "", dict[str, tuple[int, ...]]()
    for change in patch.changes:
        for touched in change.names:
            places[touched] = (*places.get(touched, ()), *change.hunks)
    for line in output.splitlines():
        if file := _PATCHING.match(line):
            name = file[1]
        elif failed := _FAILED.match(line):
            number, known = int(failed[1]), places.get(name, ())
            place = Location(patch.file, known[number - 1] if number <= len(known) else None)
            message = f"{patch.name} does not apply: {name}, hunk {number} does not fit"
            hunks.append(Problem(message, place, hint))
    words = output.partition("\n")[2].split("\n")[:_SHOWN_LINES]
    message = f"{patch.name} does not apply: {' '.join(words)}"
    return hunks[:_MOST_PROBLEMS] or [Problem(message, Location(patch.file), hint)]


def _is_followed(name: str) -> bool:
    """Say whether make itself sees how a change of this file affects earlier objects."""
    path = Path(name)
    first, last = path.parts[0], path.name
    if last.startswith("Kconfig") or first in {"scripts", "tools"}:
        return False
    if last in _FOLLOWED_NAMES:
        of_architecture = first == "arch" and len(path.parts) == 3  # noqa: PLR2004  (arch/x86/…)
        return last == "MAINTAINERS" or (len(path.parts) > 1 and not of_architecture)
    return path.suffix in _FOLLOWED


def _hash_text(file: PatchedFile | None) -> str:
    """Return the text that represents a file in a hash."""
    if file is None:
        return "gone"
    return f"{'program' if file.runs else 'file'} {hashlib.sha256(file.content).hexdigest()}"
