"""Tables in Markdown as GitHub and GitLab read it; whatever a name holds stays text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from hardcost.units import visible

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")


def escape_text(text: str) -> str:
    """Return a text in which no character means anything but itself."""
    return _PUNCTUATION.sub(r"\\\1", visible(text))


def code(text: str) -> str:
    """Return a text as code, for a cell of a table: it may hold backticks and bars."""
    shown = visible(text)
    if not shown.strip():
        return ""
    longest = max((len(run) for run in re.findall(r"`+", shown)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if shown[0] in " `" or shown[-1] in " `" else ""
    inside = shown.replace("|", "\\|")
    return f"{fence}{pad}{inside}{pad}{fence}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Return a table of cells that are Markdown already; columns `right` are flush right."""
    marks = ["---:" if at in right else "---" for at in range(len(header))]
    lines = [header, marks, *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def list_below(title: str, lines: Sequence[str]) -> str:
    """Return texts as a list below its title, "" without any."""
    if not lines:
        return ""
    return f"\n{title}:\n\n" + "".join(f"- {escape_text(one)}\n" for one in lines)
