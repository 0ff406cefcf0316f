"""The two states that a gate compares: two profiles, perhaps from git, or two results."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hardcost.auditrules.rule import Place as RulePlace
from hardcost.cli import arguments, options, refused
from hardcost.cli.savedrun import saved
from hardcost.controls.control import AuditDaemon, AuditRule, BootParameter, Kernel, Sysctl
from hardcost.errors import InputError, Place
from hardcost.machines import gitrevisions
from hardcost.profiles import catalogue
from hardcost.report.jsonin import finding_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hardcost.analysis.finding import Finding
    from hardcost.controls.control import Control, Profile
    from hardcost.errors import HardcostError

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


def sides(states: Sequence[str], git: str | None, store: Path) -> Profiles | Results:
    """Return what BASE and HEAD are; rules that can't be loaded are found here.

    Raises:
        InputError: They are not two of a kind, one can't be read, or its rules can't be loaded.
    """
    if git is not None:
        return _of_git(git, states)
    if len(states) != 2:  # noqa: PLR2004  (BASE and HEAD)
        raise InputError(
            f"gate compares two states, and {len(states)} are named",
            hint="name BASE and HEAD, or take --git A..B and one file or folder",
        )
    names = (states[0].strip(), states[1].strip())
    found = [_result(name, store) for name in names]
    if found[0] is not None and found[1] is not None:
        return Results(found[0], found[1], names)
    if found[0] is not None or found[1] is not None:
        result, profile = names if found[0] is not None else names[::-1]
        raise InputError(
            f"'{result}' is a result and '{profile}' is not",
            hint="name two results, or two profiles",
        )
    arguments.check_once(names)
    base, head = map(arguments.profile, names)
    return _checked(Profiles(base, head, names))


def _checked(profiles: Profiles) -> Profiles:
    for one in (profiles.base, profiles.head):
        refused.check(one)
    return profiles


def _result(name: str, store: Path) -> Finding | None:
    """Return the result of a name; None if that is the name of a profile.

    Raises:
        InputError: Nothing has that name.
    """
    path = Path(name)
    if path.is_file() and path.suffix == _JSON:
        return finding_of(path)
    if arguments.names_profile(name):
        return None
    if not store.exists():
        raise InputError(
            f"there is no file, folder or profile '{name}', and no run in {store}",
            hint="`hardcost list profiles` and `hardcost list runs` show what there is",
        )
    return saved(store, name)[0]


# Revisions ----------------------------------------------------------------------------------------


def _of_git(git: str, states: Sequence[str]) -> Profiles:
    """Return a file or folder at two revisions; where BASE has none, it is HEAD's without controls.

    Raises:
        InputError: There is no such revision, or HEAD has no such file.
    """
    if len(states) != 1:
        raise InputError(
            "--git compares one file or folder", hint="such as --git main..HEAD rules.d"
        )
    path = Path(states[0])
    folder = next(one for one in (path.absolute(), *path.absolute().parents) if one.is_dir())
    found = gitrevisions.revisions(git, folder)
    name = gitrevisions.name_in(found.top, path)
    if found.head_commit is None:
        head = _loaded(found.top / name, name, name)
    else:
        with _copied(found.top, found.head_commit, name) as place:
            head = _loaded(place, name, name)
    label = f"{found.head if found.head is not None else 'the files as they are'}:{name}"
    if not gitrevisions.has(found.top, found.base_commit, name):
        fixed = tuple(one for one in head.controls if isinstance(one, AuditDaemon | Kernel))
        base = replace(head, controls=fixed, notes=(), accounting=())
        return Profiles(base, head, (f"{found.base} (which has no {name})", label))
    with _copied(found.top, found.base_commit, name) as place:
        base = _loaded(place, f"{found.base}:{name}", name)
    return Profiles(base, head, (f"{found.base}:{name}", label))


@contextmanager
def _copied(top: Path, commit: str, name: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="hardcost-gate-") as folder:
        yield gitrevisions.copied(top, commit, name, Path(folder))


def _loaded(place: Path, shown: str, name: str) -> Profile:
    """Return the profile in a copy, with the names that its files have in the repository.

    Raises:
        InputError: It can't be read or loaded.
    """
    where = _Renamed(str(place), shown, str(place.parent), shown.removesuffix(name) + _above(name))
    try:
        found = catalogue.load(str(place), options.package_root)
        renamed = replace(
            found,
            name=where.text(found.name),
            title=where.text(found.title),
            source=where.text(found.source),
            controls=tuple(map(where.control, found.controls)),
            notes=tuple(map(where.text, found.notes)),
        )
        refused.check(renamed)
    except InputError as error:
        raise where.error(error) from None
    return renamed


def _above(name: str) -> str:
    """Return the folder that a name lies in, with a slash behind it, or ""."""
    parent = str(Path(name).parent)
    return "" if parent == "." else f"{parent}/"


@dataclass(frozen=True)
class _Renamed:
    """The names of a copy's files, and what they are called."""

    place: str
    shown: str
    folder: str
    above: str

    def text(self, text: str) -> str:
        return text.replace(self.place, self.shown).replace(f"{self.folder}/", self.above)

    def control(self, control: Control) -> Control:
        if isinstance(control, AuditRule) and control.rule.place is not None:
            at = control.rule.place
            moved = RulePlace(self.text(at.file), at.line)
            return replace(control, rule=replace(control.rule, place=moved))
        if isinstance(control, Sysctl | BootParameter) and control.place is not None:
            place = replace(control.place, file=self.text(control.place.file))
            return replace(control, place=place)
        return control

    def error(self, error: HardcostError) -> InputError:
        return InputError.of(
            tuple(
                replace(
                    one,
                    message=self.text(one.message),
                    place=one.place
                    and Place(self.text(one.place.file), one.place.line, one.place.column),
                    hint=one.hint and self.text(one.hint),
                )
                for one in error.problems
            )
        )
