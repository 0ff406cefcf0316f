"""Which paths of a machine are directories, according to a list or a folder.

A list has one path per line; a path that ends in / is a directory, any other is not. `ls -dLp
PATH…` prints such a list (-L, since auditctl follows links). Blank lines and lines that begin with
# are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from auditrules.auditctl.translate import Target
from auditrules.load.root import Root
from auditrules.model.fault import Fault, RulesError
from auditrules.model.location import Location
from auditrules.model.rule import plain_path


@dataclass(frozen=True)
class KnownPaths:
    """The known paths of a machine; the list takes precedence over the folder."""

    listed: Mapping[str, bool] = field(default_factory=dict)
    root: Root | None = None

    def is_directory(self, path: str) -> bool | None:
        """Say whether a directory lies at an absolute path; None where that is not known."""
        known = self.listed.get(plain_path(path))
        if known is None and self.root is not None:
            known = self.root.is_directory(path)
        return known


def target_of(root: Root) -> Target:
    """Return auditctl's knowledge on a machine as it is: a missing path is no directory."""
    return Target(is_directory=lambda path: bool(root.is_directory(path)))


def read_list(data: bytes, file: str) -> dict[str, bool]:
    """Return which paths of a list are directories.

    Raises:
        RulesError: A line is not an absolute path, or two lines contradict each other.
    """
    found: dict[str, bool] = {}
    faults: list[Fault] = []
    for number, line in enumerate(data.decode(errors="surrogateescape").splitlines(), 1):
        text = line.strip(" ")
        if not text or text.startswith("#"):
            continue
        directory, place = text.endswith("/"), Location(file, number)
        if not text.startswith("/"):
            remedy = "write absolute paths, one a line, and a / at the end of each directory"
            faults.append(Fault("the line is not an absolute path", place, remedy))
        elif found.setdefault(plain_path(text), directory) is not directory:
            faults.append(Fault(f"{text} is listed twice, once as a directory", place))
    if faults:
        raise RulesError(tuple(faults))
    return found
