"""Lines of a function, which are counted one by one: how the plugin is told of them, and tells.

Each piece of the function's code that comes of one line is a function of its own to the plugin,
whose name has the line. So it needs to know nothing of lines.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hardcost.machines.stacks import Stacks

MARK = "@"
"""What stands between a function's name and the line; no function's name has it."""


@dataclass(frozen=True)
class Lines:
    """The lines of a function: what the plugin is told of its code, a line for each piece.

    `first` is the line, as `FILE:LINE`, of the piece that keeps the function's own name: by that
    the plugin knows what some functions do. `source` is the text of lines.
    """

    function: str = ""
    first: str = ""
    pieces: str = ""
    source: Mapping[str, str] = field(default_factory=dict)


def piece(function: str, line: str) -> str:
    """Return the name of the code that comes of a line, `FILE:LINE`, of a function."""
    return f"{function}{MARK}{line}"


def split(name: str) -> tuple[str, str]:
    """Return a function's name and the line, if its name has one."""
    function, _, line = name.partition(MARK)
    return function, line


def named(seen: Stacks | None, lines: Lines) -> Stacks | None:
    """Return stacks in which the piece that keeps the function's name has its line, too."""
    if seen is None or not lines.first:
        return seen
    return replace(
        seen,
        places=tuple(
            replace(place, name=piece(place.name, lines.first))
            if (place.kind, place.name) == ("kernel", lines.function)
            else place
            for place in seen.places
        ),
    )
