"""`hardcost here`."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from auditrules.cli.options import (
    EXISTING_FILE,
    NamedPath,
    format_option,
    mix_option,
    option,
    takes,
)
from auditrules.cli.verb import Verb

if TYPE_CHECKING:
    from hardcost.library.here import HereRequest
    from hardcost.model.finding.here import HereFinding


@dataclass(frozen=True)
class _Options:
    """The options of `hardcost here`."""

    root: Path | None = option(
        "--root",
        metavar="FOLDER",
        type=NamedPath(exists=True, file_okay=False),
        help="Look at the system in this folder, such as a mounted image: at what its files would"
        " put in force. No link in it leads outside.",
    )
    sample: str | None = option(
        "--sample",
        metavar="SECONDS",
        help="Count the machine's own system calls for so long, such as 10s, and weigh the prices"
        " by them: with bpftrace or perf, which need rights, else by what /proc counts.",
    )
    strace: int | None = option(
        "--strace",
        metavar="PID",
        type=click.IntRange(1),
        help="Count the calls of this process instead, with strace, which makes it many times"
        " slower meanwhile.",
    )
    histogram: Path | None = mix_option()
    cheaper: bool = option(
        "--cheaper",
        is_flag=True,
        help="Look for audit rules that record the same and cost less, and prove it; -o then writes"
        " these.",
    )
    fit: bool = option(
        "--fit",
        is_flag=True,
        help="Measure on this machine's own kernel what is in force, in guests, instead of taking"
        " the prices of the nearest of Debian's kernels; some minutes.",
    )
    against: str | None = option(
        "--against",
        metavar="PROFILE",
        help="Say also what this profile asks for and is not in force, and what of it would be"
        " free.",
    )
    output: Path | None = option(
        "-o",
        "--output",
        metavar="FILE",
        type=NamedPath(),
        help="Write what was set as a profile, for `bill`, `advise`, `gate` and `export`.",
    )
    policy: Path | None = option(
        "--policy",
        metavar="FILE",
        type=EXISTING_FILE,
        help="A file of TOML with what is accepted whatever it costs: tables [[accept]], each with"
        " an item's id, a reason, and perhaps a last day, until.",
    )
    fail_above: str | None = option(
        "--fail-above",
        metavar="PERCENT",
        help="Exit with status 1 if the hardening adds more than this to a call of the mix; what"
        " --policy accepts is left out.",
    )
    format: str = format_option(("text", "json", "markdown", "prometheus", "html"))


_SECONDS = re.compile(r"([0-9]{1,6}) ?(s|m|min)?")
_OF_UNIT = {None: 1, "s": 1, "m": 60, "min": 60}


@click.command(cls=Verb)
@click.argument("machine", required=False, metavar="[MACHINE]")
@takes("own", _Options)
def here(machine: str | None, own: _Options) -> None:
    """Say what the hardening of this machine costs, without measuring or changing anything.

    MACHINE is another one, ssh:USER@HOST, which is looked at over one connection of ssh; nothing is
    left there.

    What is in force is read from the kernel and from files: audit rules, sysctls, boot parameters,
    security modules, kernel options, mount options and daemons, each with the line that sets it.
    What only root may see is named. Settings are priced by the lists that come with hardcost, audit
    rules by a prediction, and both are weighed by how often a system makes each call: an assumed
    one, unless --sample counts this machine's calls.

    \b
    Examples:  hardcost here
               hardcost here ssh:root@host
               hardcost here --sample 10s
               hardcost here --against audit-samples
               hardcost here --root /mnt/image --fail-above 5%
               hardcost here --policy accepted.toml --fail-above 5%
               hardcost here --format prometheus
               hardcost here --format html > here.html
               hardcost here -o this.toml && hardcost bill this.toml
               hardcost here --cheaper -o cheaper.toml
    """
    from auditrules.library.files import check_put, put
    from hardcost.cli.console import console, progress
    from hardcost.library.here import Look
    from hardcost.library.percentages import fraction
    from hardcost.profiles import toml_text
    from hardcost.units import count

    limit = None if own.fail_above is None else fraction("fail_above", own.fail_above)
    if own.output is not None:
        check_put(own.output, "-o")
    look = Look(_request(machine, own), progress.monitor_of("auto"))
    if own.output is not None:
        put(own.output, toml_text.text(look.profile).encode())
        written = sum(not one.in_baseline for one in look.profile.controls)
        console.note(f"{own.output}: {count(written, 'control')}")
    found = look.finding
    _print(found, own.format)
    if limit is not None:
        _judge(found, limit)


def _request(machine: str | None, own: _Options) -> HereRequest:
    """Return what is asked for.

    Raises:
        InputError: An option has no such value.
    """
    from auditrules.library.histogram import histogram
    from hardcost.library.here import HereRequest
    from hardcost.library.here_policy import here_policy

    return HereRequest(
        root=own.root,
        machine=machine,
        histogram=None if own.histogram is None else histogram(own.histogram),
        sample=None if own.sample is None else _seconds(own.sample),
        strace=own.strace,
        cheaper=own.cheaper,
        fit=own.fit,
        against=own.against,
        policy=None if own.policy is None else here_policy(own.policy),
    )


def _print(found: HereFinding, form: str) -> None:
    """Print what was found in a format."""
    from auditrules.cli.results import print_bytes
    from hardcost.cli.console import console
    from hardcost.show.exports import in_force
    from hardcost.show.here import here_lines
    from hardcost.show.json import to_json

    match form:
        case "json":
            click.echo(to_json(found))
        case "html":
            from hardcost.show.site.hardening import hardening_page

            print_bytes(hardening_page(found).encode())
        case "markdown":
            click.echo(in_force.markdown_text(found), nl=False)
        case "prometheus":
            click.echo(in_force.prometheus_text(found), nl=False)
        case _:
            for indent, line in here_lines(found):
                console.print_wrapped(line, indent)
            sys.stdout.flush()  # before any note that follows on stderr


def _judge(found: HereFinding, limit: float) -> None:
    """Exit with status 1 if what is not accepted adds more than a share."""
    from hardcost.cli.console import console

    rest = found.share if found.not_accepted is None else found.not_accepted
    whole = "" if rest == found.share else f" is not accepted, of {found.share:.1%} in all, and"
    if rest > limit:
        console.note(f"{rest:.1%}{whole} is more than {limit:.1%}")
        raise click.exceptions.Exit(1)
    if found.share > limit:
        console.note(f"{rest:.1%}{whole} is not more than {limit:.1%}")


def _seconds(text: str) -> int:
    """Return the seconds of `10s`, `2m` or `10`.

    Raises:
        InputError: It is no time.
    """
    from hardcost.errors import RequestError

    found = _SECONDS.fullmatch(text.strip())
    if found is None:
        raise RequestError(f"`sample`: '{text}' is no time", hint="such as 10s or 2m")
    return int(found[1]) * _OF_UNIT[found[2]]
