"""The tree in which kernels of one source are compiled: always at one path, patched or not.

The source's path is in every command line of a build. So that a patched kernel reuses the objects
of the unpatched one, and only what the patches affect is compiled again, both are compiled in this
tree: links to the source's files, except those that differ. The source itself is never written to.
"""

from __future__ import annotations

import contextlib
import filecmp
import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from hardcost.errors import MachineError
from hardcost.files import own_text, put_own
from hardcost.supply.cache import folders
from hardcost.supply.kernels.patch_overlay import Overlay, PatchedFile

_SOURCE_ITSELF = "source"
_SHOWN = 300  # characters of an error that may name every file


class Tree:
    """A source with an overlay, in the folder `place`, whose lock the caller holds."""

    def __init__(self, place: Path, source: Path) -> None:
        self.folder = place / "tree"
        self._source = source
        self._state = place / "tree.state"  # the current overlay; absent while it is changed
        self._touched = place / "tree.touched"  # every file that may differ from the source's

    def make(self) -> bool:
        """Create the tree unless it exists and matches its source; say whether it was created.

        The caller has checked the source.

        Raises:
            MachineError: It can't be created, for example on a full disk.
        """
        if self._is_of_source():
            return False
        folders.delete(self.folder)
        fresh = self.folder.with_suffix(".new")
        folders.delete(fresh)
        self._state.unlink(missing_ok=True)
        lay_out(self._source, fresh, link)
        self._note_touched(())
        fresh.rename(self.folder)
        put_own(self._state, _SOURCE_ITSELF.encode())
        return True

    def set(self, overlay: Overlay) -> None:
        """Turn it into the source with `overlay`; changed files become newer than objects.

        A restored file is a copy: a link would have the age of the source's file, and make would
        treat objects of the other version as up to date.
        """
        wanted = overlay.digest or _SOURCE_ITSELF
        self._state.unlink(missing_ok=True)
        names = {*self._read_touched(), *overlay.files}
        self._note_touched(names)
        for name in sorted(names):
            here = name in overlay.files
            self._put(name, overlay.files[name] if here else PatchedFile.at(self._source / name))
        self._note_touched(overlay.files)
        put_own(self._state, wanted.encode())

    def _note_touched(self, names: Iterable[str]) -> None:
        put_own(self._touched, "\n".join(sorted(names)).encode())

    def _read_touched(self) -> frozenset[str]:
        """Return the files that may differ."""
        names = frozenset(own_text(self._touched).split())
        if any(name.startswith("/") or ".." in name.split("/") for name in names):
            raise ValueError("a file outside the tree")
        return names

    def _is_of_source(self) -> bool:
        """Say whether all of the tree is its source's, except what `set` corrects."""
        if self.folder.is_symlink():
            return False
        try:
            touched = self._read_touched()
            there, wanted = (_links(folder) for folder in (self.folder, self._source))
        except (OSError, ValueError):
            return False
        return all(
            name in touched
            or there.get(name) == wanted.get(name)
            or _equal(self.folder / name, self._source / name)
            for name in there.keys() | wanted.keys()
        )

    def _put(self, name: str, wanted: PatchedFile | None) -> None:
        """Give a file its content, and leave it alone if it has that already."""
        path = self.folder / name
        if PatchedFile.at(path) == wanted:
            return
        if wanted is not None:
            wanted.write(path)
            return
        path.unlink()
        folder = path.parent
        while not (self._source / folder.relative_to(self.folder)).is_dir():
            with contextlib.suppress(OSError):
                folder.rmdir()
            folder = folder.parent


def _links(folder: Path) -> dict[str, tuple[int, int]]:
    """Return all files below a folder, each with the identity that hard links share."""
    found = {}
    for place, names, files in os.walk(folder):
        if ".git" in names:
            names.remove(".git")
        for name in files:
            path = f"{place}/{name}"
            status = os.lstat(path)
            found[os.path.relpath(path, folder)] = (status.st_dev, status.st_ino)
    return found


def _equal(one: Path, other: Path) -> bool:
    """Say whether two files are copies, if both exist."""
    if one.is_symlink() or other.is_symlink():
        return one.is_symlink() and other.is_symlink() and one.readlink() == other.readlink()
    return one.is_file() and other.is_file() and filecmp.cmp(one, other, shallow=False)


def lay_out(source: Path, target: Path, copy: Callable[[str, str], object]) -> None:
    """Copy a source file by file; git's own folder is left out.

    Raises:
        MachineError: It can't be copied, for example on a full disk.
    """
    try:
        left_out = shutil.ignore_patterns(".git")
        shutil.copytree(source, target, symlinks=True, copy_function=copy, ignore=left_out)
    except (OSError, shutil.Error) as error:
        shutil.rmtree(target, ignore_errors=True)
        raise MachineError(
            f"{source} can't be copied to {target.parent}: {str(error)[:_SHOWN]}",
            hint="free some space, if the disk is full",
        ) from None


def link(source: str, target: str) -> None:
    """Link a file if that is possible, else copy it."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)
