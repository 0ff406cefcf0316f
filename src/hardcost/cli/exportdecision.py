"""`hardcost export` of decisions: tailoring files and waivers."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from hardcost import files
from hardcost.cli import dataout, options
from hardcost.cli.console import note
from hardcost.errors import InputError
from hardcost.profiles import decisions, exporttailoring
from hardcost.report.exports import waivers as forms
from hardcost.report.text import visible
from hardcost.units import count

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from hardcost.profiles.decisions import Decision

_ENDINGS = {".csv": "csv", ".md": "markdown", ".json": "oscal"}


def waivers(
    decision: Path,
    out: Path,
    format: str | None,  # noqa: A002
    *,
    force: bool,
    raw: bool = False,
) -> None:
    """Write a row for each control that a decision gives up."""
    form = format or ("csv" if str(out) == "-" else _ENDINGS.get(out.suffix.lower()))
    if form is None:
        raise InputError(
            f"the name {out} does not say which format it is",
            hint=f"end it in {', '.join(_ENDINGS)}, or give --format",
        )
    form = options.form_of(form, raw=raw)
    read = _read(decision)
    _write(out, forms.WRITERS[form](read, datetime.now(UTC)), force=force)
    unknown = [one.control for one in read.given_up if not one.metric]
    note(f"{count(len(read.given_up), 'waiver')}{_where(out)}")
    _note_all(f"without a measured cost: {name}" for name in unknown)


def tailoring(
    datastream: Path, decision: Path, scap_profile: str, out: Path, *, force: bool
) -> None:
    """Write a tailoring file that unselects what a decision gives up."""
    made = exporttailoring.tailoring(datastream, scap_profile, _read(decision), datetime.now(UTC))
    _write(out, made.text, force=force)
    rules = count(len(made.unselected), "rule")
    note(f"{rules} unselected in the profile {made.profile}{_where(out)}")
    _note_all(f"not in it: {name}: {why}" for name, why in made.left)
    _note_all(made.notes)


def _read(path: Path) -> Decision:
    """Return the decision of a file.

    Raises:
        InputError: It is none, or gives up nothing.
    """
    read = decisions.read(path, options.package_root)
    if not read.given_up:
        raise InputError(
            f"{path} gives up nothing: it has no [[given_up]]",
            hint="`hardcost advise -o DECISION.toml` writes one",
        )
    return read


def _write(out: Path, text: str, *, force: bool) -> None:
    files.check_new(out, force=force)
    dataout.write(out, text.encode())


def _where(out: Path) -> str:
    return "" if str(out) == "-" else f" in {visible(str(out))}"


def _note_all(lines: Iterable[str]) -> None:
    for line in lines:
        note(visible(line))
