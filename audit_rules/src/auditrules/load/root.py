"""A machine's file system below a folder, which look-ups never leave."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

_MOST_LINKS = 40
"""Links that the kernel follows for one path (MAXSYMLINKS)."""


@dataclass(frozen=True)
class Root:
    """The folder that represents `/`."""

    folder: Path

    def mode(self, path: str) -> int | None:
        """Return the mode of the file at an absolute path; None if there is none.

        Links are followed as the machine itself would: an absolute one begins at the folder, and
        `..` does not lead out of it.

        Raises:
            PermissionError: A folder on the way is not accessible.
        """
        here: list[str] = []
        ahead = _steps(path)
        links = 0
        mode = os.lstat(self.folder).st_mode
        while ahead:
            step = ahead.pop()
            if step == "..":
                here = here[:-1]
                continue
            try:
                mode = os.lstat(self._real([*here, step])).st_mode
                leads_to = os.readlink(self._real([*here, step])) if stat.S_ISLNK(mode) else None  # noqa: PTH115 (a Path would lose what the link says)
            except PermissionError:
                raise
            except (OSError, ValueError):  # there is nothing, or nothing can have such a name
                return None
            if leads_to is None:
                here.append(step)
                continue
            links += 1
            if links > _MOST_LINKS:
                return None
            here = [] if leads_to.startswith("/") else here
            ahead.extend(_steps(leads_to))
        return os.lstat(self._real(here)).st_mode

    def is_directory(self, path: str) -> bool | None:
        """Say whether a directory lies at an absolute path.

        None if it does not exist or is not accessible, since what will be created is unknown.
        """
        try:
            mode = self.mode(path)
        except PermissionError:
            return None
        return None if mode is None else stat.S_ISDIR(mode)

    def lacks(self, path: str) -> bool:
        """Say whether an absolute path does not exist; False if it is not accessible."""
        try:
            return self.mode(path) is None
        except PermissionError:
            return False

    def is_other(self, path: str) -> bool:
        """Say whether an absolute path exists but is not a directory."""
        try:
            mode = self.mode(path)
        except PermissionError:
            return False
        return mode is not None and not stat.S_ISDIR(mode)

    def _real(self, steps: list[str]) -> str:
        return "/".join([str(self.folder), *steps])


def _steps(path: str) -> list[str]:
    """Return the names along a path, the last first."""
    return [step for step in reversed(path.split("/")) if step not in {"", "."}]
