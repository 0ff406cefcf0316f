"""The click command of every verb: its call, its arguments, its help."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import click

from hardcost.errors import InputError, Problem, RequestProblem
from hardcost.library.rule_text import is_rule

CLUSTER = "Cluster and TLS options"
"""The section that only `--help-all` shows."""

_WIDEST = 30  # columns of an option's names; click starts a new line behind longer ones
_RULE_OPTIONS = ("-a", "-A", "-w", "-S", "-F", "-k", "-p")
_FIELD = re.compile(r"`(\w+)`")
_RANGE = re.compile(r"(?P<least>[\d.]+)<=x<=(?P<most>[\d.]+)|x>=(?P<floor>[\d.]+)")


class Shared(click.Option):
    """An option that several verbs have, in a section of their help."""

    def __init__(self, *args: Any, section: str, **words: Any) -> None:
        """Hold the section."""
        super().__init__(*args, **words)
        self.section = section


class Verb(click.Command):
    """A command whose help has sections, and whose summary is never cut."""

    def __init__(self, *args: Any, **words: Any) -> None:
        """Add `--help-all` where an option is in the section that `--help` leaves out."""
        super().__init__(*args, **words)
        if any(_section(one) == CLUSTER for one in self.params):
            self.params.append(_help_all())

    def invoke(self, ctx: click.Context) -> Any:
        """Call the verb.

        Raises:
            KeyboardInterrupt: Ctrl-C; click ends the terminal's line on which ^C stands.
            Abort: The same, where stderr is no terminal and there is no such line.
            InputError: Something is wrong with the input; options are called as they are.
        """
        try:
            return super().invoke(ctx)
        except InputError as error:
            if not any(isinstance(one, RequestProblem) for one in error.problems):
                raise
            raise InputError.of(tuple(map(self._in_options, error.problems))) from error
        except KeyboardInterrupt:
            if sys.stderr.isatty():
                raise
            raise click.Abort from None

    def _in_options(self, problem: Problem) -> Problem:
        """Return a problem with the names of options in place of fields of a request."""
        if not isinstance(problem, RequestProblem):
            return problem
        names = {
            one.name: max(one.opts, key=len)
            for one in self.params
            if one.name and isinstance(one, click.Option)
        }

        def named(field: re.Match[str]) -> str:  # an option that may be repeated makes a list
            name = field[1]
            return names.get(name) or names.get(name.removesuffix("s")) or field[0]

        message, hint = _FIELD.sub(named, problem.message), problem.hint
        return replace(problem, message=message, hint=hint and _FIELD.sub(named, hint))

    def get_short_help_str(self, limit: int = 0) -> str:  # noqa: ARG002  (click's)
        """Return the whole first sentence of the help, however long."""
        return summary(self)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options by section, all aligned alike."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for one in (each for each in self.get_params(ctx) if isinstance(each, click.Option)):
            record = one.get_help_record(ctx)
            section = _section(one)
            if record is not None and (section != CLUSTER or ctx.meta.get(CLUSTER)):
                name, text = record
                sections.setdefault(section, []).append((name, _RANGE.sub(_as_words, text)))
        if len(sections) > 1:  # what says where the rest is comes last
            own = sections.get("Options", [])
            sections["Help"] = [row for row in own if "--help" in row[0]]
            sections["Options"] = [row for row in own if "--help" not in row[0]]
        aligned = _pad_names(row for rows in sections.values() for row in rows)
        for title, rows in sections.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl([(aligned[name], text) for name, text in rows])


class RuleTaker(Verb):
    """A command whose arguments may be audit rules in quotes, wherever they stand.

    To click, what begins with a dash is an option, and a rule does; one with a space before it is
    not. None of our options has a space in it.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take the words of the command line.

        Raises:
            UsageError: They are not as they should be.
        """
        try:
            return super().parse_args(ctx, [f" {one}" if is_rule(one) else one for one in args])
        except click.NoSuchOption as error:
            if error.option_name not in _RULE_OPTIONS:
                raise
            message = f"{error.message} A rule is one argument: put all of it in quotes."
            raise click.UsageError(message, ctx) from error


def say_renamed(before: str, now: str) -> None:
    """Say on stderr that a verb or an option has another name now."""
    click.echo(f"note: {before} is now called {now}; the next release drops the old name", err=True)


def summary(command: click.Command) -> str:
    """Return the first sentence of a command's help, whole."""
    return click.Command.get_short_help_str(command, limit=1_000_000)


def _as_words(found: re.Match[str]) -> str:
    """Return a range of numbers as people write it."""
    least, most = found["least"] or found["floor"], found["most"]
    return f"{least} to {most}" if most else f"at least {least}"


def _section(option: click.Parameter) -> str:
    return option.section if isinstance(option, Shared) else "Options"


def _pad_names(rows: Iterable[Sequence[str]]) -> dict[str, str]:
    """Return the names of options, filled up so that each section has the same columns."""
    names = [row[0] for row in rows]
    widest = max((len(name) for name in names if len(name) <= _WIDEST), default=0)
    return {name: name.ljust(widest) for name in names}


def _help_all() -> click.Option:
    def show(context: click.Context, _option: click.Parameter, value: bool) -> None:  # noqa: FBT001  (click's)
        if value and not context.resilient_parsing:
            context.meta[CLUSTER] = True
            click.echo(context.get_help(), color=context.color)
            context.exit()

    return click.Option(
        ["--help-all"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help="Show also the options for clusters of hosts: --workers, --insecure and TLS.",
    )
