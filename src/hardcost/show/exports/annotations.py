"""Annotations: GitHub's workflow commands, and of a gate GitLab's report of code quality."""

from __future__ import annotations

import hashlib
import json

from auditrules.show.github import command
from hardcost.model.finding.change import ChangeLine, Gate
from hardcost.show.exports.export import Export
from hardcost.show.sentences.gate import line_cost, sentences, title
from hardcost.units import visible

_TITLE = "hardcost gate"


def github(gate: Gate) -> str:
    """Return workflow commands: an annotation for each line that costs, and one for the whole."""
    lines = [
        command(_level(gate, line), _line_words(gate, line), _properties(line))
        for line in gate.counted_of_head
    ]
    level = "error" if gate.failed else "warning" if gate.unclear else "notice"
    whole = f"{title(gate)}: {' '.join(sentences(gate))}"
    return "\n".join([*lines, command(level, whole, {"title": _TITLE})])


def gitlab(gate: Gate) -> str:
    """Return GitLab's report of code quality: an issue for each line that costs, as JSON."""
    found = [
        {
            "description": f"{_TITLE}: {_line_words(gate, line)}",
            "check_name": "hardcost-gate",
            "fingerprint": _fingerprint(line),
            "severity": "major" if gate.metrics_exceeded_by(line) else "info",
            "location": {
                "path": visible(line.place.file),
                "lines": {"begin": line.place.line or 1},
            },
        }
        for line in gate.counted_of_head
        if line.place is not None
    ]
    return json.dumps(found, indent=2)


def _level(gate: Gate, line: ChangeLine) -> str:
    return "error" if gate.metrics_exceeded_by(line) else "notice"


def _line_words(gate: Gate, line: ChangeLine) -> str:
    return f"{line_cost(gate, line)}. The line: {visible(line.control)}"


def _properties(line: ChangeLine) -> dict[str, str]:
    found = {}
    if line.place is not None:
        found["file"] = visible(line.place.file)
        if line.place.line is not None:
            found["line"] = str(line.place.line)
    return {**found, "title": _TITLE}


def _fingerprint(line: ChangeLine) -> str:
    file = "" if line.place is None else line.place.file
    named = f"{file}\n{line.control}\n{line.change}".encode(errors="surrogateescape")
    return hashlib.sha256(named).hexdigest()[:32]


GITHUB = Export("github", github)
GITLAB = Export("gitlab", gitlab)
