"""A build's log: its progress, and its errors."""

from __future__ import annotations

import re
from pathlib import Path

from hardcost.errors import MachineError
from hardcost.supply.cache import folders

_ERROR = re.compile("error:|No space left", re.IGNORECASE)
_STEPS = ("  CC ", "  AS ", "  LD ", "  AR ", "  HOSTCC ", "  HOSTLD ")
_SHOWN_LINES = 15  # of a failed build's log, repeated in the error


def steps(log: Path) -> int:
    """Return the number of steps taken."""
    text = log.read_text(errors="replace")
    return sum(line.startswith(_STEPS) for line in text.splitlines())


def build_error(log: Path, status: int) -> MachineError:
    """Return the error of a failed build, with the compiler's messages."""
    lines = log.read_text(errors="replace").splitlines()
    messages = "\n".join(([line for line in lines if _ERROR.search(line)] or lines)[-_SHOWN_LINES:])
    full = folders.is_full(log.parent) or any("No space left on device" in line for line in lines)
    hint = f"the disk of {log.parent} is full: free some space" if full else f"the log is {log}"
    return MachineError(f"the kernel build failed with status {status}:\n{messages}", hint=hint)
