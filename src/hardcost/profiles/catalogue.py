"""The catalogue of profiles: named lists of controls, each a TOML file in `catalogue/`.

A profile of the user's own is a file of the same form, a file of audit rules or of sysctls, a
folder of either, a profile of a SCAP datastream (`FILE.xml:PROFILE`), what a benchmark calls a
control (`RHEL-09-654010`), or a single `KEY=VALUE`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from importlib import resources
from pathlib import Path

from auditrules.library import files
from auditrules.load import watched_paths
from auditrules.model.location import Location
from auditrules.model.rule import RuleSet
from auditrules.read import parse
from hardcost.controls.control import Controls, Profile
from hardcost.errors import HardcostError, InputError, Problem
from hardcost.mechanisms.audit import controls_of
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.profiles import benchmark_ids
from hardcost.profiles.control_tables import ControlsTable, PackageRoot, Resolver
from hardcost.profiles.decision_entry import GivenUp
from hardcost.profiles.importers.sysctl import (
    is_file_of_sysctls,
    is_folder_of_sysctls,
    is_text_of_sysctls,
    read_sysctls,
    read_sysctls_text,
)
from hardcost.toml import read
from hardcost.toml.read import TomlFile

_FOLDER = Path(str(resources.files("hardcost.profiles"))) / "catalogue"
_IN_STREAM = re.compile(r"(?P<file>.+\.xml):(?P<profile>[\w.-]+)")
_KEY = re.compile(r"\[|[\w-]+\s*=")
"""The beginning of a profile in TOML."""


class ProfileFile(ControlsTable):
    """A profile's file: its title, its source, notes for the reader, and its controls.

    The title defaults to the profile's name. `given_up` is what a decision leaves out.
    """

    title: str = ""
    source: str = ""
    notes: tuple[str, ...] = ()
    given_up: tuple[GivenUp, ...] = ()


def names() -> tuple[str, ...]:
    """Return the names of the profiles in the catalogue, sorted."""
    return read.names_in(_FOLDER)


def titles() -> dict[str, str]:
    """Return the title of each profile in the catalogue by its name."""
    return read.titles_in(_FOLDER)


def is_there(text: str) -> bool:
    """Say whether `load` would find something of that name."""
    try:
        if text in names() or (text and Path(text).exists()):
            return True
    except (OSError, ValueError):
        return True  # loading says what is wrong
    inside = _IN_STREAM.fullmatch(text)
    setting = "=" in text and "." in text
    return setting or inside is not None or benchmark_ids.is_name(text)


def holds_no_rules(path: Path) -> bool:
    """Say whether a file or folder holds something else than lines of audit rules.

    Raises:
        OSError: It can't be read.
    """
    if path.is_file() and path.suffix in {".toml", ".xml"}:
        return True
    return _holds_sysctls(path)


def controls(package_root: PackageRoot | None = None) -> tuple[tuple[str, str, str], ...]:
    """Return (profile, mechanism, name) of each control in the catalogue.

    Profiles whose rules come with an unavailable package are left out.
    """
    found: list[tuple[str, str, str]] = []
    for name in names():
        try:
            profile = load(name, package_root)
        except HardcostError:
            continue
        found.extend((name, control.mechanism, control.name) for control in profile.controls)
    return tuple(found)


def load(
    name_or_path: str,
    package_root: PackageRoot | None = None,
    *,
    leave_out_faulty: bool = False,
) -> Profile:
    """Return a profile: a name in the catalogue, a TOML file, or audit rules or sysctls.

    Rules and sysctls are a file or a folder of files. `FILE.xml:PROFILE` is a profile of a SCAP
    datastream. If there is no file of that name, what a benchmark calls a control is a profile of
    what that requires, and `KEY=VALUE` is one of that sysctl.

    `package_root` gives the folder of an unpacked Debian package, for profiles whose rules come
    with one. With `leave_out_faulty`, lines at fault in files of sysctls are left out with a note.

    Raises:
        InputError: There is no such profile, or it is invalid; all mistakes are reported, each
            with its location.
    """
    path = Path(name_or_path)
    if leave_out_faulty and name_or_path not in names() and path.suffix != ".toml":
        try:
            if path.exists() and _holds_sysctls(path):
                return _read_sysctls(path, name_or_path, leave_out_faulty=True)
        except (OSError, ValueError):
            pass  # the usual way says what is wrong
    return _load(name_or_path, package_root, ())


def load_with_given_up(
    path: str, package_root: PackageRoot | None = None
) -> tuple[Profile, tuple[GivenUp, ...]]:
    """Return the profile of a TOML file, and what its tables `[[given_up]]` say.

    Raises:
        InputError: The file is invalid; all mistakes are reported, each with its location.
    """
    return _read_toml(Path(path), path, package_root, ())


def _load(name_or_path: str, package_root: PackageRoot | None, above: tuple[str, ...]) -> Profile:
    """Return a profile; `above` are the profiles being read that led to this one."""
    if name_or_path in above:
        raise InputError(f"the profile {name_or_path} includes itself", place=Location(above[-1]))
    if name_or_path in names():
        path = _FOLDER / f"{name_or_path}.toml"
        return _read_toml(path, name_or_path, package_root, above)[0]
    path = Path(name_or_path)
    try:
        if path.suffix == ".toml" and path.exists() and not path.is_dir():
            return _read_toml(path, name_or_path, package_root, above)[0]
        if not name_or_path or not path.exists():
            return _without_file(name_or_path)
        if path.suffix == ".xml" and path.is_file():
            raise _needs_profile(path)
        if path.suffix == ".json" and path.is_file():
            raise InputError(
                f"{path} is JSON, and no profile is",
                hint="`hardcost gate` compares two results; `hardcost import` reads reports of"
                " kernel-hardening-checker",
            )
        if _holds_sysctls(path):
            return _read_sysctls(path, name_or_path)
    except (OSError, ValueError) as error:
        raise InputError(f"'{name_or_path}' can't be read: {error}") from None
    return _read_rules(path, name_or_path)


def _without_file(text: str) -> Profile:
    """Return the profile of a text that names no file."""
    inside = _IN_STREAM.fullmatch(text)
    if inside is not None:
        from hardcost.profiles.importers.scap.profile import load_scap_profile  # noqa: PLC0415  (XML takes long)

        return load_scap_profile(Path(inside["file"]), inside["profile"])
    if benchmark_ids.is_name(text):
        return _benchmark_control(text)
    if "=" in text:
        return _one_setting(text)
    raise InputError(
        f"there is no profile '{text}', and no such file or folder",
        hint=read.meant(text, names(), "profiles"),
    )


def _needs_profile(path: Path) -> InputError:
    """Return the error for a datastream without the name of one of its profiles."""
    from hardcost.profiles.importers.scap import datastream  # noqa: PLC0415  (as above)
    from hardcost.profiles.importers.scap.xml import short  # noqa: PLC0415  (as above)

    known = [short(name) for name, _ in datastream.profiles(path)]
    return InputError(
        f"{path} is a SCAP datastream with {len(known)} profiles",
        hint=f"name one of them, such as {path}:{known[0]}; there are {', '.join(known)}"
        if known
        else None,
    )


def _benchmark_control(text: str) -> Profile:
    """Return the profile of what a benchmark's control requires."""
    found = benchmark_ids.requirements_of(text)
    file = TomlFile(text, {"title": found.title, "source": found.source, **found.tables})
    profile = _of_toml(file, Path(), text, lambda other: _load(other, None, (text,)), None)[0]
    named = tuple(replace(one, ids=found.ids, severity=found.severity) for one in profile.controls)
    return replace(profile, controls=named, notes=(*found.notes, *profile.notes))


