"""The diagnostics of a set of rules, and the repairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from auditrules.lint.context import Context
from auditrules.lint.diagnostic import Diagnostic
from auditrules.model.fault import Fault
from auditrules.model.rule import Reading
from auditrules.repair.repairs import FileParts, Repaired

LintedFiles = list[tuple[tuple[Reading, ...], list[Fault]]]
"""The lines of each file or folder that was named, and the faults of whole files."""


@dataclass(frozen=True)
class Fixed:
    """The repairs, each file's content before and after, and the lines left."""

    found: Repaired
    contents: Mapping[str, tuple[bytes, bytes]]
    written: bool

    @property
    def parts(self) -> FileParts:
        """All lines with the repairs made."""
        return self.found.parts


@dataclass(frozen=True)
class Linted:
    """The diagnostics, the number that comments left out, and the number written down now."""

    context: Context
    found: tuple[Diagnostic, ...]
    ignored: int
    files: LintedFiles
    fixed: Fixed | None = None
    written_down: tuple[int, int] | None = None
