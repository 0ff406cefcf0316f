"""The caller of the command `auditrules`, and what it prints to stderr."""

from __future__ import annotations

import click

from auditrules.library.caller import Caller
from auditrules.model.errors import HardcostError
from auditrules.show.errors import problem_lines
from auditrules.show.github import make_harmless
from auditrules.words import visible


class Terminal(Caller):
    """Prints each note as a line on stderr."""

    def note(self, text: str) -> None:
        """Print it."""
        print_line(text)


def print_line(text: str) -> None:
    """Print a line that is no result to stderr; nothing in it is taken for markup or control."""
    click.echo(make_harmless(visible(text)), err=True)


def print_problems(error: HardcostError) -> None:
    """Print every problem of an error to stderr, with its place and its remedy."""
    for line in problem_lines(error):
        print_line(line)
