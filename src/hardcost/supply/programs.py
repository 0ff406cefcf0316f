"""Our own programs that run where trials do, built with hardcost and shipped in `bin`."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from hardcost.errors import MachineError


def program_path(name: str) -> Path:
    """Return one of our programs, by its name.

    Raises:
        MachineError: It was not built.
    """
    program = Path(str(resources.files("hardcost"))) / "bin" / name
    if not program.is_file():
        raise MachineError(f"the program {program} is missing", hint="`make setup` builds it")
    return program
