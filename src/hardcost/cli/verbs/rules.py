"""`hardcost rules`: the verbs of the rules engine, and costs that may be measured."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from auditrules.cli.group import auditrules
from auditrules.cli.mount import Mounting
from auditrules.cli.options import NamedPath, ReadingOptions, mix_option, option, takes
from auditrules.cli.verb import RuleTaker
from hardcost.cli.command import VerbGroup
from hardcost.cli.input import completion
from hardcost.cli.input.options import guest_option, qemu_option
from hardcost.errors import InputError

if TYPE_CHECKING:
    from hardcost.library.rules.profile_caller import ProfileCaller

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
        type=NamedPath(),
        shell_complete=completion.kernels,
        help="The kernel whose prices apply: a bzImage, a vmlinux, or 'host' (default: Debian's).",
    )
    guest: str | None = guest_option()
    qemu: str | None = qemu_option()
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
    from auditrules.cli.cost import print_cost
    from auditrules.library.histogram import histogram
    from hardcost.library.rules import cost

    target, on = reading.target(), _timed_on(own)
    if not texts and (on is None or not own.fit):
        message = "name a file or folder of audit rules, or a rule in quotes"
        raise InputError(message, hint="`hardcost rules cost --help` has examples")
    caller = _caller()
    if not texts and on is not None:
        _fit(on, reading.format, caller, yes=own.yes)
        return
    request = cost.MeasuredCostRequest(
        texts,
        target=target,
        leave_out_faulty=reading.leave_out_faulty,
        mix=None if own.histogram is None else histogram(own.histogram),
        timed_on=on,
        fit=own.fit,
        measure=own.measure,
        kernel=own.kernel,
        cpu=own.cpu,
        guest=own.guest,
        qemu=own.qemu,
        yes=own.yes,
    )
    print_cost(cost.cost(request, caller.monitor), reading.format, caller)


def _fit(machine: str, form: str, caller: ProfileCaller, *, yes: bool) -> None:
    """Measure the prices of a machine, and print them."""
    from auditrules.cli import results
    from auditrules.show.fit import document, tables, worth
    from hardcost.library.rules import cost

    prices = cost.fit(machine, caller.monitor, yes=yes)
    if form == "json":
        results.print_json(document(prices))
    else:
        results.show(*tables(prices))
    caller.note(worth(prices))


def _timed_on(own: _Options) -> str | None:
    """Return the machine whose times are wanted; None: it is about instructions."""
    if own.fit_on is not None and not own.fit:
        raise InputError(
            "--machine says where --fit measures", hint="--prices takes what was fitted there"
        )
    if own.prices_of is not None and own.fit:
        raise InputError("--fit fits prices, and --prices takes those that were: use one of them")
    on = own.fit_on if own.prices_of is None else own.prices_of
    if on == "vm" and own.prices_of is None:
        return None
    described = any(one is not None for one in (own.guest, own.kernel, own.qemu))
    if on is not None and (own.measure or described or own.cpu != CPU):
        raise InputError(
            "--measure, --guest, --kernel, --qemu and --cpu are about guests, and prices in ns are"
            " not"
        )
    return on


def _caller() -> ProfileCaller:
    from hardcost.cli.console import progress
    from hardcost.library.rules.profile_caller import ProfileCaller

    return ProfileCaller(progress.monitor_of("auto"))


_WORDS = {"auditrules ": "hardcost rules ", "prove old.rules my": "prove RHEL-09-654010 my"}


@click.group(
    cls=VerbGroup,
    commands={**auditrules.commands, "cost": cost},
    context_settings={"obj": Mounting(_caller, completion.profile_items, _WORDS)},
)
def rules() -> None:
    """Check audit rules, predict their cost, compare two sets, and make them cheaper.

    RULES is a file of rules, or a folder of them such as /etc/audit/rules.d, read as augenrules
    does; - for standard input; a rule in quotes; a profile from `hardcost list profiles` or in
    TOML; FILE.xml:PROFILE for a profile of a SCAP datastream; or what a benchmark calls a control,
    such as RHEL-09-654010.

    \b
    Examples:  hardcost rules lint /etc/audit/rules.d
               hardcost rules cost '-w /etc/passwd -p wa'
               hardcost rules explain RHEL-09-654010 --event 'syscall=execve auid=1000 egid=0'
    """