def of_text(data: bytes, name: str, package_root: PackageRoot | None = None) -> Profile:
    """Return the profile of a text without a file: TOML, sysctls, or audit rules.

    Raises:
        InputError: It is invalid; all mistakes are reported, each with its location.
    """
    text = data.decode(errors="replace")
    if is_text_of_sysctls(text):
        found = read_sysctls_text(text, name)
        return Profile(name, f"the sysctls in {name}", name, found.sysctls, found.notes)
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    if _KEY.match(first):
        file = read.parse(data, name)
        return _of_toml(
            file, Path(), name, lambda other: _load(other, package_root, ()), package_root
        )[0]
    return _of_rules(parse.read_text(data, name), name)


def _one_setting(text: str) -> Profile:
    """Return the profile of one sysctl, `KEY=VALUE`."""
    key = text.partition("=")[0].strip()
    if key and not {".", "/"} & set(key):
        raise InputError(
            f"'{text}' is not a sysctl: its key has no dot, and no profile has that name",
            hint=f"for a parameter of the kernel's command line use --boot {text}",
        )
    sysctl = Sysctl.of(text)
    return Profile(sysctl.name, sysctl.name, "", (sysctl,))


def _holds_sysctls(path: Path) -> bool:
    if path.is_dir():
        return is_folder_of_sysctls(path)
    return path.is_file() and is_file_of_sysctls(path)


