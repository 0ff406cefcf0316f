"""The command `hardcost`, and groups of commands whose files are imported when they are asked for.

What a verb needs (statistics, charts, a prover) takes seconds to import. A verb's file imports it
inside its function, so that help and the completion of words come at once.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path

import click

from auditrules.cli.verb import summary
from hardcost.cli.verb import ClusterVerb, say_renamed

_VERBS = f"{__package__}.verbs"

_SYNONYMS = {
    **dict.fromkeys(("delete", "rm", "prune", "clean"), "remove"),
    "show": "report",
    "ls": "list",
    "diff": "compare",
    "undo": "restore",
}
"""The names of verbs in other programs."""

_RENAMED = {"profile": "hotspots"}
"""The names of verbs in the last release, with those of today."""


class VerbGroup(click.Group):
    """A group of commands, which proposes names for a misspelt word."""

    command_class = ClusterVerb

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
            close = _likely_commands(args[0], self, ctx) or _likely_commands(
                args[0], top.command, top
            )
            if not close:
                raise
            meant = " or ".join(f"`{one}`" for one in close)
            message = f"No such command {args[0]!r}. Did you mean {meant}?"
            raise click.UsageError(message, ctx) from error


class Verbs(VerbGroup):
    """The commands of which each has a file or folder in `verbs/`, imported when it is asked for.

    The file `list_.py` has the command `list` as `list_`, since Python has that name for itself.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (click's)
        """Return the commands' names."""
        return sorted(_FILES)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the words name, perhaps by its name in the last release.

        Raises:
            UsageError: There is none.
        """
        now = _RENAMED.get(args[0])
        if now is not None:
            say_renamed(f"`hardcost {args[0]}`", f"`hardcost {now}`")
            args = [now, *args[1:]]
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  (click's)
        """Return a command, imported now; None where there is none of that name."""
        name = _FILES.get(cmd_name)
        if name is None:
            return None
        command: click.Command = getattr(import_module(f"{_VERBS}.{name}"), name)
        return command


_FILES = {
    name.rstrip("_"): name
    for name in sorted(path.stem for path in (Path(__file__).parent / "verbs").glob("[a-z]*"))
}
"""The file or folder of each verb, by the verb's name."""


def _likely_commands(word: str, group: click.Command, context: click.Context) -> list[str]:
    """Return the commands in a group, and in the groups in it, that a word may have meant."""
    found = dict(_commands_below(group, context, context.command_path))
    names = sorted(set(found.values()))
    wanted = _SYNONYMS.get(word, word)
    close = [wanted] if wanted in names else difflib.get_close_matches(wanted, names, n=1)
    return [path for path, name in found.items() if name in close]


def _commands_below(
    group: click.Command, context: click.Context, path: str
) -> Iterator[tuple[str, str]]:
    """Yield a group's commands as they are typed, such as `list controls`, with the last word."""
    names: Iterable[str] = ()
    if isinstance(group, click.Group):
        names = group.list_commands(context)
    elif group.params and isinstance(group.params[0].type, click.Choice):
        names = group.params[0].type.choices
    for name in names:
        yield f"{path} {name}", name
        command = group.get_command(context, name) if isinstance(group, click.Group) else None
        if command is not None:
            yield from _commands_below(command, context, f"{path} {name}")


def _debug(_context: click.Context, _option: click.Parameter, value: bool) -> None:  # noqa: FBT001  (click's)
    if value:
        os.environ["HARDCOST_DEBUG"] = "1"


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="hardcost")
@click.option(
    "--debug",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_debug,
    help="If hardcost has a bug, print its traceback (as HARDCOST_DEBUG=1 does).",
)
def hardcost() -> None:
    """Say what each Linux hardening setting costs, and which you can keep for nothing.

    \b
    Examples:  hardcost doctor                                 can this machine measure?
               hardcost rules cost /etc/audit/rules.d          predict, within a second
               hardcost bill /etc/audit/rules.d                measure, in a virtual machine
               hardcost list profiles                          STIG, CIS, KSPP and others

    `hardcost COMMAND --help` explains each command and its options.

    To complete words with TAB in bash, run this line; zsh and fish have zsh_source and fish_source:

    \b
      eval "$(_HARDCOST_COMPLETE=bash_source hardcost)"

    Exit status: 0 done; 1 the answer is "no"; 2 bad usage or input; 3 a trial or machine failed;
    70 a bug in hardcost; 130 interrupted; 141 the reader of the output closed the pipe.
    """
