"""Answers as the probe gives them for programs that were run."""

from __future__ import annotations

from typing import Any


def ran(name: str, stdout: str = "", **other: Any) -> dict[str, Any]:  # noqa: ANN401  (a field)
    """Return the answer for a program that ended well, but for what `other` says."""
    facts = {"status": 0, "signal": None, "stderr": "", "ticks": 1000, "user": 3, "system": 4}
    said = {"stdout": stdout, "stdout_bytes": len(stdout), "audit": None}
    return {"event": "ran", "name": name, **facts, **said, **other}
