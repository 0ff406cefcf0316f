"""What `hardcost import` is given."""

from __future__ import annotations

from pathlib import Path

import click

from hardcost.cli.lazy import LazyGroup, carried_out_by

_STREAM = Path("-")
_output = click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    default=_STREAM,
    help="Where the profile goes (default: stdout). A file of that name is replaced.",
)


@click.group(name="import", cls=LazyGroup)
def import_() -> None:
    """Make a profile out of what another tool reports or reads.

    \b
    Examples:  hardcost import khc report.json -o failing.toml
               hardcost import scap ssg-rhel9-ds.xml --scap-profile stig -o stig.toml
               hardcost import audit /etc/audit/rules.d -o rules.toml
               hardcost import sysctl /etc/sysctl.d -o sysctls.toml
    """


@import_.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True))
@_output
@carried_out_by("hardcost.cli.importing:khc")
def khc() -> None:
    """Make a profile of what kernel-hardening-checker finds failing.

    FILE is its report in JSON, or '-' for stdin. What the report asks for and a profile can't
    switch on stands in the profile's notes.

    \b
    Example:  kernel-hardening-checker -m json -c /boot/config-$(uname -r) |
              hardcost import khc - -o failing.toml && hardcost bill failing.toml
    """


@import_.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--scap-profile",
    required=True,
    metavar="ID",
    help="A profile of the datastream: its id, or the end of it such as stig.",
)
@_output
@carried_out_by("hardcost.cli.importing:scap")
def scap() -> None:
    """Make a profile of the audit rules that a profile of a SCAP datastream asks for.

    The rules are those that the datastream's repair scripts write on an x86_64 that has none; no
    script is run. Rules whose lines can't be found stand in the notes, and so does how much else
    the SCAP profile asks for. An output that ends in .rules is a file for auditctl.

    \b
    Example:  hardcost import scap /usr/share/xml/scap/ssg/content/ssg-rhel9-ds.xml
              --scap-profile stig -o stig.toml && hardcost bill stig.toml
    """


@import_.command()
@click.argument(
    "paths", metavar="FILE...", type=click.Path(path_type=Path), nargs=-1, required=True
)
@_output
@carried_out_by("hardcost.cli.importing:audit")
def audit() -> None:
    """Make a profile of audit rules: of files, and of folders as augenrules reads them.

    An output that ends in .rules is one file for auditctl, with the lines in the order of loading.

    \b
    Example:  hardcost import audit /etc/audit/rules.d -o rules.toml
    """


@import_.command()
@click.argument(
    "paths", metavar="FILE...", type=click.Path(path_type=Path), nargs=-1, required=True
)
@_output
@carried_out_by("hardcost.cli.importing:sysctl")
def sysctl() -> None:
    """Make a profile of files of sysctls, and of folders such as /etc/sysctl.d.

    They are read as systemd-sysctl reads them, in the order given; of a key that is set twice the
    last holds. Patterns such as net.ipv4.conf.*.rp_filter are refused.

    \b
    Example:  hardcost import sysctl /etc/sysctl.d -o sysctls.toml && hardcost bill sysctls.toml
    """
