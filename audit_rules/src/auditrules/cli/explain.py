"""`auditrules explain`."""

from __future__ import annotations

from dataclasses import dataclass

import click

from auditrules.cli.mount import caller_of_verb, complete_rules
from auditrules.cli.options import ReadingOptions, option, takes
from auditrules.cli.verb import RulesVerb
from auditrules.words import visible


@dataclass(frozen=True)
class _Options:
    """The options of `auditrules explain` alone."""

    event: str = option(
        "--event", required=True, metavar="WORDS", help="The system call, as in the example below."
    )
    all: bool = option("--all", is_flag=True, help="Show every rule on a line of its own.")


@click.command(cls=RulesVerb)
@click.argument("texts", metavar="RULES...", nargs=-1, required=True, shell_complete=complete_rules)
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
    Example:  auditrules explain /etc/audit/rules.d --event \\
                'syscall=openat arch=b64 auid=1000 exit=-13 path=/etc/shadow perm=r'
    """
    from auditrules.cli import results
    from auditrules.library import explain
    from auditrules.show.explain import document, text
    from auditrules.show.parts import guesses

    caller = caller_of_verb()
    request = explain.ExplainRequest(
        texts,
        target=reading.target(),
        leave_out_faulty=reading.leave_out_faulty,
        event=own.event,
    )
    found, rules = explain.explain(request, caller)
    if reading.format == "json":
        results.print_json(document(found, rules))
    else:
        for line in text(found, show_all=own.all):
            click.echo(visible(line))
    for line in guesses(rules):
        caller.note(line)
