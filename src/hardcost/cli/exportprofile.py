"""`hardcost export` of profiles, for the tools that apply them or count for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost import files
from hardcost.cli import arguments, dataout
from hardcost.cli.console import note
from hardcost.errors import InputError, StoreError
from hardcost.profiles import ansiblerole, bpftracescripts, exporters
from hardcost.units import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from hardcost.controls.control import Profile
    from hardcost.profiles.exporters import Exported, Form

_NAME = "hardcost"
_FORMS: dict[str, Form] = {".cfg": "grub", ".toml": "bootc"}


def augenrules(profile: str, out: Path, *, force: bool) -> None:
    """Write a profile's audit rules as a folder that augenrules reads."""
    read = _loaded(profile)
    made = exporters.augenrules(read).required(read)
    _to_folder(out, made.files(_NAME), force=force)
    _said(read, made.controls, made.left, f" to {out}")


def sysctl(profile: str, out: Path, *, force: bool) -> None:
    """Write a profile's sysctls as a file for /etc/sysctl.d."""
    read = _loaded(profile)
    _to_file(read, exporters.sysctl(read).required(read), out, force=force)


def cmdline(profile: str, out: Path, form: Form | None, *, force: bool) -> None:
    """Write a profile's boot parameters."""
    read = _loaded(profile)
    made = exporters.cmdline(read, form or _FORMS.get(out.suffix, "plain"))
    _to_file(read, made.required(read), out, force=force)


def kconfig(profile: str, out: Path, *, force: bool) -> None:
    """Write a profile's kernel options as a fragment."""
    read = _loaded(profile)
    _to_file(read, exporters.kconfig(read).required(read), out, force=force)


def ansible(profile: str, out: Path, *, force: bool) -> None:
    """Write a profile as an Ansible role, whose name is the folder's."""
    read = _loaded(profile)
    made = ansiblerole.role(read, out.resolve().name)
    _to_folder(out, made.files, force=force)
    _said(read, made.controls, made.left, f" to {out}")


def bpftrace(profile: str, out: Path, *, force: bool) -> None:
    """Write scripts that count what a decision about a profile's audit rules rests on."""
    written = bpftracescripts.scripts(_loaded(profile))
    _to_folder(out, written, force=force)
    note(f"{count(len(written), 'file')} written to {out}; its README.md says how to run them")


def _loaded(name: str) -> Profile:
    return arguments.profile(name)


def _to_file(profile: Profile, made: Exported, out: Path, *, force: bool) -> None:
    files.check_new(out, force=force)
    _written(profile, made, out)


def _to_folder(out: Path, texts: Mapping[str, str], *, force: bool) -> None:
    """Write files by their paths in a folder."""
    _folder(out, force=force)
    for at, text in texts.items():
        _made((out / at).parent)
        dataout.write(out / at, text.encode())


def _folder(out: Path, *, force: bool) -> None:
    """Make the folder to write to; one that holds something takes --force."""
    _made(out)
    if any(out.iterdir()) and not force:
        raise InputError(f"the folder {out} is not empty", hint="--force writes into it")


def _made(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder} can't be made: {error.strerror}") from error


def _written(profile: Profile, made: Exported, out: Path) -> None:
    """Write a file, and say what it lacks."""
    dataout.write(out, made.text.encode())
    where = "" if str(out) == "-" else f" to {out}"
    _said(profile, made.controls, made.left, where)


def _said(profile: Profile, controls: int, left: Iterable[tuple[str, str]], where: str) -> None:
    """Say on stderr what was written, and what it lacks."""
    note(f"{count(controls, 'control')} of {profile.name} written{where}")
    for name, why in left:
        note(f"not in it: {name}: {why}")
    for remark in profile.notes:
        note(remark)
