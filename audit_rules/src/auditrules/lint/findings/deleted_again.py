"""A line deletes rules that earlier lines load.

What: `-D`, `-D -k`, `-d` or `-W` stands below the rules that it deletes. There is one finding for
each such line; the rules are listed as related lines. In a folder that augenrules merges, `-D`
moves to the top wherever it stands.

Why: The rules above are loaded and deleted a moment later: they record nothing.

Example:
    -w /etc/shadow -p wa -k identity
    -D

Remedy: Make `-D` the first line, or remove the rules.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditrules.lint.context import Context
from auditrules.lint.diagnostic import Diagnostic, Level
from auditrules.load.load import Fate
from auditrules.model.location import Location

CODE = "deleted-again"
LEVEL = Level.WARNING


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each line that deletes rules."""
    deleted: dict[Location, list[Location]] = {}
    for line in context.loaded.of(Fate.DELETED):
        if line.deleted_by is not None:
            deleted.setdefault(line.deleted_by, []).append(line.reading.place)
    for place, rules in deleted.items():
        text = context.texts.get(place, "")
        what = f"{len(rules)} rules that are" if len(rules) > 1 else "a rule that is"
        all_of_them = text.split() == ["-D"]
        yield Diagnostic(
            CODE,
            LEVEL,
            f"{what} loaded above {'are' if len(rules) > 1 else 'is'} deleted again here",
            place,
            text,
            "make -D the first line"
            if all_of_them
            else "remove this line, or the rules that it deletes",
            related=tuple(rules),
        )
