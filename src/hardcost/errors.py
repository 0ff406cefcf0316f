"""The errors that hardcost raises: each says what is wrong, where, and the remedy.

Those of a user's words and files are the rules engine's, too. Only `cli/` turns errors into text
and exit statuses; everything below raises.
"""

from __future__ import annotations

from auditrules.model.errors import (
    FULL_DISK,
    HardcostError,
    InputError,
    Problem,
    RequestError,
    RequestProblem,
    StoreError,
)
from auditrules.model.location import Location

__all__ = [
    "FULL_DISK",
    "HardcostError",
    "InputError",
    "MachineError",
    "Problem",
    "RequestError",
    "RequestProblem",
    "StoreError",
    "TrialError",
    "WorkersError",
]


class MachineError(HardcostError):
    """A machine could not be made or died; `console` is the tail of its log."""

    def __init__(
        self,
        message: str,
        *,
        place: Location | None = None,
        hint: str | None = None,
        console: str = "",
        trial: str = "",
    ) -> None:
        """Keep the tail of the console log beside the message, and the trial that it struck."""
        super().__init__(message)
        self._hold((Problem(message, place, hint, trial),))
        self.args = (str(self.problems[0]),)
        self.console = console


class TrialError(MachineError):
    """A trial ran but did not measure what it should."""


class WorkersError(HardcostError):
    """The workers of a run can't be had, or none is left: no trial is to blame, and it ends."""
