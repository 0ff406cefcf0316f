"""Whoever makes a call: hears what happens, and may know rules by names of its own."""

from __future__ import annotations

import contextlib
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from auditrules.model.errors import InputError

if TYPE_CHECKING:
    from auditrules.model.rule import Reading


class Tell(Protocol):
    """Takes the name of the current step, as often as one likes."""

    def __call__(self, doing: str, done: float | None = None, /) -> None:
        """Begin `doing`, or go on with it; `done` is the part that is done, where that is known."""


class Caller:
    """A caller that hears everything, shows nothing, and knows files alone.

    `program` and `verbs` are how messages call it and what is typed before a verb.
    """

    program = "auditrules"
    verbs = "auditrules"

    def note(self, text: str) -> None:
        """Hear a line for the user."""

    def work(self) -> AbstractContextManager[Tell]:
        """Give a function that reports the progress of long work, callable at any time."""
        return contextlib.nullcontext(lambda _doing, _done=None: None)

    def knows(self, text: str) -> bool:  # noqa: ARG002  (others know some)
        """Say whether a text names rules that are no file, even if a file has that name.

        Raises:
            OSError: A file of that name can't be read.
        """
        return False

    def rules_named(self, text: str) -> tuple[Reading, ...]:
        """Return the lines of the rules that a name stands for.

        Raises:
            InputError: It stands for none.
        """
        raise InputError(
            f"there is no file or folder {text}", hint="a rule is one argument, in quotes"
        )
