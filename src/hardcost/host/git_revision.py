"""Files as they are at a revision of the user's git repository, copied out of it.

Revisions and paths are hostile: none is taken for an option of git's, a link in the repository is
not followed, and nothing is written outside the folder of the copy. Git's filters are not run.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from hardcost.errors import InputError, MachineError
from hardcost.host import process
from hardcost.host.install_command import install

MOST_FILES = 1000
"""Files of a folder that are copied."""

LARGEST_FILE = 1 << 24
"""Bytes of a file; as of a file of rules."""

_MOST_BYTES = 1 << 26  # of a folder
_GIT = ("git", "--no-pager", "--literal-pathspecs")
_ALONE = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1"}
_LIMIT_SECONDS = 60.0
_FILES = frozenset({"100644", "100664", "100755"})
_READ_AS_RULES = (".rules", ".conf", ".toml")
_NOT_NAMES = frozenset({"", ".", "..", ".git"})


@dataclass(frozen=True)
class Revisions:
    """Two commits, as the user named them and in full; without `head`, the files as they are now.

    `top` is the folder of the work tree.
    """

    top: Path
    base: str
    base_commit: str
    head: str | None
    head_commit: str | None


@dataclass(frozen=True)
class TreeObject:
    """An object of a tree: its kind (`blob`, `tree`), and its size in bytes where it is a file."""

    mode: str
    kind: str
    object: str
    size: int
    name: str


def revisions(text: str, folder: Path) -> Revisions:
    """Return the commits that `A..B` names, `A...B` (from where they part) or `A` (until now).

    A missing side of the dots is HEAD, as in git. `folder` is any of the repository.

    Raises:
        InputError: It is no repository, or has no such commit.
        MachineError: Git is not installed.
    """
    if process.find_program("git") is None:
        raise MachineError("git is not installed", hint=install("git"))
    top = Path(_git_text(folder, "rev-parse", "--show-toplevel", what="--git").removesuffix("\n"))
    dots = "..." if "..." in text else ".."
    first, between, last = text.partition(dots)
    base = _commit(top, first or "HEAD" if between else first)
    if not between:
        return Revisions(top, first, base, None, None)
    head = _commit(top, last or "HEAD")
    if dots == "...":
        found = _git_text(top, "merge-base", base, head, what=f"--git: '{text}'")
        return Revisions(top, f"{first}...", found.strip(), last or "HEAD", head)
    return Revisions(top, first or "HEAD", base, last or "HEAD", head)


def name_in(top: Path, path: Path) -> str:
    """Return the name that a path has in the repository whose work tree is `top`.

    Raises:
        InputError: It lies outside.
    """
    absolute = Path(os.path.normpath(Path.cwd() / path))
    real = absolute.parent.resolve() / absolute.name
    if not real.is_relative_to(top.resolve()):
        raise InputError(f"--git: {path} is not in the repository {top}")
    return real.relative_to(top.resolve()).as_posix()


def has_path(top: Path, commit: str, name: str) -> bool:
    """Say whether something lies at a name in a commit."""
    return name == "." or bool(_list_tree(top, "--full-tree", commit, "--", name))


def copy_from_commit(top: Path, commit: str, name: str, into: Path) -> Path:
    """Copy what lies at a name in a commit into an empty folder, and return where it is.

    Of a TOML file the folder is copied too, since it may name files beside it.

    Raises:
        InputError: There is nothing of that name, or it is a link, or too much.
    """
    entry = _entry(top, commit, name)
    if entry.kind == "blob" and not name.endswith(".toml"):
        return _write(top, entry, into, Path(name).name)
    folder = entry if entry.kind == "tree" else _entry(top, commit, str(Path(name).parent))
    listed = _list_tree(top, "-r", folder.object)
    if len(listed) > MOST_FILES or sum(one.size for one in listed) > _MOST_BYTES:
        raise InputError(
            f"--git: the folder of {name} has more than {MOST_FILES} files or"
            f" {_MOST_BYTES >> 20} MiB at {commit[:12]}",
            hint="name the file or folder of rules itself",
        )
    own = Path(name) if entry.kind == "tree" else Path(name).parent
    place = into / (own.name or "top")
    place.mkdir()
    for one in listed:
        _write(top, one, place, one.name)
    return place if entry.kind == "tree" else place / Path(name).name


def _write(top: Path, entry: TreeObject, into: Path, name: str) -> Path:
    """Write a file's content below a folder."""
    place = into / name
    if entry.mode not in _FILES:
        if name.endswith(_READ_AS_RULES):
            raise InputError(
                f"--git: {entry.name} is a symbolic link or a submodule, which is not followed"
            )
        return place
    if entry.size > LARGEST_FILE:
        raise InputError(f"--git: {entry.name} is larger than {LARGEST_FILE >> 20} MiB")
    if _NOT_NAMES & set(name.split("/")):
        raise InputError(f"--git: {entry.name!r} is no name of a file")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(
        _git_output(top, "cat-file", "blob", entry.object, what=f"--git: {entry.name}")
    )
    return place


def _entry(top: Path, commit: str, name: str) -> TreeObject:
    """Return the entry at a name in a commit."""
    if name == ".":
        tree = _git_text(top, "rev-parse", "--verify", f"{commit}^{{tree}}", what="--git").strip()
        return TreeObject("040000", "tree", tree, 0, ".")
    found = _list_tree(top, "--full-tree", commit, "--", name)
    if len(found) != 1 or found[0].kind == "commit":
        raise InputError(f"--git: there is no {name} at {commit[:12]}")
    return found[0]


def _list_tree(top: Path, *words: str) -> list[TreeObject]:
    data = _git_output(top, "ls-tree", "-z", "-l", *words, what="--git")
    entries = []
    for line in filter(None, data.split(b"\0")):
        facts, _, name = line.partition(b"\t")
        mode, kind, digest, size = facts.decode().split()
        if size != "-" and not size.isdecimal():  # `BAD`
            raise InputError(
                f"--git: the repository {top} lacks the content of {os.fsdecode(name)}",
                hint="`git fsck` shows what it lacks, `git fetch` may bring it",
            )
        entries.append(
            TreeObject(mode, kind, digest, 0 if size == "-" else int(size), os.fsdecode(name))
        )
    return entries


def _commit(top: Path, revision: str) -> str:
    """Return a commit's full name."""
    what = f"--git: '{revision}' names no commit"
    if not revision or revision.startswith("-") or not revision.isprintable():
        raise InputError(what, hint="such as --git main..HEAD")
    words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    found = _git_text(top, *words, what=what).strip()
    if not found.isalnum():
        raise InputError(what)
    return found


def _git_text(folder: Path, *words: str, what: str) -> str:
    return os.fsdecode(_git_output(folder, *words, what=what))


def _git_output(folder: Path, *words: str, what: str) -> bytes:
    """Return git's output."""
    try:
        return process.output(
            (*_GIT, *words), folder=folder, limit_seconds=_LIMIT_SECONDS, environment=_ALONE
        )
    except MachineError as error:
        said = str(error).partition("\n")[2].strip()
        raise InputError(f"{what}: git: {said}" if said else what) from error
