"""Output in a job on GitHub: text is escaped so that it gives no commands; annotations do.

The runner takes each line that begins with `::`, or contains `##[`, for a command. Names from rules
are data: a text with such a line is printed where no line is a command. What is escaped in a
command is what the runner restores, and nothing else: the percent sign, ends of lines, and, in a
property, the colon and the comma.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from auditrules.words import visible

if TYPE_CHECKING:  # each note on stderr is made harmless, and few runs have diagnostics
    from auditrules.lint.diagnostic import Diagnostic

_COMMAND = re.compile(r"^\s*::|##\[", re.MULTILINE)


def is_github_job() -> bool:
    """Say whether this is a job of GitHub Actions."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def make_harmless(text: str) -> str:
    """Return a text of which the runner takes no line for a command."""
    if not is_github_job() or _COMMAND.search(text) is None:
        return text
    token = secrets.token_hex(16)
    return f"::stop-commands::{token}\n{text}\n::{token}::"


def diagnostic_annotations(diagnostics: Iterable[Diagnostic], program: str) -> str:
    """Return workflow commands: an annotation for each diagnostic."""
    return "\n".join(_annotation(one, program) for one in diagnostics)


def _annotation(one: Diagnostic, program: str) -> str:
    known = (("file", visible(one.spot.file)), ("line", one.spot.line), ("col", one.spot.column))
    where = {name: str(value) for name, value in known if value}
    words = [one.message, *([f"remedy: {one.remedy}"] if one.remedy else [])]
    level = "notice" if one.level == "note" else one.level.value
    return command(level, visible("; ".join(words)), {**where, "title": f"{program}: {one.code}"})


def command(name: str, message: str, properties: Mapping[str, str]) -> str:
    """Return a workflow command."""
    escaped = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{name} {escaped}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
