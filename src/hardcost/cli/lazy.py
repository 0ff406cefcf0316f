"""A group of commands each of which is imported when it is asked for.

What a verb needs (statistics, charts, a prover) takes seconds to import, and most verbs need little
of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Mapping


class LazyGroup(click.Group):
    """A group whose commands are named by `module:attribute`, in the order of its help."""

    def __init__(self, *args: Any, places: Mapping[str, str], **words: Any) -> None:  # noqa: ANN401  (click's)
        """Hold where each command is; nothing is imported yet."""
        super().__init__(*args, **words)
        self._places = dict(places)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands' names."""
        return sorted({*self._places, *super().list_commands(ctx)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, imported now; None where there is none of that name."""
        place = self._places.get(cmd_name)
        if place is None:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = place.partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command
