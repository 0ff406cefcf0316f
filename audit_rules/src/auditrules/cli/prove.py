"""`auditrules prove`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import click

from auditrules.cli.mount import caller_of_verb, complete_rules
from auditrules.cli.options import ReadingOptions, option, takes
from auditrules.cli.verb import RulesVerb
from auditrules.words import visible

SECONDS = 60.0  # prove.DEFAULT_SECONDS
RELEASES = ("6.1", "6.12", "7.2", "7.3")  # lookup.RELEASES; the oldest first
_NO, _UNKNOWN = 1, 3


@dataclass(frozen=True)
class _Options:
    """The options of `auditrules prove` alone."""

    ignore_keys: bool = option(
        "--ignore-keys", is_flag=True, help="Ignore under which keys events are recorded."
    )
    no_b32: bool = option("--no-b32", is_flag=True, help="The machine has no 32-bit calls.")
    at_least: bool = option(
        "--at-least", is_flag=True, help="Let B record more than A, but nothing less."
    )
    ignore_raised: bool = option(
        "--ignore-raised",
        is_flag=True,
        help="Assume that only rules cause records, and not, say, a denial by SELinux. A `never`"
        " rule then changes nothing, unless a later rule would record.",
    )
    seconds: float = option(
        "--seconds",
        metavar="SECONDS",
        type=click.FloatRange(min=0.1),
        default=SECONDS,
        show_default=True,
        help="Give up after this much processor time.",
    )
    release: Literal["6.1", "6.12", "7.2", "7.3"] = option(
        "--release",
        type=click.Choice(RELEASES),
        default=RELEASES[0],
        show_default=True,
        help="The release of Linux that says which calls the permissions of -p and perm mean.",
    )


@click.command(cls=RulesVerb)
@click.argument("a", shell_complete=complete_rules)
@click.argument("b", shell_complete=complete_rules)
@takes("own", _Options)
@takes("reading", ReadingOptions)
def prove(a: str, b: str, own: _Options, reading: ReadingOptions) -> None:
    """Prove that two sets of audit rules record the same, or show an event that proves they don't.

    A and B are what `auditrules --help` calls RULES. They record the same if each event is
    recorded by both or by neither, under the same key and with the same files. The proof covers
    both cases of each path that -w watches, directory and file, unless --root or --paths says which
    it is. It prints its other assumptions.

    The exit status is 1 if they differ, and 3 if no answer was found in time.

    \b
    Examples:  auditrules prove /etc/audit/rules.d new.rules
               auditrules prove old.rules my.rules --ignore-keys
    """
    from auditrules.cli import results
    from auditrules.library import prove
    from auditrules.prove.relation import Relation
    from auditrules.show.prove import document, text

    request = prove.ProveRequest(
        (a, b),
        target=replace(reading.target(), release=own.release),
        leave_out_faulty=reading.leave_out_faulty,
        relation=Relation(own.ignore_keys, own.no_b32, own.at_least, own.ignore_raised),
        seconds=own.seconds,
    )
    found = prove.prove(request, caller_of_verb())
    if reading.format == "json":
        results.print_json(document(found))
    else:
        for line in text(found):
            click.echo(visible(line))
    if not found.result.equal:
        raise click.exceptions.Exit(_UNKNOWN if found.result.equal is None else _NO)
