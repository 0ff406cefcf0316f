"""Options that several verbs share, each declared once; nothing here imports a verb's work.

A class whose fields are `option`s is a group of options: `takes` adds them to a verb, and gives the
verb their values as one value of that class.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from auditrules.cli.verb import Shared

if TYPE_CHECKING:
    from auditrules.load.target import RuleTarget

Decorator = Callable[[Callable[..., None]], Callable[..., None]]

FORMATS = ("text", "json")
"""The formats of a result, where a verb has no others."""


class NamedPath(click.Path):
    """A file or folder with a name: an empty one would be the current folder."""

    def __init__(self, **how: bool) -> None:
        super().__init__(path_type=Path, **how)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path.

        Raises:
            BadParameter: It is empty, or not as the option asks.
        """
        if value == "":
            self.fail("the name is empty", param, ctx)
        return super().convert(value, param, ctx)


FILE = NamedPath(dir_okay=False)
"""A file that may be missing."""

EXISTING_FILE = NamedPath(exists=True, dir_okay=False)
"""A file that is there."""


def option(*names: str, section: str = "", **attributes: Any) -> Any:
    """Return the default of a field that is an option, in a section of the help or in none."""
    if section:
        attributes |= {"cls": Shared, "section": section}
    return field(metadata={"names": names, "attributes": attributes})


def takes(name: str, group: type, **changes: Sequence[str]) -> Decorator:
    """Return a decorator that adds a group's options to a verb, as its argument `name`.

    `changes` are other choices of options by their names; an option without choices is left out.
    """

    def add_options(verb: Callable[..., None]) -> Callable[..., None]:
        known = [one for one in fields(group) if changes.get(one.name) != ()]

        @functools.wraps(verb)
        def with_group(**words: Any) -> None:
            missing = {one.name: None for one in fields(group)}
            own = {one.name: words.pop(one.name, None) for one in known}
            verb(**words, **{name: group(**missing | own)})

        command: Callable[..., None] = with_group
        for one in reversed(known):
            attributes = dict(one.metadata["attributes"])
            if one.name in changes:
                choices = list(changes[one.name])
                attributes |= {"type": click.Choice(choices), "default": choices[0]}
            command = click.option(one.name, *one.metadata["names"], **attributes)(command)
        return command

    return add_options


def format_option(formats: Sequence[str] = FORMATS, section: str = "") -> Any:
    """Return the option `--format`; the first of the formats is the usual one."""
    return option(
        "--format",
        section=section,
        type=click.Choice(list(formats)),
        default=formats[0],
        show_default=True,
        help="The format of the result.",
    )


def sarif_file_option() -> Any:
    """Return the option `--sarif-file`: a file for a code host, beside what is printed."""
    return option(
        "--sarif-file",
        metavar="FILE",
        type=FILE,
        help="Also write the result as SARIF to this file, whatever --format is.",
    )


def fail_on_option(help_text: str) -> Any:
    """Return the option that says from which level on the exit status is 1."""
    levels = click.Choice(["error", "warning"])
    return option("--fail-on", type=levels, default="error", show_default=True, help=help_text)


def histogram_option(help_text: str) -> Any:
    """Return the option that names a file with how often each call is made."""
    return option("--histogram", type=EXISTING_FILE, help=help_text)


def mix_option() -> Any:
    """Return the option that names the mix of calls."""
    return histogram_option(
        "How often a workload makes each call: the output of `strace -c`, `perf trace -s` or the"
        ' exported calls.bt, or JSON such as {"openat": 12} (default: an assumed mix for a'
        " general-purpose system)."
    )


@dataclass(frozen=True)
class FormatOptions:
    """The option of a verb that prints a result as text or JSON."""

    format: str = format_option()


@dataclass(frozen=True)
class ReadingOptions:
    """The options about the machine that rules are for, and how rules are read and shown."""

    root: Path | None = option(
        "--root",
        type=NamedPath(exists=True, file_okay=False),
        help="A folder with the root file system that the rules are for (/ for this machine), to"
        " look up whether a path that -w watches is a directory.",
    )
    paths: Path | None = option(
        "--paths",
        type=EXISTING_FILE,
        help="The same, without its files: a list of its paths, one per line, with a / after each"
        " directory, as `ls -dLp PATH…` prints it.",
    )
    passwd: Path | None = option(
        "--passwd", type=EXISTING_FILE, help="A file like /etc/passwd, to look up users."
    )
    group: Path | None = option(
        "--group", type=EXISTING_FILE, help="A file like /etc/group, to look up groups."
    )
    leave_out_faulty: bool = option(
        "--leave-out-faulty",
        is_flag=True,
        help="Skip lines that auditctl refuses, as auditctl itself does after a line `-i`.",
    )
    format: str = format_option()

    def target(self) -> RuleTarget:
        """Return the machine that the options describe.

        Raises:
            InputError: A file can't be read, or is not what it should be.
        """
        from auditrules.library.target import rule_target

        return rule_target(root=self.root, paths=self.paths, passwd=self.passwd, group=self.group)
