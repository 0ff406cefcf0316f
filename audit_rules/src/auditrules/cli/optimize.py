"""`auditrules optimize`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from auditrules.cli.mount import caller_of_verb, complete_rules
from auditrules.cli.options import NamedPath, ReadingOptions, mix_option, option, takes
from auditrules.cli.verb import RulesVerb
from auditrules.model.errors import InputError
from auditrules.words import visible


@dataclass(frozen=True)
class _Options:
    """The options of `auditrules optimize` alone."""

    out: Path = option(
        "-o",
        "--out",
        required=True,
        type=NamedPath(dir_okay=False, allow_dash=True),
        help="The file to write, or - for standard output; the report then goes to standard error.",
    )
    force: bool = option("--force", is_flag=True, help="Overwrite the file if it exists.")
    histogram: Path | None = mix_option()
    no_b32: bool = option("--no-b32", is_flag=True, help="The machine has no 32-bit calls.")
    allow_never_first: bool = option(
        "--allow-never-first",
        is_flag=True,
        help="Put a `never` rule at the front, for calls that no rule names; the report says what"
        " that gives up.",
    )
    keep_lines: bool = option(
        "--keep-lines",
        is_flag=True,
        help="Keep each rule's line, for scanners that look for lines: rules are only reordered (-A"
        " becomes -a), and --allow-never-first may add one.",
    )


@click.command(cls=RulesVerb)
@click.argument("texts", metavar="RULES...", nargs=-1, required=True, shell_complete=complete_rules)
@takes("own", _Options)
@takes("reading", ReadingOptions)
@click.option(
    "--thorough",
    is_flag=True,
    help="Make every change that saves anything, also where a line is hard to recognise then:"
    " numbers of calls, one rule for both ABIs, ranges of errors.",
)
def optimize(
    texts: tuple[str, ...], own: _Options, reading: ReadingOptions, *, thorough: bool
) -> None:
    """Make audit rules cheaper, and prove that they record the same.

    The optimiser merges the calls of similar rules, drops rules that decide about no call, reorders
    conditions, and narrows rules to the calls that they can match. It makes few changes, which an
    auditor recognises; --thorough makes all. In OUT, each rule has the lines it came from, what the
    change saves, and why the same is recorded; the head has the assumptions of the proof. Costs are
    predicted instructions on Debian's kernel.

    A watch (-w) stays unchanged, since auditctl asks the file system whether its path is a
    directory. With --root or --paths, the optimiser knows, and can make the watch cheaper.

    Where no cheaper set is found, OUT has the same rules. The exit status is 1 if every cheaper set
    that was found makes a call more expensive or could not be proved equal.

    \b
    Example:  auditrules optimize /etc/audit/rules.d -o cheaper.rules
    """
    from auditrules.cli import results
    from auditrules.cost.histogram import general
    from auditrules.library import optimize
    from auditrules.library.arguments import files_of
    from auditrules.library.histogram import histogram
    from auditrules.optimize.optimize import OptimizeOptions
    from auditrules.show.optimize import document, loading_remarks, notes, table, text

    caller, out = caller_of_verb(), str(own.out)
    target = reading.target()
    if out != "-":
        _check(own.out, files_of(texts, caller), force=own.force)
    mix = general() if own.histogram is None else histogram(own.histogram)
    request = optimize.OptimizeRequest(
        texts,
        target=target,
        leave_out_faulty=reading.leave_out_faulty,
        mix=mix,
        options=OptimizeOptions(
            b32=not own.no_b32,
            never_first=own.allow_never_first,
            keep_lines=own.keep_lines,
            thorough=thorough,
        ),
    )
    found = optimize.optimize(request, caller)
    results.write(own.out, found.content.encode(errors="surrogateescape"))
    if reading.format == "json":
        click.echo(results.as_json(document(found, out)), err=out == "-")
    else:
        results.show(table(found.made, mix), err=out == "-")
        for line in text(found, out):
            click.echo(visible(line), err=out == "-")
        for line in notes(assumed=own.histogram is None):
            caller.note(line)
    for line in loading_remarks(found):
        caller.note(line)
    if found.made.kept_because:
        raise click.exceptions.Exit(1)


def _check(out: Path, paths: Sequence[Path], *, force: bool) -> None:
    """Check that writing destroys nothing."""
    from auditrules.library import files

    real = out.resolve()
    inputs = [path.resolve() for path in paths]
    if real in inputs or any(path.is_dir() and real.parent == path for path in inputs):
        raise InputError(
            f"{out} is one of the input files, or in an input folder",
            hint="name another file, review it, and then put it in place",
        )
    files.check_new(out, force=force)
    files.check_put(out, "-o")
