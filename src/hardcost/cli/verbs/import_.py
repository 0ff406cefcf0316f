"""Arguments and options of `hardcost import`."""

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
    help="Write the profile to this file, and overwrite it (default: standard output).",
)


@click.group(name="import", cls=LazyGroup)
def import_() -> None:
    """Make a profile from another tool's report or configuration.

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
    """Make a profile of the checks that kernel-hardening-checker reports as failing.

    FILE is its report in JSON, or '-' for standard input. Checks that no setting of a profile can
    pass are listed in the profile's notes.

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
    help="The datastream's profile: its id, or the end of it, such as stig.",
)
@click.option(
    "--tailoring",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Change that profile as this XCCDF tailoring file says.",
)
@_output
@carried_out_by("hardcost.cli.importing:scap")
def scap() -> None:
    """Make a profile of what a SCAP datastream's profile requires.

    The profile has the audit rules, sysctls, boot parameters, mount options, daemons and SELinux
    state that the datastream's repair scripts would set on an x86_64 machine. The scripts are read,
    not run. The profile's notes say what became of each rule of the SCAP profile. If the output's
    name ends in .rules, only the audit rules are written, as a file for auditctl.

    \b
    Examples:  hardcost import scap /usr/share/xml/scap/ssg/content/ssg-rhel9-ds.xml
               --scap-profile stig -o stig.toml && hardcost bill stig.toml
               hardcost import scap ssg-rhel9-ds.xml --scap-profile stig --tailoring ours.xml
    """


@import_.command()
@click.argument(
    "paths", metavar="FILE...", type=click.Path(path_type=Path), nargs=-1, required=True
)
@_output
@carried_out_by("hardcost.cli.importing:audit")
def audit() -> None:
    """Make a profile of audit rules from files, and from folders as augenrules reads them.

    If the output's name ends in .rules, it is a file for auditctl, in the order of loading.

    \b
    Example:  hardcost import audit /etc/audit/rules.d -o rules.toml
    """


@import_.command()
@click.argument(
    "paths", metavar="FILE...", type=click.Path(path_type=Path), nargs=-1, required=True
)
@click.option(
    "--leave-out-faulty",
    is_flag=True,
    help="Skip lines of sysctl files that can't be read, with a note, instead of failing.",
)
@_output
@carried_out_by("hardcost.cli.importing:sysctl")
def sysctl() -> None:
    """Make a profile of sysctls from files, and from folders such as /etc/sysctl.d.

    They are read as systemd-sysctl reads them, in the order given; the last value of a key counts.
    A pattern such as net.ipv4.conf.*.rp_filter sets the keys that match it in a guest. Keys without
    any effect there, such as read-only ones, are left out with a note.

    \b
    Example:  hardcost import sysctl /etc/sysctl.d -o sysctls.toml && hardcost bill sysctls.toml
    """
