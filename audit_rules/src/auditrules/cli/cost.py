"""`auditrules cost`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from auditrules.cli.mount import caller_of_verb, complete_rules
from auditrules.cli.options import ReadingOptions, mix_option, takes
from auditrules.cli.verb import RulesVerb

if TYPE_CHECKING:
    from auditrules.cost.totals import Priced
    from auditrules.library.caller import Caller


@dataclass(frozen=True)
class _Options:
    """The options of `auditrules cost` alone."""

    histogram: Path | None = mix_option()


@click.command(cls=RulesVerb)
@click.argument("texts", metavar="RULES...", nargs=-1, required=True, shell_complete=complete_rules)
@takes("own", _Options)
@takes("reading", ReadingOptions)
def cost(texts: tuple[str, ...], own: _Options, reading: ReadingOptions) -> None:
    """Predict what audit rules cost each system call, in instructions on Debian's kernel.

    A cost is that of a typical call: by an ordinary user, successful, on files that no rule
    watches. Instructions are work, not time. A watch (-w) on a directory adds to the cost of every
    call. Without --root or --paths, a path's name decides whether it is taken for a directory.

    \b
    Examples:  auditrules cost /etc/audit/rules.d
               strace -c -f -o counts.txt make
               auditrules cost --histogram counts.txt stig.rules
    """
    from auditrules.library import cost
    from auditrules.library.histogram import histogram

    request = cost.CostRequest(
        texts,
        target=reading.target(),
        leave_out_faulty=reading.leave_out_faulty,
        mix=None if own.histogram is None else histogram(own.histogram),
    )
    caller = caller_of_verb()
    print_cost(cost.cost(request, caller), reading.format, caller)


def print_cost(found: Priced, form: str, caller: Caller) -> None:
    """Print what rules cost, and what a reader has to know about the numbers."""
    from auditrules.cli import results
    from auditrules.show.cost import document, notes, tables

    if form == "json":
        results.print_json(document(found))
    else:
        results.show(*tables(found))
    for line in notes(found):
        caller.note(line)
