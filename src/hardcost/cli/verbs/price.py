"""`hardcost price`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

import hardcost
from auditrules.cli.options import format_option, option, takes
from hardcost.cli.input import completion
from hardcost.cli.verb import ProfileTaker

if TYPE_CHECKING:
    from hardcost.model.finding.price import ControlPrices


@dataclass(frozen=True)
class _Options:
    """The options of `hardcost price`."""

    kernel: str | None = option(
        "--kernel",
        metavar="VERSION",
        help="Show the prices of this Linux only, such as 6.1 (default: of each that has a list).",
    )
    search: str | None = option(
        "--search",
        metavar="WORD",
        help="List the controls that have WORD in their name, or in what they protect.",
    )
    all: bool = option("--all", is_flag=True, help="Show every call that costs something.")
    format: str = format_option()


@click.command(cls=ProfileTaker)
@click.argument("what", nargs=-1, metavar="[WHAT]...", shell_complete=completion.priced)
@takes("own", _Options)
def price(what: tuple[str, ...], own: _Options) -> None:
    """Say what a setting costs, at once: nothing is measured, fetched or booted.

    WHAT is a setting (init_on_alloc=1, kernel.yama.ptrace_scope=1, SLUB_DEBUG_ON, SELinux), what a
    benchmark calls it (RHEL-09-654010, a CCE number, rhel9:6.3.3.9 for CIS, an XCCDF rule), or an
    audit rule in quotes.

    Prices of settings come from lists that were measured for Debian's kernels, each setting by
    itself, and say what it adds to each system call. What audit rules cost is predicted. `hardcost
    bill` measures both on your own kernel.

    \b
    Examples:  hardcost price init_on_alloc=1
               hardcost price RHEL-09-213025 --kernel 6.1
               hardcost price '-w /etc/shadow -p wa'
               hardcost price SELinux --all
               hardcost price --search ptrace
    """
    if own.search is not None:
        if what or own.kernel or own.all or own.format == "json":
            raise click.UsageError("--search takes no WHAT, --kernel, --all or JSON")
        _search(own.search)
        return
    asked = tuple(one.strip() for one in what)
    found = hardcost.price(hardcost.PriceRequest(asked, kernel=own.kernel))
    if own.format == "json":
        click.echo(hardcost.to_json(found))
    else:
        _show(found, whole=own.all)


def _search(word: str) -> None:
    """Print the controls that have a word; end with status 1 if there is none."""
    from hardcost.cli.console import console
    from hardcost.library.price import search

    found = search(word)
    for one in found:
        console.print_wrapped(one.name, 0)
        console.print_wrapped(one.protects, 4)
    if not found:
        console.note(f"no control has {word!r} in its name, or in what it protects")
        raise click.exceptions.Exit(1)


def _show(found: ControlPrices, *, whole: bool) -> None:
    """Print prices, one after the other."""
    from hardcost.cli.console import console
    from hardcost.show.prices import words_of

    for note in found.notes:
        console.note(note)
    for nth, one in enumerate(found.controls):
        said = words_of(one, whole=whole)
        if nth:
            click.echo()
        console.print_wrapped(said.title, 0)
        for line in said.about:
            console.print_wrapped(line, 2)
        if said.rows:
            click.echo()
            console.print_columns([("", *row) for row in said.rows])
        for line in said.known:
            console.print_wrapped(line, 2)
    sys.stdout.flush()  # before any note that follows on stderr
