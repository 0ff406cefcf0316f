"""Commands whose work is imported when it is asked for.

What a verb needs (statistics, charts, a prover) takes seconds to import. Its options and help, in
`commands/`, need none of that, so that help and the completion of words come at once.
"""

from __future__ import annotations

import difflib
import functools
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from hardcost.cli.scarce import try_import
from hardcost.errors import MachineError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def imported(place: str) -> Any:  # noqa: ANN401  (whatever lies there)
    """Return what `module:attribute` names, imported now.

    Raises:
        MemoryError: A library that it needs would end the process for want of memory.
    """
    module, _, attribute = place.partition(":")
    try_import(module)
    return getattr(import_module(module), attribute)


def with_dask(place: str) -> Any:  # noqa: ANN401  (whatever lies there)
    """Return what `module:attribute` names, which needs Dask.

    Raises:
        MachineError: Dask is not installed.
    """
    try:
        import_module("distributed")
    except ModuleNotFoundError as error:
        raise MachineError(
            f"workers need Dask, of which {error.name} is not installed",
            hint="pip install 'hardcost[dask]', on each host",
        ) from error
    return imported(place)


def carried_out_by(place: str) -> Callable[[Callable[[], None]], Callable[..., None]]:
    """Make of an empty function a command's callback that does what lies at `module:attribute`."""

    def with_work(described: Callable[[], None]) -> Callable[..., None]:
        @functools.wraps(described)
        def callback(**words: Any) -> None:  # noqa: ANN401  (click's options)
            try:
                imported(place)(**words)
            except KeyboardInterrupt:
                if sys.stderr.isatty():
                    raise  # click ends the line on which ^C stands
                raise click.Abort from None

        callback.__dict__["place"] = place  # for the test that both take the same words
        return callback

    return with_work


class LazyGroup(click.Group):
    """A group of commands, of which some or all are named by `module:attribute`."""

    def __init__(self, *args: Any, places: Mapping[str, str] | None = None, **words: Any) -> None:  # noqa: ANN401  (click's)
        """Hold where each command is; nothing is imported yet."""
        super().__init__(*args, **words)
        self._places = dict(places or {})

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands' names."""
        return sorted({*self._places, *super().list_commands(ctx)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, imported now; None where there is none of that name."""
        place = self._places.get(cmd_name)
        if place is None:
            return super().get_command(ctx, cmd_name)
        command: click.Command = imported(place)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the words name.

        Raises:
            UsageError: There is none; names that are much like it are proposed.
        """
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            close = difflib.get_close_matches(args[0], self.list_commands(ctx))
            if not close:
                raise
            meant = " or ".join(map(repr, close))
            message = f"No such command {args[0]!r}. Did you mean {meant}?"
            raise click.UsageError(message, ctx) from error
