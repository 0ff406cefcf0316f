"""Lines of a function, counted one by one: how they are named to the plugin, and in its counts.

Each piece of the function's code that belongs to one line is a function of its own to the plugin,
whose name has the line. So it needs to know nothing of lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from auditrules.model.location import Location
from hardcost.protocol.plugin.stacks import Stacks

MARK = "@"
"""What stands between a function's name and the line; no function's name has it."""


@dataclass(frozen=True)
class FunctionLines:
    """The lines of a function: for each piece of its code, the line that it belongs to.

    `first` is the line of the piece that keeps the function's own name: by that
    the plugin knows what some functions do. `source` is the text of lines.
    """

    function: str = ""
    first: Location | None = None
    pieces: str = ""
    source: Mapping[Location, str] = field(default_factory=dict)


def piece(function: str, line: Location) -> str:
    """Return the name of the code that belongs to a line of a function."""
    return f"{function}{MARK}{line}"


def split_name(name: str) -> tuple[str, Location | None]:
    """Return a function's name and the line, if its name has one."""
    function, _, line = name.partition(MARK)
    return function, Location.of(line) if line else None


def add_first_line(seen: Stacks | None, lines: FunctionLines) -> Stacks | None:
    """Return stacks in which the piece that keeps the function's name has its line, too."""
    first = lines.first
    if seen is None or first is None:
        return seen
    return replace(
        seen,
        frames=tuple(
            replace(frame, name=piece(frame.name, first))
            if (frame.kind, frame.name) == ("kernel", lines.function)
            else frame
            for frame in seen.frames
        ),
    )
