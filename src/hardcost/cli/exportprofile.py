"""`hardcost export` of profiles: rules.d, sysctl.d, boot parameters, kernel options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.cli import dataout, options
from hardcost.cli.console import note
from hardcost.errors import InputError, StoreError
from hardcost.profiles import catalogue, exporters
from hardcost.units import count

if TYPE_CHECKING:
    from pathlib import Path

    from hardcost.controls.control import Profile
    from hardcost.profiles.exporters import Exported, Form

_RULES = "50-hardcost.rules"
_FORMS: dict[str, Form] = {".cfg": "grub", ".toml": "bootc"}


def augenrules(profile: str, out: Path, *, force: bool) -> None:
    """Write a profile's audit rules as a folder that augenrules reads."""
    read = _loaded(profile)
    made = exporters.augenrules(read)
    if out.exists() and any(out.iterdir()) and not force:
        raise InputError(f"the folder {out} is not empty", hint="--force writes into it")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{out} can't be made: {error.strerror}") from error
    _written(read, made, out / _RULES)


def sysctl(profile: str, out: Path, *, force: bool) -> None:
    """Write a profile's sysctls as a file for /etc/sysctl.d."""
    read = _loaded(profile)
    _to_file(read, exporters.sysctl(read), out, force=force)


def cmdline(profile: str, out: Path, form: Form | None, *, force: bool) -> None:
    """Write a profile's boot parameters."""
    read = _loaded(profile)
    made = exporters.cmdline(read, form or _FORMS.get(out.suffix, "plain"))
    _to_file(read, made, out, force=force)


def kconfig(profile: str, out: Path, *, force: bool) -> None:
    """Write a profile's kernel options as a fragment."""
    read = _loaded(profile)
    _to_file(read, exporters.kconfig(read), out, force=force)


def _loaded(name: str) -> Profile:
    return catalogue.load(name, options.package_root)


def _to_file(profile: Profile, made: Exported, out: Path, *, force: bool) -> None:
    if str(out) != "-" and out.exists() and not force:
        raise InputError(f"{out} exists", hint="--force overwrites it")
    _written(profile, made, out)


def _written(profile: Profile, made: Exported, out: Path) -> None:
    """Write a file, and say what it lacks."""
    dataout.write(out, made.text.encode())
    where = "" if str(out) == "-" else f" to {out}"
    note(f"{count(made.controls, 'control')} of {profile.name} written{where}")
    for name, why in made.left:
        note(f"not in it: {name}: {why}")
    for remark in profile.notes:
        note(remark)
