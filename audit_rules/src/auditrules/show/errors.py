"""An error, its location and its remedy, line by line."""

from __future__ import annotations

from collections.abc import Iterator

from auditrules.model.errors import HardcostError


def problem_lines(error: HardcostError) -> Iterator[str]:
    """Yield the lines of every problem of an error."""
    for problem in error.problems:
        where = f"{problem.place}: " if problem.place else ""
        first, *others = f"{where}{problem}".splitlines() or [""]
        yield f"error: {first}"
        yield from (f"       {line}" for line in others)
        if problem.hint:
            yield f"  hint: {problem.hint}"
