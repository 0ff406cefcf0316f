"""`hardcost here`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import click

from auditrules.cli.options import NamedPath, format_option, mix_option, option, takes
from auditrules.cli.verb import Verb


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
    histogram: Path | None = mix_option()
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
    fail_above: str | None = option(
        "--fail-above",
        metavar="PERCENT",
        help="Exit with status 1 if the hardening adds more than this to a call of the mix.",
    )
    format: str = format_option(("text", "json", "markdown", "prometheus"))


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
    rules by a prediction, and both are weighed by how often a system makes each call.

    \b
    Examples:  hardcost here
               hardcost here ssh:root@host
               hardcost here --against audit-samples
               hardcost here --root /mnt/image --fail-above 5%
               hardcost here --format prometheus
               hardcost here -o this.toml && hardcost bill this.toml
    """
    from auditrules.library.files import check_put, put
    from auditrules.library.histogram import histogram
    from hardcost.cli.console import console
    from hardcost.library.here import HereRequest, Look
    from hardcost.library.percentages import fraction
    from hardcost.profiles import toml_text
    from hardcost.show.exports import in_force
    from hardcost.show.here import here_lines
    from hardcost.show.json import to_json
    from hardcost.units import count

    limit = None if own.fail_above is None else fraction("fail_above", own.fail_above)
    if own.output is not None:
        check_put(own.output, "-o")
    mix = None if own.histogram is None else histogram(own.histogram)
    request = HereRequest(root=own.root, machine=machine, histogram=mix, against=own.against)
    look = Look(request)
    if own.output is not None:
        put(own.output, toml_text.text(look.profile).encode())
        console.note(f"{own.output}: {count(len(look.profile.controls), 'control')}")
    found = look.finding
    if own.format == "json":
        click.echo(to_json(found))
    elif own.format != "text":
        form = in_force.markdown_text if own.format == "markdown" else in_force.prometheus_text
        click.echo(form(found), nl=False)
    else:
        for indent, line in here_lines(found):
            console.print_wrapped(line, indent)
        sys.stdout.flush()  # before any note that follows on stderr
    if limit is not None and found.share > limit:
        console.note(f"{found.share:.1%} is more than {own.fail_above}")
        raise click.exceptions.Exit(1)
