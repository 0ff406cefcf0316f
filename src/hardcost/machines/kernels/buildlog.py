"""A build's log: how far it has come, and what went wrong."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hardcost.errors import MachineError
from hardcost.machines import folders

if TYPE_CHECKING:
    from pathlib import Path

_ERROR = re.compile("error:|No space left", re.IGNORECASE)
_STEPS = ("  CC ", "  AS ", "  LD ", "  AR ", "  HOSTCC ", "  HOSTLD ")
_SHOWN_LINES = 15  # of a failed build's log that an error repeats


def steps(log: Path) -> int:
    """Return how many steps were taken."""
    text = log.read_text(errors="replace")
    return sum(line.startswith(_STEPS) for line in text.splitlines())


def failed(log: Path, status: int) -> MachineError:
    """Return the error of a failed build, with what the compiler said."""
    lines = log.read_text(errors="replace").splitlines()
    said = "\n".join(([line for line in lines if _ERROR.search(line)] or lines)[-_SHOWN_LINES:])
    full = folders.is_full(log.parent) or any("No space left on device" in line for line in lines)
    hint = f"the disk of {log.parent} is full: free some space" if full else f"the log is {log}"
    return MachineError(f"the kernel's build failed with status {status}:\n{said}", hint=hint)
