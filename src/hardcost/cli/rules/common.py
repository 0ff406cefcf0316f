"""What the verbs of `hardcost rules` share: reading rules for a machine that is described."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hardcost.auditrules import parse
from hardcost.auditrules.cost import histogram as histograms
from hardcost.auditrules.rule import RulesError, RuleSet
from hardcost.auditrules.translate import Target, translate_all
from hardcost.cli.console import note
from hardcost.controls import watched
from hardcost.controls.written import problems_of
from hardcost.errors import InputError, Place

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hardcost.auditrules.cost.predict import Histogram
    from hardcost.auditrules.kernelrule import KernelRule
    from hardcost.auditrules.rule import Fault

_PASSWD_FIELDS = 3
_AUDIT_OFF = "`-e 0`"


@dataclass(frozen=True)
class Rules:
    """Rules as they were written, and as the kernel would hold them.

    `faults` say what is wrong with those that can't be loaded, which `loaded` is without.
    """

    written: RuleSet
    loaded: tuple[KernelRule, ...]
    faults: tuple[Fault, ...]


def passwd_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that name users and groups."""
    for name, what in (("group", "group"), ("passwd", "user")):
        command = click.option(
            f"--{name}",
            type=click.Path(path_type=Path, exists=True, dir_okay=False),
            help=f"A file such as /etc/{name}, to resolve {what} names by.",
        )(command)
    return command


histogram_option = click.option(
    "--histogram",
    "histogram_file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="How often a workload makes each call: what `strace -c` or `perf trace -s` printed, or"
    ' JSON such as {"openat": 12} (default: an assumed mix of a general-purpose system).',
)
"""Gives a command the option that names a workload's counts of calls."""


def histogram(file: Path | None) -> Histogram:
    """Return how often each call is made, as a file says, else as is assumed.

    Raises:
        InputError: The file is no such counts.
    """
    if file is None:
        return histograms.general()
    try:
        return histograms.read(file.read_bytes(), str(file))
    except RulesError as error:
        raise InputError.of(problems_of(error)) from error


def target(rule_set: RuleSet, passwd: Path | None, group: Path | None) -> Target:
    """Return what is known of the machine that the rules are for."""
    directories, _ = watched.paths(rule_set.rules)
    known = frozenset(directories)
    return Target(
        users=_ids(passwd, "user"),
        groups=_ids(group, "group"),
        is_directory=lambda path: path in known or watched.reason(path) is not None,
    )


def read(paths: Sequence[Path], passwd: Path | None, group: Path | None) -> Rules:
    """Return the rules in files and folders.

    Raises:
        InputError: A line can't be read; all are told at once.
    """
    try:
        written = parse.read(paths, may_be_empty=True)
    except RulesError as error:
        raise InputError.of(problems_of(error)) from error
    tell_if_off(written)
    loaded, faults = translate_all(written.rules, target(written, passwd, group))
    return Rules(written, loaded, faults)


def tell_if_off(written: RuleSet) -> None:
    """Tell of a line that turns audit off, which all that is said of rules leaves aside."""
    for remark in written.notes:
        if _AUDIT_OFF in remark:
            place = remark.partition("`")[0]
            note(f"{place}it turns audit off; what is said here holds while audit is on")


def must_load(rules: Rules) -> tuple[KernelRule, ...]:
    """Return the rules, all of which can be loaded.

    Raises:
        InputError: One can't be.
    """
    if rules.faults:
        raise InputError.of(problems_of(RulesError(rules.faults)))
    return rules.loaded


def _ids(file: Path | None, what: str) -> dict[str, int]:
    """Return the numbers of the names in a file such as /etc/passwd."""
    found = {"root": 0}
    if file is None:
        return found
    for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
        parts = line.split(":")
        if not line.strip() or line.startswith("#"):
            continue
        if len(parts) < _PASSWD_FIELDS or not parts[2].isdecimal():
            raise InputError(
                f"the line does not name a {what} and its number",
                place=Place(str(file), number),
                hint=f"it should look like a line of /etc/{'passwd' if what == 'user' else what}",
            )
        found[parts[0]] = int(parts[2])
    return found
