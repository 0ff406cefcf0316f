"""Annotations: GitHub's workflow commands, and of a gate GitLab's report of code quality.

A workflow command is a line of a job's output that begins with `::`. What is escaped in it is what
GitHub's runner restores, and nothing else: the percent sign, ends of lines, and, in a property,
the colon and the comma.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

from auditrules.lint.diagnostic import Diagnostic, Level
from hardcost.model.finding.change import ChangeLine, Gate
from hardcost.show.exports.export import Export
from hardcost.show.sentences.gate import line_cost, sentences, title
from hardcost.units import visible

_TITLE = "hardcost gate"


def github(gate: Gate) -> str:
    """Return workflow commands: an annotation for each line that costs, and one for the whole."""
    lines = [
        _command(_level(gate, line), _line_words(gate, line), _properties(line))
        for line in gate.counted_of_head
    ]
    level = "error" if gate.failed else "warning" if gate.unclear else "notice"
    whole = f"{title(gate)}: {' '.join(sentences(gate))}"
    return "\n".join([*lines, _command(level, whole, {"title": _TITLE})])


def github_findings(findings: Iterable[Diagnostic]) -> str:
    """Return workflow commands for what lint found: an annotation for each finding."""
    return "\n".join(map(_finding_command, findings))


def _finding_command(one: Diagnostic) -> str:
    known = (("file", visible(one.spot.file)), ("line", one.spot.line), ("col", one.spot.column))
    where = {name: str(value) for name, value in known if value}
    words = [one.message, *([f"remedy: {one.remedy}"] if one.remedy else [])]
    level = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "notice"}[one.level]
    return _command(level, visible("; ".join(words)), {**where, "title": f"hardcost: {one.code}"})


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


def _command(name: str, message: str, properties: dict[str, str]) -> str:
    said = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{name} {said}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _fingerprint(line: ChangeLine) -> str:
    file = "" if line.place is None else line.place.file
    named = f"{file}\n{line.control}\n{line.change}".encode(errors="surrogateescape")
    return hashlib.sha256(named).hexdigest()[:32]


GITHUB = Export("github", github)
GITLAB = Export("gitlab", gitlab)
