"""The click commands of verbs: their call, their arguments, their help."""

from __future__ import annotations

import copy
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import click

from auditrules.cli.mount import mount_of
from auditrules.model.errors import InputError, Problem, RequestProblem
from auditrules.read.rule_text import is_rule

_WIDEST = 30  # columns of an option's names; click starts a new line behind longer ones
_RULE_OPTIONS = ("-a", "-A", "-w", "-S", "-F", "-k", "-p")
_FIELD = re.compile(r"`(\w+)`")
_RANGE = re.compile(r"(?P<least>[\d.]+)<=x<=(?P<most>[\d.]+)|x>=(?P<floor>[\d.]+)")


class Shared(click.Option):
    """An option that several verbs have, in a section of their help."""

    def __init__(self, *args: Any, section: str, **words: Any) -> None:
        super().__init__(*args, **words)
        self.section = section


class Verb(click.Command):
    """A command whose help has sections, and whose summary is never cut."""

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

        def option_of(field: re.Match[str]) -> str:  # an option that may be repeated makes a list
            name = field[1]
            return names.get(name) or names.get(name.removesuffix("s")) or field[0]

        message, hint = _FIELD.sub(option_of, problem.message), problem.hint
        return replace(problem, message=message, hint=hint and _FIELD.sub(option_of, hint))

    def get_short_help_str(self, limit: int = 0) -> str:  # noqa: ARG002  (click's)
        """Return the whole first sentence of the help, however long."""
        return summary(self)

    def shows(self, section: str, ctx: click.Context) -> bool:  # noqa: ARG002  (others hide some)
        """Say whether the help has a section of options."""
        return True

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options by section, all aligned alike."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for one in (each for each in self.get_params(ctx) if isinstance(each, click.Option)):
            record = one.get_help_record(ctx)
            section = section_of(one)
            if record is not None and self.shows(section, ctx):
                name, text = record
                sections.setdefault(section, []).append((name, _RANGE.sub(_range_words, text)))
        if len(sections) > 1:  # what says where the rest is comes last
            own = sections.get("Options", [])
            sections["Help"] = [row for row in own if "--help" in row[0]]
            sections["Options"] = [row for row in own if "--help" not in row[0]]
        aligned = _padded_names(row for rows in sections.values() for row in rows)
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


class RulesVerb(RuleTaker):
    """A verb about rules, whose help has the words of the program that it is mounted in."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help."""
        worded = copy.copy(self)
        for ours, theirs in mount_of(ctx).words.items():
            worded.help = worded.help and worded.help.replace(ours, theirs)
        super(RulesVerb, worded).format_help_text(ctx, formatter)


def summary(command: click.Command) -> str:
    """Return the first sentence of a command's help, whole."""
    return click.Command.get_short_help_str(command, limit=1_000_000)


def _range_words(found: re.Match[str]) -> str:
    """Return a range of numbers as people write it."""
    least, most = found["least"] or found["floor"], found["most"]
    return f"{least} to {most}" if most else f"at least {least}"


def section_of(option: click.Parameter) -> str:
    """Return the section of the help that an option is in."""
    return option.section if isinstance(option, Shared) else "Options"


def _padded_names(rows: Iterable[Sequence[str]]) -> dict[str, str]:
    """Return the names of options, filled up so that each section has the same columns."""
    names = [row[0] for row in rows]
    widest = max((len(name) for name in names if len(name) <= _WIDEST), default=0)
    return {name: name.ljust(widest) for name in names}
