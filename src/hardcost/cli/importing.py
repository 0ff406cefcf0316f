"""`hardcost import`: profiles out of what other tools write."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
import tomli_w

from hardcost import files
from hardcost.cli.console import note
from hardcost.errors import InputError
from hardcost.profiles import auditprofile, profiletoml, scapprofile
from hardcost.profiles.importers import khc as reports
from hardcost.profiles.importers import sysctld
from hardcost.report.text import visible
from hardcost.units import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.profiles.auditprofile import Imported

_STREAM = Path("-")
_READ = {".rules", ".conf"}
"""How files end that are read out of folders."""


def khc(file: Path, output: Path) -> None:
    """Make a profile of what kernel-hardening-checker finds failing."""
    name = "stdin" if file == _STREAM else str(file)
    findings = reports.read(_content(file), name)
    where = _put(reports.profile_toml(findings, name), output)
    settings = len(findings.options) + len(findings.boots) + len(findings.sysctls)
    left_out = f"; {len(findings.notes)} left out" if findings.notes else ""
    note(f"{count(settings, 'setting')}{where}{left_out}")


def scap(file: Path, scap_profile: str, tailoring: Path | None, output: Path) -> None:
    """Make a profile of what a SCAP profile requires; if a file of rules, of its audit rules."""
    _check_kept(output, [file, *([tailoring] if tailoring else [])])
    if output.suffix == ".rules":
        _write(auditprofile.of_scap(file, scap_profile, tailoring), output)
        return
    profile = scapprofile.load(file, scap_profile, tailoring)
    noted = replace(profile, notes=(*profile.notes, *scapprofile.notes(profile.accounting)))
    where = _put(tomli_w.dumps(profiletoml.tables(noted)), output)
    note(f"{count(len(profile.controls), 'control')}{where}")
    for one in noted.notes:
        note(visible(one))


def audit(paths: tuple[Path, ...], output: Path) -> None:
    """Make a profile of audit rules: of files, and of folders as augenrules reads them."""
    _check_kept(output, paths)
    _write(auditprofile.of_files(paths), output)


def sysctl(paths: tuple[Path, ...], output: Path, *, leave_out_faulty: bool = False) -> None:
    """Make a profile of files of sysctls, and of folders such as /etc/sysctl.d."""
    _check_kept(output, paths)
    found = sysctld.read(paths, leave_out_faulty=leave_out_faulty)
    names = ", ".join(visible(str(path)) for path in paths)
    where = _put(found.toml(f"The sysctls in {names}", names), output)
    note(f"{count(len(found.sysctls), 'sysctl')}{where}")
    for one in found.notes:
        note(visible(one))


def _write(imported: Imported, output: Path) -> None:
    """Write audit rules in the form that the output's name asks for, and say what was left out."""
    where = _put(imported.rules() if output.suffix == ".rules" else imported.toml(), output)
    note(f"{count(len(imported.lines), 'line')} of audit rules{where}")
    for one in imported.notes:
        note(visible(one))


def _put(text: str, output: Path) -> str:
    """Write a profile to a file or to stdout; return what a note says of where it is."""
    if output == _STREAM:
        click.echo(text, nl=False)
        return ""
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise InputError("a name in it is not UTF-8, which a profile has to be") from None
    files.check_put(output)  # a wrong name is the user's, as all of an import is
    files.put(output, data)
    return f" in {visible(str(output))}"


def _check_kept(output: Path, paths: Sequence[Path]) -> None:
    """Check that the output takes no input away, nor joins the folder that they are in.

    Raises:
        InputError: It would.
    """
    real = output.resolve()
    inputs = [path.resolve() for path in paths]
    if real in inputs or (output.suffix in _READ and real.parent in inputs):
        raise InputError(
            f"{output} is, or lies among, the files that are read", hint="name another file"
        )


def _content(file: Path) -> bytes:
    """Return the report's bytes.

    Raises:
        InputError: The file can't be read.
    """
    if file == _STREAM:
        return sys.stdin.buffer.read(reports.LARGEST + 1)
    return files.content(file, "the report", reports.LARGEST, "'-' is standard input")
