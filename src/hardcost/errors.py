"""The errors that hardcost raises: each says what is wrong, where, and the remedy.

Only `cli/` turns them into text and exit statuses; everything below raises.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass

FULL_DISK = frozenset({errno.ENOSPC, errno.EDQUOT})
"""The system's error numbers for a full disk."""


@dataclass(frozen=True, order=True)
class Place:
    """A location in a file; lines and columns count from 1."""

    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        """Return `file:line:column`, as compilers write it, as far as it is known."""
        parts = [self.file, *(str(n) for n in (self.line, self.column) if n is not None)]
        return ":".join(parts)


@dataclass(frozen=True)
class Problem:
    """One mistake, with its location and remedy if they are known."""

    message: str
    place: Place | None = None
    hint: str | None = None


class HardcostError(Exception):
    """Any failure of hardcost; `exit_status` is the process's when it reaches `cli/`."""

    exit_status = 3

    def __init__(
        self, message: str, *, place: Place | None = None, hint: str | None = None
    ) -> None:
        """Hold one problem; `InputError.of` holds several."""
        super().__init__(message)
        self.problems: tuple[Problem, ...] = (Problem(message, place, hint),)


class InputError(HardcostError):
    """The user's words, files or names are wrong: nothing was measured."""

    exit_status = 2

    @classmethod
    def of(cls, problems: tuple[Problem, ...]) -> InputError:
        """Return one error for all `problems` (at least one), so that they are reported at once."""
        error = cls("; ".join(problem.message for problem in problems))
        error.problems = problems
        return error


class MachineError(HardcostError):
    """A machine could not be made or died; `console` is the tail of its log."""

    def __init__(
        self,
        message: str,
        *,
        place: Place | None = None,
        hint: str | None = None,
        console: str = "",
    ) -> None:
        """Keep the tail of the console log beside the message."""
        super().__init__(message, place=place, hint=hint)
        self.console = console


class TrialError(MachineError):
    """A trial ran but did not measure what it should."""


class WorkersError(HardcostError):
    """The workers of a run can't be had, or none is left: no trial is to blame, and it ends."""


class StoreError(HardcostError):
    """The store, or a file of results, can't be read or written."""
