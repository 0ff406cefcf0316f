"""The machine that rules are for, as files describe it."""

from __future__ import annotations

from pathlib import Path

from auditrules.library import files
from auditrules.load.known_paths import KnownPaths, read_list
from auditrules.load.root import Root
from auditrules.load.target import RuleTarget
from auditrules.model.errors import InputError
from auditrules.model.kernel_rule import UNSET
from auditrules.model.location import Location

_PASSWD_FIELDS = 3  # that have to be there: name, password and number


def rule_target(
    *,
    root: Path | None = None,
    paths: Path | None = None,
    passwd: Path | None = None,
    group: Path | None = None,
) -> RuleTarget:
    """Return the machine that files describe.

    `root` is a folder with its file system, and `paths` a list of its paths. `passwd` and `group`
    are files like those in /etc.

    Raises:
        InputError: A file can't be read, or is not what it should be.
    """
    users, groups = _ids(passwd, "user"), _ids(group, "group")
    return RuleTarget(users, groups, _known_paths(root, paths))


def _known_paths(root: Path | None, paths_list: Path | None) -> KnownPaths:
    is_directory: dict[str, bool] = {}
    if paths_list is not None:
        is_directory = read_list(files.content(paths_list, "the list"), str(paths_list))
    return KnownPaths(is_directory, None if root is None else Root(root))


def _ids(file: Path | None, what: str) -> dict[str, int]:
    """Return the numbers of the names in a file such as /etc/passwd."""
    ids = {"root": 0}
    if file is None:
        return ids
    text = files.content(file, "the list").decode(errors="replace")
    for number, line in enumerate(text.splitlines(), 1):
        parts = line.split(":")
        if not line.strip() or line.startswith("#"):
            continue
        if len(parts) < _PASSWD_FIELDS or not _is_id(parts[2]):
            raise InputError(
                f"the line does not name a {what} with its number",
                place=Location(str(file), number),
                hint=f"it should look like a line of /etc/{'passwd' if what == 'user' else what}",
            )
        ids[parts[0]] = int(parts[2])
    return ids


def _is_id(text: str) -> bool:
    """Say whether a text is a user's or group's number: 32 bits, the last of which means none."""
    return text.isascii() and text.isdecimal() and int(text[:11]) < UNSET
