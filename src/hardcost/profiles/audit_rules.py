"""Profiles of audit rules alone, as TOML or as a rules file, imported from other formats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tomli_w

from auditrules.model.rule import RuleKind
from auditrules.read import parse
from hardcost.errors import InputError
from hardcost.profiles.importers.scap.datastream import selection_of
from hardcost.profiles.importers.scap.rules import rules_of_selected

_SAY_NOTHING = frozenset({RuleKind.BLANK, RuleKind.COMMENT, RuleKind.REPLACED})


@dataclass(frozen=True)
class Imported:
    """Lines of audit rules in load order, with what required each (or "").

    `notes` say what was not imported.
    """

    title: str
    source: str
    lines: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]

    def toml(self) -> str:
        """Return them as the TOML file of a profile, which `catalogue.load` reads."""
        notes = {"notes": list(self.notes)} if self.notes else {}
        rules = {"rules": [text for text, _ in self.lines]} if self.lines else {}
        return tomli_w.dumps({"title": self.title, "source": self.source, **notes, "audit": rules})

    def rules(self) -> str:
        """Return them as a file of audit rules, with comments that say what required them."""
        blocks = [f"# {self.title}", f"# {self.source}", *(f"# {note}" for note in self.notes)]
        last = ""
        for text, why in self.lines:
            if why != last:
                blocks += ["", *(f"# {one}" for one in why.splitlines())]
                last = why
            blocks.append(text)
        return "\n".join(blocks) + "\n"


def of_scap(path: Path, wanted: str, tailoring: Path | None = None) -> Imported:
    """Return the audit rules that the profile `wanted` of a SCAP datastream requires.

    Raises:
        InputError: As `scap.audit_rules` does; or the profile requires no audit rules.
    """
    found = rules_of_selected(selection_of(path, wanted, tailoring))
    shown = _printable(str(path))
    missing = [f"{one.rule} is not imported: {one.why}" for one in found.not_found]
    if not found.lines:
        raise InputError(f"the profile {wanted} requires no audit rules", hint="; ".join(missing))
    notes = [*missing]
    if found.elsewhere:
        notes.append(f"{len(found.elsewhere)} of its rules are for other architectures")
    if found.not_taken:
        notes.append(f"{found.not_taken} of its rules are not about audit rules and are skipped")
    return Imported(
        title=f"The audit rules of {found.title}",
        source=f"SCAP datastream {shown}, profile {found.profile}",
        lines=tuple((line.text, "\n".join(line.asked_by)) for line in found.lines),
        notes=tuple(_printable(note) for note in notes),
    )


def of_files(paths: Sequence[Path]) -> Imported:
    """Return the audit rules in files and folders, in load order.

    Raises:
        InputError: A line can't be read; all such lines are reported at once.
    """
    found = parse.read(paths)
    lines = [
        (reading.text, reading.place.file)
        for readings, _ in parse.read_each(paths)
        for reading in readings
        if reading.kind not in _SAY_NOTHING
    ]
    names = ", ".join(_printable(str(path)) for path in paths)
    return Imported(
        title=f"The audit rules in {names}",
        source=names,
        lines=tuple((text, _printable(file)) for text, file in lines),
        notes=tuple(map(_printable, found.notes)),
    )


def _printable(text: str) -> str:
    """Return text without anything that could end a comment or act on a terminal."""
    return text if text.isprintable() else ascii(text)