def _read_sysctls(path: Path, name: str, *, leave_out_faulty: bool = False) -> Profile:
    """Return the profile of a file or folder of sysctls."""
    found = read_sysctls([path], leave_out_faulty=leave_out_faulty)
    return Profile(name, f"the sysctls in {name}", name, found.sysctls, found.notes)


def _read_rules(path: Path, name: str) -> Profile:
    """Return the profile of a file or folder of audit rules."""
    return _of_rules(parse.read([path]), name)


def _of_rules(audit: RuleSet, name: str) -> Profile:
    return Profile(
        name=name,
        title=f"the audit rules in {name}",
        source=name,
        controls=Controls(controls_of(audit)).with_companions(),
        notes=(*audit.notes, *watched_paths.notes(audit.rules)),
    )


def _read_toml(
    path: Path, name: str, package_root: PackageRoot | None, above: tuple[str, ...]
) -> tuple[Profile, tuple[GivenUp, ...]]:
    """Return the profile of a TOML file, and what it gives up; the catalogue's have bare names."""
    own = path.parent == _FOLDER
    content = files.content(path, "the profile", read.LARGEST)
    file = read.parse(content, path.name if own else name)

    def load_profile(other: str) -> Profile:
        return _load(other, package_root, (*above, name))

    return _of_toml(file, path.parent, name, load_profile, package_root, own=own)


def _of_toml(  # noqa: PLR0913
    file: TomlFile,
    folder: Path,
    name: str,
    load_profile: Callable[[str], Profile],
    package_root: PackageRoot | None,
    *,
    own: bool = False,
) -> tuple[Profile, tuple[GivenUp, ...]]:
    """Return the profile of TOML's values, and what it gives up; `own` are the catalogue's."""
    problems: list[Problem] = []
    found = read.validated(file, ProfileFile, problems)
    resolver = Resolver(
        file=file,
        folder=folder,
        problems=problems,
        load_profile=load_profile,
        package_root=package_root,
        shown=(lambda rules: rules.name) if own else str,
    )
    taken = resolver.controls(found.model) if found is not None else Controls()
    if not problems and not taken.with_companions():
        problems.append(Problem("the profile has no controls", Location(file.name)))
    if problems or found is None:
        raise InputError.of(tuple(problems))
    profile = Profile(
        name=name,
        title=found.model.title or name,
        source=found.model.source,
        controls=taken.with_companions(),
        notes=(*found.model.notes, *taken.notes),
        accounting=taken.accounting,
    )
    return profile, found.model.given_up
