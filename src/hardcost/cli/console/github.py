"""Output in a job on GitHub: text is escaped so that it gives no commands; annotations do.

The runner takes each line that begins with `::`, or contains `##[`, for a command. Names from rules
are data: a text with such a line is printed where no line is a command.
"""

from __future__ import annotations

import os
import re
import secrets

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
