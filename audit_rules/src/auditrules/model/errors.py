"""The errors that a user's words and files cause: each says what is wrong, where, and the remedy.

Only `cli/` turns them into text and exit statuses; everything below raises.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass
from typing import Self

from auditrules.model.location import Location

FULL_DISK = frozenset({errno.ENOSPC, errno.EDQUOT})
"""The system's error numbers for a full disk."""


@dataclass(frozen=True)
class Problem:
    """One mistake, with its location and remedy if they are known.

    `trial` names the trial that it struck, if the message and its location don't say that.
    """

    message: str
    place: Location | None = None
    hint: str | None = None
    trial: str = ""

    def __str__(self) -> str:
        return f"{self.trial}: {self.message}" if self.trial else self.message


@dataclass(frozen=True)
class RequestProblem(Problem):
    """A mistake of a request, whose fields its texts have in backticks, such as `seeds`.

    The command line puts its own options in their place.
    """


class HardcostError(Exception):
    """Any failure of hardcost; `exit_status` is the process's when it reaches `cli/`."""

    exit_status = 3

    def __init__(
        self, message: str, *, place: Location | None = None, hint: str | None = None
    ) -> None:
        """Hold one problem; `InputError.of` holds several."""
        super().__init__(message)
        self._hold((Problem(message, place, hint),))

    def _hold(self, problems: tuple[Problem, ...]) -> None:
        """Hold problems; a traceback, as a notebook shows it, notes where they are and a remedy."""
        self.problems = problems
        for one in problems:
            if one.place is not None:
                self.add_note(f"{one.place}: {one.message}" if problems[1:] else str(one.place))
            if one.hint is not None:
                self.add_note(f"hint: {one.hint}")


class InputError(HardcostError):
    """The user's words, files or names are wrong: nothing was measured."""

    exit_status = 2

    @classmethod
    def of(cls, problems: tuple[Problem, ...]) -> Self:
        """Return one error for all `problems` (at least one), so that they are reported at once."""
        error = cls("; ".join(problem.message for problem in problems))
        error._hold(problems)
        return error


class RequestError(InputError):
    """A request has a wrong value, or values that do not fit together."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self._hold((RequestProblem(message, hint=hint),))


class StoreError(HardcostError):
    """The store, or a file of results, can't be read or written."""
