"""`hardcost here`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import click

from auditrules.cli.options import EXISTING_FILE, format_option, mix_option, option, takes
from auditrules.cli.verb import Verb


@dataclass(frozen=True)
class _Options:
    """The options of `hardcost here`."""

    root: Path | None = option(
        "--root",
        metavar="FOLDER",
        type=click.Path(path_type=Path, exists=True, file_okay=False),
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
        type=click.Path(path_type=Path),
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
               hardcost here --policy accepted.toml --fail-above 5%
               hardcost here --format prometheus
               hardcost here --format html > here.html
               hardcost here -o this.toml && hardcost bill this.toml
    """
    from auditrules.cli.results import print_bytes
    from auditrules.library.files import check_put, put
    from auditrules.library.histogram import histogram
    from hardcost.cli.console import console
    from hardcost.library.here import HereRequest, Look
    from hardcost.library.here_policy import here_policy
    from hardcost.library.percentages import fraction
    from hardcost.profiles import toml_text
    from hardcost.show.exports import in_force
    from hardcost.show.here import here_lines
    from hardcost.show.json import to_json
    from hardcost.show.site.hardening import hardening_page
    from hardcost.units import count

    limit = None if own.fail_above is None else fraction("fail_above", own.fail_above)
    if own.output is not None:
        check_put(own.output, "-o")
    mix = None if own.histogram is None else histogram(own.histogram)
    policy = None if own.policy is None else here_policy(own.policy)
    request = HereRequest(
        root=own.root, machine=machine, histogram=mix, against=own.against, policy=policy
    )
    look = Look(request)
    if own.output is not None:
        put(own.output, toml_text.text(look.profile).encode())
        console.note(f"{own.output}: {count(len(look.profile.controls), 'control')}")
    found = look.finding
    if own.format == "json":
        click.echo(to_json(found))
    elif own.format == "html":
        print_bytes(hardening_page(found).encode())
    elif own.format != "text":
        form = in_force.markdown_text if own.format == "markdown" else in_force.prometheus_text
        click.echo(form(found), nl=False)
    else:
        for indent, line in here_lines(found):
            console.print_wrapped(line, indent)
        sys.stdout.flush()  # before any note that follows on stderr
    if limit is None:
        return
    rest = found.share if found.not_accepted is None else found.not_accepted
    whole = "" if rest == found.share else f" is not accepted, of {found.share:.1%} in all, and"
    if rest > limit:
        console.note(f"{rest:.1%}{whole} is more than {own.fail_above}")
        raise click.exceptions.Exit(1)
    if found.share > limit:
        console.note(f"{rest:.1%}{whole} is not more than {own.fail_above}")
