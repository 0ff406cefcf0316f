"""Arguments and options of `hardcost export` and its verbs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hardcost.cli.commands import completion
from hardcost.cli.commands.shared import RuleTaker, raw, store_option
from hardcost.cli.lazy import LazyGroup, carried_out_by

if TYPE_CHECKING:
    from collections.abc import Callable

    _Option = Callable[[Callable[..., Any]], Callable[..., Any]]


@click.group(cls=LazyGroup)
def export() -> None:
    """Write results, profiles and decisions as files for other programs.

    PROFILE is what `hardcost bill` takes.

    \b
    Examples:  hardcost export runs -o runs.csv
               hardcost export ansible rhel9-stig -o roles/rhel9_stig
               hardcost export workflow github -o .github/workflows/hardcost.yml
    """


@export.command()
@click.option(
    "-o",
    "--out",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    help="The file to write, whose name ends in .csv, .parquet or .md, or - for standard output.",
)
@click.option(
    "--format",
    type=click.Choice(["csv", "parquet", "markdown"]),
    help="The file's format (default: by its name; csv on standard output).",
)
@raw
@store_option()
@carried_out_by("hardcost.cli.exporting:runs")
def runs() -> None:
    """Write all results of the store as one table.

    Each row is one number, with columns that say what was measured and how; docs/data.md explains
    them. Parquet needs pyarrow: pip install 'pyarrow>=17'.

    \b
    Examples:  hardcost export runs -o runs.csv
               hardcost export runs -o runs.parquet
    """


_OUT = click.option(
    "-o",
    "--out",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    help="The file to write, or - for standard output.",
)
_FORCE = click.option("--force", is_flag=True, help="Overwrite what is there.")
_PROFILE = click.argument("profile", shell_complete=completion.profiles)


def _folder(what: str) -> _Option:
    """Return the option that names a folder to write."""
    return click.option(
        "-o",
        "--out",
        required=True,
        type=click.Path(path_type=Path, file_okay=False),
        help=what,
    )


@export.command(cls=RuleTaker)
@_PROFILE
@_folder("The folder to write, as /etc/audit/rules.d is one; it has to be empty or new.")
@_FORCE
@carried_out_by("hardcost.cli.exportprofile:augenrules")
def augenrules() -> None:
    """Write a profile's audit rules as a folder that augenrules reads.

    What such a file can't express is listed on the terminal and in the file.

    \b
    Example:  hardcost export augenrules stig-reduced -o rules.d
    """


@export.command(cls=RuleTaker)
@_PROFILE
@_OUT
@_FORCE
@carried_out_by("hardcost.cli.exportprofile:sysctl")
def sysctl() -> None:
    """Write a profile's sysctls as a file for /etc/sysctl.d.

    What such a file can't express is listed on the terminal and in the file.

    \b
    Example:  hardcost export sysctl kspp -o 90-kspp.conf
    """


@export.command(cls=RuleTaker)
@_PROFILE
@_OUT
@click.option(
    "--form",
    type=click.Choice(["grub", "bootc", "plain"]),
    help="A file for /etc/default/grub.d, one for bootc's kargs.d, or the words on a line"
    " (default: by the name, .cfg, .toml or another).",
)
@_FORCE
@carried_out_by("hardcost.cli.exportprofile:cmdline")
def cmdline() -> None:
    """Write a profile's boot parameters for GRUB, for bootc, or as a line of words.

    What such a file can't express is listed on the terminal, and in the file where it may have
    comments.

    \b
    Examples:  hardcost export cmdline kspp -o 50-kspp.cfg
               hardcost export cmdline kspp -o 50-kspp.toml
    """


@export.command(cls=RuleTaker)
@_PROFILE
@_OUT
@_FORCE
@carried_out_by("hardcost.cli.exportprofile:kconfig")
def kconfig() -> None:
    """Write a profile's kernel options as a fragment of a kernel configuration.

    What such a file can't express is listed on the terminal and in the file.

    \b
    Example:  hardcost export kconfig kspp -o kspp.config
    """


@export.command()
@click.argument("service", type=click.Choice(["github", "gitlab"]))
@_OUT
@_FORCE
@carried_out_by("hardcost.cli.exportworkflow:workflow")
def workflow() -> None:
    """Write a job that runs `hardcost gate` on each change of your rules, for GitHub or GitLab.

    \b
    Examples:  hardcost export workflow github -o .github/workflows/hardcost.yml
               hardcost export workflow gitlab -o hardcost.gitlab-ci.yml
    """


_DECISION = click.argument("decision", type=click.Path(path_type=Path, dir_okay=False))


@export.command()
@_DECISION
@_OUT
@click.option(
    "--format",
    type=click.Choice(["csv", "markdown", "oscal"]),
    help="The file's format (default: by its name, .csv, .md or .json; csv on standard output).",
)
@raw
@_FORCE
@carried_out_by("hardcost.cli.exportdecision:waivers")
def waivers() -> None:
    """Write a waiver for each control that a decision gives up.

    DECISION is a file that `hardcost advise -o` writes. Each waiver has the control, its ids and
    severity in the benchmark, its measured cost with interval and conditions, and your reason from
    DECISION, or a blank for it. The format oscal is an OSCAL plan of action and milestones (POA&M)
    in JSON.

    \b
    Examples:  hardcost export waivers decision.toml -o waivers.csv
               hardcost export waivers decision.toml -o poam.json
    """


@export.command()
@click.argument("datastream", type=click.Path(path_type=Path, dir_okay=False))
@_DECISION
@click.option(
    "--scap-profile",
    required=True,
    metavar="ID",
    help="The datastream's profile to tailor: its id, or the end of it, such as stig.",
)
@_OUT
@_FORCE
@carried_out_by("hardcost.cli.exportdecision:tailoring")
def tailoring() -> None:
    """Write an XCCDF tailoring file that unselects what a decision gives up.

    DATASTREAM is a SCAP datastream, DECISION a file that `hardcost advise -o` writes. oscap, SCAP
    Workbench and OpenSCAP's Anaconda add-on read such files. Controls for which the datastream has
    no rule are listed.

    \b
    Example:  hardcost export tailoring ssg-rhel9-ds.xml decision.toml --scap-profile stig -o t.xml
              oscap xccdf eval --tailoring-file t.xml
              --profile xccdf_hardcost_profile_stig_decided ssg-rhel9-ds.xml
    """


@export.command(cls=RuleTaker)
@_PROFILE
@_folder("The folder to write, whose name is the role's; it has to be empty or new.")
@_FORCE
@carried_out_by("hardcost.cli.exportprofile:ansible")
def ansible() -> None:
    """Write a profile as an Ansible role.

    The role sets audit rules, sysctls, boot parameters, mount options and services. What it can't
    set is listed on the terminal and in the role's README.

    \b
    Example:  hardcost export ansible rhel9-stig -o roles/rhel9_stig
    """


@export.command(cls=RuleTaker)
@_PROFILE
@_folder("The folder to write; it has to be empty or new.")
@_FORCE
@carried_out_by("hardcost.cli.exportprofile:bpftrace")
def bpftrace() -> None:
    """Write bpftrace scripts that count system calls and audit events on your machine.

    Run them there: they count each system call, the audit events of each key, and the time spent in
    audit. `hardcost rules cost --histogram` reads what calls.bt prints.

    \b
    Example:  hardcost export bpftrace rhel9-stig -o counting
    """
