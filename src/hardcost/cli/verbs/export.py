"""`hardcost export`: files for other programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import click

from auditrules.cli.options import NamedPath, option, takes
from hardcost.cli.command import VerbGroup
from hardcost.cli.input import completion
from hardcost.cli.input.options import raw_option, store_option
from hardcost.cli.verb import ProfileTaker
from hardcost.show.exports.formats import RESULTS

_Option = Callable[[Callable[..., Any]], Callable[..., Any]]
_WORKFLOWS = {"github": "gate.github.yml", "gitlab": "gate.gitlab-ci.yml"}
_FORMS: dict[str, Literal["grub", "bootc", "plain"]] = {".cfg": "grub", ".toml": "bootc"}
_FILE = NamedPath(dir_okay=False, allow_dash=True)


@dataclass(frozen=True)
class _RunsOptions:
    """The options of `hardcost export runs`."""

    out: Path = option(
        "-o",
        "--out",
        required=True,
        type=_FILE,
        help="The file to write, whose name ends in .csv, .parquet or .md, or - for standard"
        " output.",
    )
    format: str | None = option(
        "--format",
        type=click.Choice(tuple(RESULTS)),
        help="The file's format (default: by its name; csv on standard output).",
    )
    raw: bool = raw_option()
    store: Path = store_option()


@dataclass(frozen=True)
class _WaiverOptions:
    """The options of `hardcost export waivers`."""

    out: Path = option(
        "-o",
        "--out",
        required=True,
        type=_FILE,
        help="The file to write, or - for standard output.",
    )
    format: str | None = option(
        "--format",
        type=click.Choice(["csv", "markdown", "oscal"]),
        help="The file's format (default: by its name, .csv, .md or .json; csv on standard"
        " output).",
    )
    raw: bool = raw_option()
    force: bool = option("--force", is_flag=True, help="Overwrite what is there.")


@click.group(cls=VerbGroup)
def export() -> None:
    """Write results, profiles and decisions as files for other programs.

    PROFILE is what `hardcost bill` takes.

    \b
    Examples:  hardcost export runs -o runs.csv
               hardcost export ansible rhel9-stig -o roles/rhel9_stig
               hardcost export workflow github -o .github/workflows/hardcost.yml
    """


@export.command()
@takes("own", _RunsOptions)
def runs(own: _RunsOptions) -> None:
    """Write all results of the store as one table.

    Each row is one number, with columns that say what was measured and how; docs/data.md explains
    them. Parquet needs pyarrow: pip install 'pyarrow>=17'.

    \b
    Examples:  hardcost export runs -o runs.csv
               hardcost export runs -o runs.parquet
    """
    from hardcost.cli.console import data
    from hardcost.cli.output import export_file

    form = export_file.form(own.out, own.format, export_file.TABLE_ENDINGS, raw=own.raw)
    data.check(form, to_stdout=str(own.out) == "-")
    export_file.write_runs(own.store, own.out, form)


_OUT = click.option(
    "-o",
    "--out",
    required=True,
    type=_FILE,
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
        type=NamedPath(file_okay=False),
        help=what,
    )


@export.command(cls=ProfileTaker)
@_PROFILE
@_folder("The folder to write, as /etc/audit/rules.d is one; it has to be empty or new.")
@_FORCE
def augenrules(profile: str, out: Path, *, force: bool) -> None:
    """Write a profile's audit rules as a folder that augenrules reads.

    What such a file can't express is listed on the terminal and in the file.

    \b
    Example:  hardcost export augenrules stig-reduced -o rules.d
    """
    from hardcost.cli.output import export_file
    from hardcost.library.price import with_prices
    from hardcost.library.profiles import profile_named
    from hardcost.mechanisms.audit import AUDIT

    read = with_prices(profile_named(profile))
    made = export_file.require_controls(AUDIT.export(read), read)
    export_file.to_folder(out, made.files("hardcost"), force=force)
    export_file.say(read, made.controls, made.left, f" to {out}")


@export.command(cls=ProfileTaker)
@_PROFILE
@_OUT
@_FORCE
def sysctl(profile: str, out: Path, *, force: bool) -> None:
    """Write a profile's sysctls as a file for /etc/sysctl.d.

    What such a file can't express is listed on the terminal and in the file.

    \b
    Example:  hardcost export sysctl kspp -o 90-kspp.conf
    """
    from hardcost.cli.output import export_file
    from hardcost.library.price import with_prices
    from hardcost.library.profiles import profile_named
    from hardcost.mechanisms.sysctl import SYSCTLS

    read = with_prices(profile_named(profile))
    export_file.to_file(
        read, export_file.require_controls(SYSCTLS.export(read), read), out, force=force
    )


@export.command(cls=ProfileTaker)
@_PROFILE
@_OUT
@click.option(
    "--form",
    type=click.Choice(["grub", "bootc", "plain"]),
    help="A file for /etc/default/grub.d, one for bootc's kargs.d, or the words on a line"
    " (default: by the name, .cfg, .toml or another).",
)
@_FORCE
def cmdline(
    profile: str, out: Path, form: Literal["grub", "bootc", "plain"] | None, *, force: bool
) -> None:
    """Write a profile's boot parameters for GRUB, for bootc, or as a line of words.

    What such a file can't express is listed on the terminal, and in the file where it may have
    comments.

    \b
    Examples:  hardcost export cmdline kspp -o 50-kspp.cfg
               hardcost export cmdline kspp -o 50-kspp.toml
    """
    from hardcost.cli.output import export_file
    from hardcost.library.price import with_prices
    from hardcost.library.profiles import profile_named
    from hardcost.mechanisms.boot import BOOT_PARAMETERS

    read = with_prices(profile_named(profile))
    made = BOOT_PARAMETERS.export(read, form or _FORMS.get(out.suffix, "plain"))
    export_file.to_file(read, export_file.require_controls(made, read), out, force=force)


@export.command(cls=ProfileTaker)
@_PROFILE
@_OUT
@_FORCE
def kconfig(profile: str, out: Path, *, force: bool) -> None:
    """Write a profile's kernel options as a fragment of a kernel configuration.

    What such a file can't express is listed on the terminal and in the file.

    \b
    Example:  hardcost export kconfig kspp -o kspp.config
    """
    from hardcost.cli.output import export_file
    from hardcost.library.price import with_prices
    from hardcost.library.profiles import profile_named
    from hardcost.mechanisms.kconfig import KERNELS

    read = with_prices(profile_named(profile))
    export_file.to_file(
        read, export_file.require_controls(KERNELS.export(read), read), out, force=force
    )


@export.command()
@click.argument("service", type=click.Choice(["github", "gitlab"]))
@_OUT
@_FORCE
def workflow(service: str, out: Path, *, force: bool) -> None:
    """Write a job that runs `hardcost gate` on each change of your rules, for GitHub or GitLab.

    \b
    Examples:  hardcost export workflow github -o .github/workflows/hardcost.yml
               hardcost export workflow gitlab -o hardcost.gitlab-ci.yml
    """
    from auditrules.cli import results
    from auditrules.library import files
    from hardcost.cli.console.console import note
    from hardcost.units import visible

    if str(out) != "-":
        out.parent.mkdir(parents=True, exist_ok=True)
    files.check_new(out, force=force)
    folder = resources.files("hardcost.show.exports").joinpath("workflows")
    results.write(out, folder.joinpath(_WORKFLOWS[service]).read_bytes())
    if str(out) != "-":
        note(
            f"written: {visible(str(out))}; fill in paths, HARDCOST_WHEEL, HARDCOST_SHA256 and"
            " RULES: hardcost is in no package index, so it is installed from a wheel of yours"
        )


_DECISION = click.argument("decision", type=NamedPath(dir_okay=False))


@export.command()
@_DECISION
@takes("own", _WaiverOptions)
def waivers(decision: Path, own: _WaiverOptions) -> None:
    """Write a waiver for each control that a decision gives up.

    DECISION is a file that `hardcost advise -o` writes. Each waiver has the control, its ids and
    severity in the benchmark, its measured cost with interval and conditions, and your reason from
    DECISION, or a blank for it. The format oscal is an OSCAL plan of action and milestones (POA&M)
    in JSON.

    \b
    Examples:  hardcost export waivers decision.toml -o waivers.csv
               hardcost export waivers decision.toml -o poam.json
    """
    from hardcost.cli.console.console import note
    from hardcost.cli.output import export_file
    from hardcost.show.exports.waivers import WRITERS
    from hardcost.units import count

    form = export_file.form(own.out, own.format, export_file.WAIVER_ENDINGS, raw=own.raw)
    read = export_file.decision(decision)
    export_file.write_new(own.out, WRITERS[form](read, datetime.now(UTC)), force=own.force)
    unknown = [one.control for one in read.given_up if not one.metric]
    note(f"{count(len(read.given_up), 'waiver')}{export_file.place_in_words(own.out)}")
    export_file.note_all(f"without a measured cost: {name}" for name in unknown)


@export.command()
@click.argument("datastream", type=NamedPath(dir_okay=False))
@_DECISION
@click.option(
    "--scap-profile",
    required=True,
    metavar="ID",
    help="The datastream's profile to tailor: its id, or the end of it, such as stig.",
)
@_OUT
@_FORCE
def tailoring(
    datastream: Path, decision: Path, scap_profile: str, out: Path, *, force: bool
) -> None:
    """Write an XCCDF tailoring file that unselects what a decision gives up.

    DATASTREAM is a SCAP datastream, DECISION a file that `hardcost advise -o` writes. oscap, SCAP
    Workbench and OpenSCAP's Anaconda add-on read such files. Controls for which the datastream has
    no rule are listed.

    \b
    Example:  hardcost export tailoring ssg-rhel9-ds.xml decision.toml --scap-profile stig -o t.xml
              oscap xccdf eval --tailoring-file t.xml
              --profile xccdf_hardcost_profile_stig_decided ssg-rhel9-ds.xml
    """
    from hardcost.cli.console.console import note
    from hardcost.cli.output import export_file
    from hardcost.profiles.export.tailoring import tailoring_of
    from hardcost.units import count

    read = export_file.decision(decision)
    made = tailoring_of(datastream, scap_profile, read, datetime.now(UTC))
    export_file.write_new(out, made.text, force=force)
    rules = count(len(made.unselected), "rule")
    note(f"{rules} unselected in the profile {made.profile}{export_file.place_in_words(out)}")
    export_file.note_all(f"not in it: {name}: {why}" for name, why in made.left)
    export_file.note_all(made.notes)


@export.command(cls=ProfileTaker)
@_PROFILE
@_folder("The folder to write, whose name is the role's; it has to be empty or new.")
@_FORCE
def ansible(profile: str, out: Path, *, force: bool) -> None:
    """Write a profile as an Ansible role.

    The role sets audit rules, sysctls, boot parameters, mount options and services. What it can't
    set is listed on the terminal and in the role's README.

    \b
    Example:  hardcost export ansible rhel9-stig -o roles/rhel9_stig
    """
    from hardcost.cli.output import export_file
    from hardcost.library.price import with_prices
    from hardcost.library.profiles import profile_named
    from hardcost.profiles.export.ansible import role_of

    read = with_prices(profile_named(profile))
    made = role_of(read, out.resolve().name)
    export_file.to_folder(out, made.files, force=force)
    export_file.say(read, made.controls, made.left, f" to {out}")


@export.command(cls=ProfileTaker)
@_PROFILE
@_folder("The folder to write; it has to be empty or new.")
@_FORCE
def bpftrace(profile: str, out: Path, *, force: bool) -> None:
    """Write bpftrace scripts that count system calls and audit events on your machine.

    Run them there: they count each system call, the audit events of each key, and the time spent in
    audit. `hardcost rules cost --histogram` reads what calls.bt prints.

    \b
    Example:  hardcost export bpftrace rhel9-stig -o counting
    """
    from hardcost.cli.console.console import note
    from hardcost.cli.output import export_file
    from hardcost.library.profiles import profile_named
    from hardcost.profiles.export.bpftrace import scripts
    from hardcost.units import count

    written = scripts(profile_named(profile))
    export_file.to_folder(out, written, force=force)
    note(f"{count(len(written), 'file')} written to {out}; its README.md says how to run them")
