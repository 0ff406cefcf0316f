"""A location in a user's files: file, line, column."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

_WRITTEN = re.compile(
    r"(?P<file>.+?)(?::(?P<line>\d{1,9}))?(?::(?P<column>\d{1,9}))?", re.DOTALL | re.ASCII
)


@dataclass(frozen=True, order=True)
class Location:
    """A location in a file; lines and columns count from 1, None: the whole file or line."""

    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        """Return `file:line:column`, as compilers write it, as far as it is known."""
        known = (self.file, self.line, self.column)
        return ":".join(str(part) for part in known if part is not None)

    @classmethod
    def of(cls, text: str) -> Location:
        """Return the location that `text` stands for, as `str` wrote it.

        Numbers behind the last colons are the line and the column.
        """
        found = _WRITTEN.fullmatch(text)
        if found is None:
            return cls(text)
        line, column = (int(one) if one else None for one in found.group("line", "column"))
        known = cls(found["file"], line, column)
        return known if str(known) == text else cls(text)

    def at(self, column: int | None) -> Location:
        """Return a column of the line, None: the whole line."""
        return replace(self, column=column)

    def below(self, lines: int) -> Location:
        """Return the location so many lines further down."""
        return replace(self, line=(self.line or 0) + lines)
