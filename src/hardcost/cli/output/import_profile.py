"""Profiles that were read out of other tools' files, written to files."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from auditrules.library import files
from hardcost.cli.console.console import note
from hardcost.controls.control import Profile
from hardcost.errors import InputError
from hardcost.profiles import toml_text
from hardcost.profiles.audit_rules import Imported
from hardcost.profiles.importers.scap.profile import notes
from hardcost.units import count, visible

_STREAM = Path("-")
_READ = {".rules", ".conf"}
"""How files end that are read out of folders."""


def write_profile(profile: Profile, output: Path) -> None:
    """Write the controls that a SCAP profile requires, and report the outcome of each rule."""
    noted = replace(profile, notes=(*profile.notes, *notes(profile.accounting)))
    where = write_or_print(toml_text.text(noted), output)
    note(f"{count(len(profile.controls), 'control')}{where}")
    for one in noted.notes:
        note(visible(one))


def write_rules(imported: Imported, output: Path) -> None:
    """Write audit rules in the form that the output's name asks for, and list those left out."""
    where = write_or_print(
        imported.rules() if output.suffix == ".rules" else imported.toml(), output
    )
    note(f"{count(len(imported.lines), 'line')} of audit rules{where}")
    for one in imported.notes:
        note(visible(one))


def write_or_print(text: str, output: Path) -> str:
    """Write a profile to a file or to stdout; return the words of a note for its location."""
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


def check_kept(output: Path, paths: Sequence[Path]) -> None:
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


def read_report(file: Path, most: int) -> bytes:
    """Return a report's bytes, so many at most.

    Raises:
        InputError: The file can't be read.
    """
    if file == _STREAM:
        return sys.stdin.buffer.read(most + 1)
    return files.content(file, "the report", most, "'-' is standard input")
