"""A control of machines that run already: whether a unit of systemd runs, and with which files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar


@dataclass(frozen=True)
class Service:
    """A unit of systemd on a machine that runs already: it runs there, or is stopped.

    `files` are (path, text) that are in the place of the machine's own while it runs.
    """

    unit: str
    running: bool = True
    files: tuple[tuple[str, str], ...] = ()
    ids: tuple[str, ...] = field(default=(), compare=False)
    severity: str = field(default="", compare=False)

    packages: ClassVar[tuple[str, ...]] = ()
    mechanism: ClassVar[str] = "service"

    @property
    def slot(self) -> str:
        """Return the slot, which at most one control may have."""
        return f"service {self.unit}"

    @property
    def name(self) -> str:
        """Return the unit with its state, and the files that it has."""
        state = "running" if self.running else "stopped"
        return f"{self.unit} {state}{''.join(f' {path}' for path, _ in self.files)}"
