"""`auditrules lint`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from auditrules.cli.mount import caller_of_verb, complete_rules
from auditrules.cli.options import NamedPath, fail_on_option, option, sarif_file_option, takes
from auditrules.cli.verb import RulesVerb

_FAILS = {"error": {"error"}, "warning": {"error", "warning"}}
"""The levels that make the answer "no", by --fail-on."""


def _list_codes(context: click.Context, _option: click.Parameter, value: bool) -> None:  # noqa: FBT001  (click's)
    """Print the codes that lint knows, and end."""
    if value and not context.resilient_parsing:
        from auditrules.lint.checks import documentations

        for one in documentations():
            click.echo(f"{one.code:18} {one.level:8} {one.title}")
        context.exit()


def _explain_code(context: click.Context, _option: click.Parameter, value: str | None) -> None:
    """Print what a code means, and end."""
    if value and not context.resilient_parsing:
        from auditrules.lint.checks import documentations
        from auditrules.show.lint import documentation_lines

        known = {one.code: one for one in documentations()}
        _check_codes("--explain", (value,))
        click.echo("\n".join(documentation_lines(known[value])))
        context.exit()


@dataclass(frozen=True)
class _Options:
    """The options of `auditrules lint` alone."""

    no_b32: bool = option(
        "--no-b32", is_flag=True, help="No program on the machine can make 32-bit calls."
    )
    root: Path | None = option(
        "--root",
        type=NamedPath(exists=True, file_okay=False),
        help="A folder that represents the machine's /, to check whether the paths in rules exist.",
    )
    select: str | None = option(
        "--select", metavar="CODES", help="Look only for these codes; separate them with commas."
    )
    ignore: str | None = option(
        "--ignore", metavar="CODES", help="Do not look for these codes; separate them with commas."
    )
    all: bool = option("--all", is_flag=True, help="Show each finding in full.")
    list: None = option(
        "--list",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_list_codes,
        help="List all findings that lint looks for.",
    )
    explain: None = option(
        "--explain",
        metavar="CODE",
        is_eager=True,
        expose_value=False,
        callback=_explain_code,
        help="Explain a finding: what it is, why it matters, and what to do.",
    )
    generate_ignore: bool = option(
        "--generate-ignore",
        is_flag=True,
        help="Write today's findings down, as a comment above each line, so that only new ones"
        " fail.",
    )
    fix: bool = option(
        "--fix",
        is_flag=True,
        help="Make the safe repairs, after which the same is proved to be recorded: remove repeated"
        " rules, put cheap conditions first.",
    )
    unsafe_fixes: bool = option(
        "--unsafe-fixes",
        is_flag=True,
        help="Make the other repairs, too: correct a misspelt architecture or call that has exactly"
        " one near name, put arch before -S. What loads today is recorded as before.",
    )
    dry_run: bool = option(
        "--dry-run", is_flag=True, help="With --fix: show the repairs, and write nothing."
    )
    fail_on: str = fail_on_option(
        "The least level of a finding that makes the exit status 1; a note never does.",
    )
    sarif_file: Path | None = sarif_file_option()
    format: str = option(
        "--format",
        type=click.Choice(["text", "json", "sarif"]),
        default="text",
        show_default=True,
        help="The output format.",
    )


@click.command(cls=RulesVerb)
@click.argument("texts", metavar="RULES...", nargs=-1, required=True, shell_complete=complete_rules)
@takes("own", _Options)
def lint(texts: tuple[str, ...], own: _Options) -> None:
    """Find faults and wasted work in audit rules.

    Several RULES are one set of rules, in loading order. Nothing is actually loaded or run. Costs
    are predictions, in instructions on Debian's kernel.

    --fix repairs the files in place: comments, the order of lines and the files' permissions stay.
    The findings shown are then those that remain.

    A comment on the line above a rule leaves findings out; words behind the codes are the reason:

    \b
               # hardcost: ignore=CODE,CODE

    In a job on GitHub, findings are annotations, too. An error is what keeps rules from loading.

    The exit status is 1 if a finding is an error, or of the level that --fail-on names. No format
    changes it.

    \b
    Examples:  auditrules lint /etc/audit/rules.d
               auditrules lint --fix --dry-run my.rules
               auditrules lint --fail-on warning --sarif-file lint.sarif my.rules
               auditrules lint --explain shadowed
    """
    from auditrules.library import lint
    from auditrules.library.files import check_put, put
    from auditrules.show import github
    from auditrules.show.lint import text, to_json, to_sarif

    codes, fix = _codes_of(own), own.fix or own.unsafe_fixes
    _check_together(own, fix=fix)
    if own.sarif_file is not None:
        check_put(own.sarif_file, "--sarif-file")
    request = lint.LintRequest(
        texts,
        codes=codes,
        b32=not own.no_b32,
        root=own.root,
        then="fix" if fix else "ignore" if own.generate_ignore else None,
        unsafe=own.unsafe_fixes,
        write=not own.dry_run,
    )
    caller = caller_of_verb()
    result, sarif = lint.lint(request, caller), ""
    if own.sarif_file is not None or own.format == "sarif":
        sarif = to_sarif(
            result, lint.possible_repairs(result, request.codes, caller), caller.program
        )
    if own.sarif_file is not None:  # also where stdout has no reader
        put(own.sarif_file, f"{sarif}\n".encode(), "the result", "--sarif-file names the file")
    if own.format == "text":
        click.echo(github.make_harmless("\n".join(text(result, show_all=own.all))))
    else:
        print(sarif if own.format == "sarif" else to_json(result))
    if github.is_github_job() and result.found:
        notes = github.diagnostic_annotations(result.found, caller.program)
        click.echo(notes, err=own.format != "text")
    if {one.level.value for one in result.found} & _FAILS[own.fail_on]:
        raise click.exceptions.Exit(1)


def _codes_of(own: _Options) -> tuple[str, ...]:
    """Return the codes of the findings that are asked for, in their order."""
    from auditrules.lint.checks import CODES

    selected, ignored = _codes("--select", own.select), _codes("--ignore", own.ignore)
    return tuple(code for code in selected or CODES if code not in ignored)


def _check_together(own: _Options, *, fix: bool) -> None:
    """Check that the options that write files go together."""
    if own.dry_run and not fix:
        raise click.UsageError("--dry-run shows what --fix would write: give both.")
    if own.generate_ignore and fix:
        raise click.UsageError("--fix and --generate-ignore both write the files: give one.")


def _codes(option: str, value: str | None) -> tuple[str, ...]:
    """Return the codes in an option's list, all of which must exist."""
    codes = tuple(code.strip() for code in (value or "").split(",") if code.strip())
    _check_codes(option, codes)
    return codes


def _check_codes(option: str, codes: Sequence[str]) -> None:
    from auditrules.lint.checks import CODES

    unknown = [code for code in codes if code not in CODES]
    if unknown:
        raise click.BadParameter(
            f"there is no finding {unknown[0]!r}; --list lists them", param_hint=option
        )
