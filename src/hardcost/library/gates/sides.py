"""The two states that a gate compares: two profiles, perhaps from git, or two results."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from auditrules.library.arguments import check_once
from hardcost.analysis.results_file import finding_of
from hardcost.controls.control import Control, Profile
from hardcost.errors import HardcostError, InputError, RequestError
from hardcost.host import git_revision
from hardcost.library.measurement import Measuring
from hardcost.library.profiles import check, names_profile, profile_named
from hardcost.library.saved_run import load_findings
from hardcost.measure.monitor import Monitor
from hardcost.model.finding.finding import Finding
from hardcost.profiles import catalogue
from hardcost.profiles.control_tables import PackageRoot

GateSide = str | Profile | Finding
"""A state that a gate compares, or its name."""

_JSON = ".json"


@dataclass(frozen=True)
class Profiles:
    """Two profiles, with their names for the reader."""

    base: Profile
    head: Profile
    names: tuple[str, str]


@dataclass(frozen=True)
class Results:
    """Two results, with their names for the reader."""

    base: Finding
    head: Finding
    names: tuple[str, str]


def sides(
    base: GateSide,
    head: GateSide | None,
    git: str | None,
    how: Measuring,
    monitor: Monitor,
) -> Profiles | Results:
    """Return the states BASE and HEAD; rules that can't be loaded are found here.

    Results are in the store of `how`, and packages are those of its guests.

    Raises:
        InputError: They are not two of a kind, one can't be read, or its rules can't be loaded.
    """
    if git is not None:
        if head is not None or not isinstance(base, str):
            raise RequestError(
                "`git` compares one file or folder",
                hint="name it as `base`, and leave `head` out",
            )
        return _profiles_of_git(git, Path(base), how.package_root)
    if head is None:
        raise RequestError(
            "gate compares two states, and 1 is named",
            hint="name `base` and `head`, or take `git` A..B and one file or folder",
        )
    states, names = (base, head), (_name(base), _name(head))
    one, other = (_result(state, how.kept_in, monitor) for state in states)
    if one is not None and other is not None:
        return Results(one, other, names)
    if one is not None or other is not None:
        result, profile_name = names if one is not None else names[::-1]
        raise InputError(
            f"'{result}' is a result and '{profile_name}' is not",
            hint="name two results, or two profiles",
        )
    check_once(names)
    found = (_profile(state, how.package_root) for state in states)
    loaded = [one for one in found if one is not None]
    for each in loaded:
        check(each)
    return Profiles(loaded[0], loaded[1], names)


def _name(state: GateSide) -> str:
    """Return the name of a state in the answer."""
    if isinstance(state, str):
        return state.strip()
    return state.name if isinstance(state, Profile) else state.run


def _profile(state: GateSide, packages: PackageRoot) -> Profile | None:
    """Return the profile that a state is or names; None if it is a finding."""
    if isinstance(state, Finding):
        return None
    return profile_named(state.strip(), packages) if isinstance(state, str) else state


def _result(state: GateSide, store: Path, monitor: Monitor) -> Finding | None:
    """Return the result that a state is or names; None if it is a profile."""
    if not isinstance(state, str):
        return state if isinstance(state, Finding) else None
    name = state.strip()
    path = Path(name)
    if path.is_file() and path.suffix == _JSON:
        return finding_of(path)
    if names_profile(name):
        return None
    if not store.exists():
        raise InputError(
            f"there is no file, folder or profile '{name}', and no run in {store}",
            hint="`hardcost list profiles` and `hardcost list runs` show what there is",
        )
    return load_findings(store, monitor, name)[0]


# Revisions ----------------------------------------------------------------------------------------


def _profiles_of_git(git: str, path: Path, packages: PackageRoot) -> Profiles:
    """Return a file or folder at two revisions; where BASE has none, HEAD's without controls."""
    folder = next(one for one in (path.absolute(), *path.absolute().parents) if one.is_dir())
    found = git_revision.revisions(git, folder)
    name = git_revision.name_in(found.top, path)
    if found.head_commit is None:
        head = _load_copy(found.top / name, name, name, packages)
    else:
        with _copy_from_git(found.top, found.head_commit, name) as place:
            head = _load_copy(place, name, name, packages)
    label = f"{found.head if found.head is not None else 'the files as they are'}:{name}"
    if not git_revision.has_path(found.top, found.base_commit, name):
        fixed = tuple(one for one in head.controls if one.in_baseline)
        base = replace(head, controls=fixed, notes=(), accounting=())
        return Profiles(base, head, (f"{found.base} (which has no {name})", label))
    with _copy_from_git(found.top, found.base_commit, name) as place:
        base = _load_copy(place, f"{found.base}:{name}", name, packages)
    return Profiles(base, head, (f"{found.base}:{name}", label))


@contextmanager
def _copy_from_git(top: Path, commit: str, name: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="hardcost-gate-") as folder:
        yield git_revision.copy_from_commit(top, commit, name, Path(folder))


def _load_copy(place: Path, shown: str, name: str, packages: PackageRoot) -> Profile:
    """Return the profile in a copy, with the names that its files have in the repository."""
    where = _Renamed(
        str(place), shown, str(place.parent), shown.removesuffix(name) + _folder_above(name)
    )
    try:
        found = catalogue.load(str(place), packages)
        renamed = replace(
            found,
            name=where.text(found.name),
            title=where.text(found.title),
            source=where.text(found.source),
            controls=tuple(map(where.control, found.controls)),
            notes=tuple(map(where.text, found.notes)),
        )
        check(renamed)
    except InputError as error:
        raise where.error(error) from None
    return renamed


def _folder_above(name: str) -> str:
    """Return the folder of a name, which ends in a slash, or ""."""
    parent = str(Path(name).parent)
    return "" if parent == "." else f"{parent}/"


@dataclass(frozen=True)
class _Renamed:
    """The names of a copy's files, and the names shown for them."""

    place: str
    shown: str
    folder: str
    above: str

    def text(self, text: str) -> str:
        return text.replace(self.place, self.shown).replace(f"{self.folder}/", self.above)

    def control(self, control: Control) -> Control:
        if control.place is None:
            return control
        return control.at_place(replace(control.place, file=self.text(control.place.file)))

    def error(self, error: HardcostError) -> InputError:
        return InputError.of(
            tuple(
                replace(
                    one,
                    message=self.text(one.message),
                    place=one.place and replace(one.place, file=self.text(one.place.file)),
                    hint=one.hint and self.text(one.hint),
                )
                for one in error.problems
            )
        )
