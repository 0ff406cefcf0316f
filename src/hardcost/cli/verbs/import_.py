"""`hardcost import`."""

from __future__ import annotations

from pathlib import Path

import click

from auditrules.cli.options import NamedPath
from hardcost.cli.command import VerbGroup

_STREAM = Path("-")
_output = click.option(
    "-o",
    "--output",
    type=NamedPath(dir_okay=False, allow_dash=True),
    default=_STREAM,
    help="Write the profile to this file, and overwrite it (default: standard output).",
)


@click.group(name="import", cls=VerbGroup)
def import_() -> None:
    """Make a profile from another tool's report or configuration.

    \b
    Examples:  hardcost import khc report.json -o failing.toml
               hardcost import scap ssg-rhel9-ds.xml --scap-profile stig -o stig.toml
               hardcost import audit /etc/audit/rules.d -o rules.toml
               hardcost import sysctl /etc/sysctl.d -o sysctls.toml
    """


@import_.command()
@click.argument("file", type=NamedPath(dir_okay=False, allow_dash=True))
@_output
def khc(file: Path, output: Path) -> None:
    """Make a profile of the checks that kernel-hardening-checker reports as failing.

    FILE is its report in JSON, or '-' for standard input. Checks that no setting of a profile can
    pass are listed in the profile's notes.

    \b
    Example:  kernel-hardening-checker -m json -c /boot/config-$(uname -r) |
              hardcost import khc - -o failing.toml && hardcost bill failing.toml
    """
    from hardcost.cli.console.console import note
    from hardcost.cli.output import import_profile
    from hardcost.profiles.importers.khc import LARGEST, profile_toml, read
    from hardcost.units import count

    name = "stdin" if file == _STREAM else str(file)
    found = read(import_profile.read_report(file, LARGEST), name)
    where = import_profile.write_or_print(profile_toml(found, name), output)
    settings = len(found.options) + len(found.boots) + len(found.sysctls)
    left_out = f"; {len(found.notes)} left out" if found.notes else ""
    note(f"{count(settings, 'setting')}{where}{left_out}")


@import_.command()
@click.argument("file", type=NamedPath(dir_okay=False))
@click.option(
    "--scap-profile",
    required=True,
    metavar="ID",
    help="The datastream's profile: its id, or the end of it, such as stig.",
)
@click.option(
    "--tailoring",
    type=NamedPath(dir_okay=False),
    metavar="FILE",
    help="Change that profile as this XCCDF tailoring file says.",
)
@_output
def scap(file: Path, scap_profile: str, tailoring: Path | None, output: Path) -> None:
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
    from hardcost.cli.output import import_profile
    from hardcost.profiles import audit_rules
    from hardcost.profiles.importers.scap import profile

    import_profile.check_kept(output, [file, *([tailoring] if tailoring else [])])
    if output.suffix == ".rules":
        import_profile.write_rules(audit_rules.of_scap(file, scap_profile, tailoring), output)
    else:
        import_profile.write_profile(
            profile.load_scap_profile(file, scap_profile, tailoring), output
        )


@import_.command()
@click.argument("paths", metavar="FILE...", type=NamedPath(), nargs=-1, required=True)
@_output
def audit(paths: tuple[Path, ...], output: Path) -> None:
    """Make a profile of audit rules from files, and from folders as augenrules reads them.

    If the output's name ends in .rules, it is a file for auditctl, in the order of loading.

    \b
    Example:  hardcost import audit /etc/audit/rules.d -o rules.toml
    """
    from hardcost.cli.output import import_profile
    from hardcost.profiles import audit_rules

    import_profile.check_kept(output, paths)
    import_profile.write_rules(audit_rules.of_files(paths), output)


@import_.command()
@click.argument("paths", metavar="FILE...", type=NamedPath(), nargs=-1, required=True)
@click.option(
    "--leave-out-faulty",
    is_flag=True,
    help="Skip lines of sysctl files that can't be read, with a note, instead of failing.",
)
@_output
def sysctl(paths: tuple[Path, ...], output: Path, *, leave_out_faulty: bool) -> None:
    """Make a profile of sysctls from files, and from folders such as /etc/sysctl.d.

    They are read as systemd-sysctl reads them, in the order given; the last value of a key counts.
    A pattern such as net.ipv4.conf.*.rp_filter sets the keys that match it in a guest. Keys without
    any effect there, such as read-only ones, are left out with a note.

    \b
    Example:  hardcost import sysctl /etc/sysctl.d -o sysctls.toml && hardcost bill sysctls.toml
    """
    from hardcost.cli.console.console import note
    from hardcost.cli.output import import_profile
    from hardcost.profiles.importers.sysctl import read_sysctls
    from hardcost.units import count, visible

    import_profile.check_kept(output, paths)
    found = read_sysctls(paths, leave_out_faulty=leave_out_faulty)
    names = ", ".join(visible(str(path)) for path in paths)
    where = import_profile.write_or_print(found.toml(f"The sysctls in {names}", names), output)
    note(f"{count(len(found.sysctls), 'sysctl')}{where}")
    for one in found.notes:
        note(visible(one))
