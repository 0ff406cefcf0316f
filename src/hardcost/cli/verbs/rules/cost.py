"""`hardcost rules cost`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from hardcost.cli.input import completion
from hardcost.cli.input.options import ReadingOptions, mix_option, option, takes
from hardcost.cli.verb import RuleTaker
from hardcost.errors import InputError

CPU = "max"  # library.rules.cost.DEFAULT_CPU


@dataclass(frozen=True)
class _Options:
    """The options of `hardcost rules cost` alone."""

    histogram: Path | None = mix_option()
    measure: bool = option(
        "--measure", is_flag=True, help="Also measure in a guest, and show both numbers."
    )
    fit: bool = option(
        "--fit",
        is_flag=True,
        help="Measure the prices of single rules again, by which costs are predicted: for --kernel"
        " in a guest, in about 3 minutes, or in nanoseconds on --machine, in about 10.",
    )
    fit_on: str | None = option(
        "--machine",
        metavar="NAME",
        shell_complete=completion.machines,
        help="Where --fit measures: in nanoseconds on host or ssh:root@HOST (default: in"
        " instructions in a guest).",
    )
    prices_of: str | None = option(
        "--prices",
        metavar="NAME",
        shell_complete=completion.machines,
        help="Predict nanoseconds, by the prices that --fit --machine NAME has measured.",
    )
    yes: bool = option(
        "--yes",
        is_flag=True,
        help="Let --fit load rules on this host (as root), or on a machine where users are logged"
        " in.",
    )
    kernel: Path | None = option(
        "--kernel",
        type=click.Path(path_type=Path),
        shell_complete=completion.kernels,
        help="The kernel whose prices apply: a bzImage, a vmlinux, or 'host' (default: Debian's).",
    )
    cpu: str = option(
        "--cpu", metavar="MODEL", default=CPU, show_default=True, help="QEMU's processor model."
    )


@click.command(cls=RuleTaker)
@click.argument("texts", metavar="[RULES]...", nargs=-1, shell_complete=completion.profiles)
@takes("own", _Options)
@takes("reading", ReadingOptions)
def cost(texts: tuple[str, ...], own: _Options, reading: ReadingOptions) -> None:
    """Predict what audit rules cost each system call, in instructions or nanoseconds.

    Nothing is booted: hardcost comes with the prices of single rules on Debian's kernel. For
    another kernel, or with --fit, they are measured in a guest once and kept with that kernel.

    A cost is that of a typical call: by an ordinary user, successful, on files that no rule
    watches. Instructions are work, not time. A watch (-w) on a directory adds to the cost of every
    call. Without --root or --paths, hardcost guesses from a path's name whether it is a directory.

    With --prices, costs are in nanoseconds on one machine. --fit --machine measures the prices: it
    loads about a hundred small rule sets there, one after another, times calls under each, and
    restores the machine's own rules. It also reports how far predictions are off, for sets that it
    kept out of the fit.

    \b
    Examples:  hardcost rules cost /etc/audit/rules.d
               strace -c -f -o counts.txt make
               hardcost rules cost --histogram counts.txt stig.rules
               hardcost rules cost --measure stig.rules
               hardcost rules cost --fit --machine ssh:root@web1
               hardcost rules cost --prices ssh:root@web1 /etc/audit/rules.d
    """
    from hardcost.cli.console import console, progress
    from hardcost.cli.input import requests
    from hardcost.library.bills.weights import histogram
    from hardcost.library.rules import cost
    from hardcost.show.rules.cost import document, notes, tables

    target, on = requests.target(reading), _timed_on(own)
    monitor = progress.monitor_of("auto")
    if not texts and (on is None or not own.fit):
        message = "name a file or folder of audit rules, or a rule in quotes"
        raise InputError(message, hint="`hardcost rules cost --help` has examples")
    if not texts and on is not None:
        _fit(on, reading.format, yes=own.yes)
        return
    request = cost.CostRequest(
        texts,
        target=target,
        leave_out_faulty=reading.leave_out_faulty,
        mix=None if own.histogram is None else histogram(own.histogram),
        timed_on=on,
        fit=own.fit,
        measure=own.measure,
        kernel=own.kernel,
        cpu=own.cpu,
        yes=own.yes,
    )
    found = cost.cost(request, monitor)
    if reading.format == "json":
        console.print_json(document(found))
    else:
        console.show(*tables(found))
    for line in notes(found):
        console.note(line)


def _fit(machine: str, form: str, *, yes: bool) -> None:
    """Measure the prices of a machine, and print them."""
    from hardcost.cli.console import console, progress
    from hardcost.library.rules import cost
    from hardcost.show.rules.fit import document, tables, worth

    prices = cost.fit(machine, progress.monitor_of("auto"), yes=yes)
    if form == "json":
        console.print_json(document(prices))
    else:
        console.show(*tables(prices))
    console.note(worth(prices))


def _timed_on(own: _Options) -> str | None:
    """Return the machine whose times are wanted; None: it is about instructions.

    Raises:
        InputError: Options contradict each other.
    """
    if own.fit_on is not None and not own.fit:
        raise InputError(
            "--machine says where --fit measures", hint="--prices takes what was fitted there"
        )
    if own.prices_of is not None and own.fit:
        raise InputError("--fit fits prices, and --prices takes those that were: use one of them")
    on = own.fit_on if own.prices_of is None else own.prices_of
    if on == "vm" and own.prices_of is None:
        return None
    if on is not None and (own.measure or own.kernel is not None or own.cpu != CPU):
        raise InputError("--measure, --kernel and --cpu are about guests, and prices in ns are not")
    return on
