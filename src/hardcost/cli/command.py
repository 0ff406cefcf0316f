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
from hardcost.cli.verb import Verb, summary
from hardcost.errors import MachineError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

_SYNONYMS = {
    **dict.fromkeys(("delete", "rm", "prune", "clean"), "remove"),
    "show": "report",
    "ls": "list",
    "diff": "compare",
    "undo": "restore",
}
"""What verbs are called elsewhere."""


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
            hint="pip install 'distributed>=2025.1', on each host",
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

    command_class = Verb

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

    def get_short_help_str(self, limit: int = 0) -> str:  # noqa: ARG002  (click's)
        """Return the whole first sentence of the help, however long."""
        return summary(self)

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
            top = ctx.find_root()
            close = _meant(args[0], self, ctx) or _meant(args[0], top.command, top)
            if not close:
                raise
            meant = " or ".join(f"`{one}`" for one in close)
            message = f"No such command {args[0]!r}. Did you mean {meant}?"
            raise click.UsageError(message, ctx) from error


def _meant(word: str, group: click.Command, context: click.Context) -> list[str]:
    """Return the commands in a group, and in the groups in it, that a word may have meant."""
    found = dict(_below(group, context, context.command_path))
    names = sorted(set(found.values()))
    wanted = _SYNONYMS.get(word, word)
    close = [wanted] if wanted in names else difflib.get_close_matches(wanted, names, n=1)
    return [path for path, name in found.items() if name in close]


def _below(group: click.Command, context: click.Context, path: str) -> Iterator[tuple[str, str]]:
    """Yield what may follow in a group, as `list controls`, as it is typed, with its last word."""
    names: Iterable[str] = ()
    if isinstance(group, click.Group):
        names = group.list_commands(context)
    elif group.params and isinstance(group.params[0].type, click.Choice):
        names = group.params[0].type.choices
    for name in names:
        yield f"{path} {name}", name
        command = group.get_command(context, name) if isinstance(group, click.Group) else None
        if command is not None:
            yield from _below(command, context, f"{path} {name}")
