"""A format in which findings are printed or written, as the format's file defines it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from hardcost.kind_files import import_kinds

Exportable = TypeVar("Exportable")


def _nothing_needed() -> None:
    """Need nothing."""


@dataclass(frozen=True)
class Export(Generic[Exportable]):
    """A format: `content` makes the text or bytes of a finding.

    `check` raises a MachineError where a library is missing; `binary` is what no terminal shows.
    """

    name: str
    content: Callable[[Exportable], str | bytes]
    check: Callable[[], None] = _nothing_needed
    binary: bool = False

    def to_bytes(self, found: Exportable) -> bytes:
        """Return the content as bytes."""
        content = self.content(found)
        return content.encode() if isinstance(content, str) else content


def export(files: Mapping[str, str], name: str) -> Export[Any]:
    """Return a format by its name, from one of the tables of `formats.py`."""
    found = import_kinds(__package__, [files[name]], Export)
    return next(one for one in found if one.name == name)
