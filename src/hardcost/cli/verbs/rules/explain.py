"""`hardcost rules explain`."""

from __future__ import annotations

from dataclasses import dataclass

import click

from hardcost.cli.input import completion
from hardcost.cli.input.options import ReadingOptions, option, takes
from hardcost.cli.verb import RuleTaker
from hardcost.units import visible


@dataclass(frozen=True)
class _Options:
    """The options of `hardcost rules explain` alone."""

    event: str = option(
        "--event", required=True, metavar="WORDS", help="The system call, as in the example below."
    )
    all: bool = option("--all", is_flag=True, help="Show every rule on a line of its own.")


@click.command(cls=RuleTaker)
@click.argument(
    "texts", metavar="RULES...", nargs=-1, required=True, shell_complete=completion.profiles
)
@takes("own", _Options)
@takes("reading", ReadingOptions)
def explain(texts: tuple[str, ...], own: _Options, reading: ReadingOptions) -> None:
    """Show which rule decides whether a system call is recorded, and what each rule costs it.

    WORDS describe the call by FIELD=VALUE, with the fields of audit rules (defaults in
    parentheses): syscall, arch (b64), exit (0) or success=no, auid (unset), uid (as auid), the
    other user and group ids (as uid), pid, ppid, sessionid, pers, a0 to a3, exe, perm. Give path=
    for each file that the call uses, in order; fields such as filetype, obj_uid, obj_gid and inode
    describe the path before them. perm=r or perm=w says how a call opens its file.

    All paths in the rules are assumed to exist and to be different files. Instructions are
    predictions for Debian's kernel.

    \b
    Example:  hardcost rules explain /etc/audit/rules.d --event \\
                'syscall=openat arch=b64 auid=1000 exit=-13 path=/etc/shadow perm=r'
    """
    from hardcost.cli.console import console, progress
    from hardcost.cli.input import requests
    from hardcost.library.rules import explain
    from hardcost.show.rules.explain import document, text
    from hardcost.show.rules.parts import guesses

    request = explain.ExplainRequest(
        texts,
        target=requests.target(reading),
        leave_out_faulty=reading.leave_out_faulty,
        event=own.event,
    )
    found, rules = explain.explain(request, progress.monitor_of("auto"))
    if reading.format == "json":
        console.print_json(document(found, rules))
    else:
        for line in text(found, show_all=own.all):
            click.echo(visible(line))
    for line in guesses(rules):
        console.note(line)
