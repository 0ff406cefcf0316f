"""A machine whose keeper is a script, and what a script says."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path


def lines(*entries: Mapping[str, object]) -> list[str]:
    """Return a journal's lines."""
    found, last = list[str](), "0" * 64
    for entry in entries:
        text = json.dumps(entry)
        last = hashlib.sha256(f"{last} {text}".encode()).hexdigest()
        found.append(f"{last} {text}")
    return found


def said(*entries: Mapping[str, object], after: int = 0) -> list[str]:
    """Return a keeper's answers that hold a journal's lines, from one of them on."""
    return [json.dumps({"event": "journal", "line": one}) for one in lines(*entries)[after:]]


class Scripted:
    """A machine whose keeper is a script."""

    name = "ssh:scripted"

    def __init__(self, folder: Path, script: str) -> None:
        """Put the script there."""
        self.place = folder / "keeper"
        self.place.write_text(f"#!/bin/bash\n{script}\n")
        self.place.chmod(0o755)

    def keeper(self, *arguments: str) -> list[str]:
        """Return the command that starts it."""
        return [str(self.place), *arguments]


def echo(*answers: str) -> str:
    """Return a script that says that."""
    return "".join(f"echo '{one}'\n" for one in answers)
