"""The catalogue of profiles: named lists of controls, each a TOML file in `catalogue/`.

A profile of the user's own is a file of the same form, a file of audit rules or of sysctls, a
folder of either, or a single `KEY=VALUE`.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from hardcost import files
from hardcost.auditrules import parse
from hardcost.auditrules.rule import RulesError
from hardcost.controls import watchedpaths
from hardcost.controls.control import Profile
from hardcost.errors import HardcostError, InputError, Place, Problem
from hardcost.profiles import tomlfile
from hardcost.profiles.bykind import Controls
from hardcost.profiles.givenup import GivenUp  # noqa: TC001  (pydantic reads it)
from hardcost.profiles.importers import sysctld
from hardcost.profiles.written import ControlsTable, Resolver, problems_of

if TYPE_CHECKING:
    from hardcost.profiles.written import PackageRoot

_FOLDER = Path(str(resources.files("hardcost.profiles"))) / "catalogue"


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
    return tomlfile.names(_FOLDER)


def titles() -> dict[str, str]:
    """Return the title of each profile in the catalogue by its name."""
    return tomlfile.titles(_FOLDER)


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

    Rules and sysctls are a file or a folder of files. `KEY=VALUE`, if there is no file of that
    name, is a profile of that one sysctl.

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
        raise InputError(f"the profile {name_or_path} includes itself", place=Place(above[-1]))
    if name_or_path in names():
        path = _FOLDER / f"{name_or_path}.toml"
        return _read_toml(path, name_or_path, package_root, above)[0]
    path = Path(name_or_path)
    try:
        if path.suffix == ".toml" and path.exists() and not path.is_dir():
            return _read_toml(path, name_or_path, package_root, above)[0]
        if not name_or_path or not path.exists():
            if "=" in name_or_path:
                return _one_setting(name_or_path)
            raise InputError(
                f"there is no profile '{name_or_path}', and no such file or folder",
                hint=tomlfile.meant(name_or_path, names(), "profiles"),
            )
        if _holds_sysctls(path):
            return _read_sysctls(path, name_or_path)
    except (OSError, ValueError) as error:
        raise InputError(f"'{name_or_path}' can't be read: {error}") from None
    return _read_rules(path, name_or_path)


def _one_setting(text: str) -> Profile:
    """Return the profile of one sysctl, `KEY=VALUE`."""
    key = text.partition("=")[0].strip()
    if key and not {".", "/"} & set(key):
        raise InputError(
            f"'{text}' is not a sysctl: its key has no dot, and no profile has that name",
            hint=f"for a parameter of the kernel's command line use --boot {text}",
        )
    sysctl = sysctld.assignment(text)
    return Profile(sysctl.name, sysctl.name, "", (sysctl,))


def _holds_sysctls(path: Path) -> bool:
    if path.is_dir():
        return sysctld.is_folder_of_sysctls(path)
    return path.is_file() and sysctld.is_file_of_sysctls(path)


def _read_sysctls(path: Path, name: str, *, leave_out_faulty: bool = False) -> Profile:
    """Return the profile of a file or folder of sysctls."""
    found = sysctld.read([path], leave_out_faulty=leave_out_faulty)
    return Profile(name, f"the sysctls in {name}", name, found.sysctls, found.notes)


def _read_rules(path: Path, name: str) -> Profile:
    """Return the profile of a file or folder of audit rules."""
    try:
        audit = parse.read([path])
    except RulesError as error:
        raise InputError.of(problems_of(error)) from None
    return Profile(
        name=name,
        title=f"the audit rules in {name}",
        source=name,
        controls=Controls(audit=audit).listed(),
        notes=(*audit.notes, *watchedpaths.notes(audit.rules)),
    )


def _read_toml(
    path: Path, name: str, package_root: PackageRoot | None, above: tuple[str, ...]
) -> tuple[Profile, tuple[GivenUp, ...]]:
    """Return the profile of a TOML file, and what it gives up; the catalogue's have bare names."""
    own = path.parent == _FOLDER
    content = files.content(path, "the profile", tomlfile.LARGEST)
    file = tomlfile.parse(content, path.name if own else name)
    problems: list[Problem] = []
    found = tomlfile.validated(file, ProfileFile, problems)
    resolver = Resolver(
        file=file,
        folder=path.parent,
        problems=problems,
        load_profile=lambda other: _load(other, package_root, (*above, name)),
        package_root=package_root,
        shown=(lambda rules: rules.name) if own else str,
    )
    taken = resolver.controls(found.model) if found is not None else Controls()
    if not problems and not taken.listed():
        problems.append(Problem("the profile has no controls", Place(file.name)))
    if problems or found is None:
        raise InputError.of(tuple(problems))
    profile = Profile(
        name=name,
        title=found.model.title or name,
        source=found.model.source,
        controls=taken.listed(),
        notes=(*found.model.notes, *taken.notes),
        accounting=taken.accounting,
    )
    return profile, found.model.given_up
