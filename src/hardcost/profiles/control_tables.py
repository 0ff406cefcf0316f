"""The tables of controls in TOML files, in profiles and studies alike, and their controls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from auditrules.model.location import Location
from auditrules.read import parse
from hardcost.controls.control import Controls, Profile, combine_controls, of_profile
from hardcost.errors import HardcostError, InputError
from hardcost.mechanisms import audit
from hardcost.mechanisms.audit import Origin
from hardcost.mechanisms.kconfig import Kernel
from hardcost.mechanisms.mechanism import TABLE, TableSource
from hardcost.mechanisms.registry import ALL, MechanismKeys
from hardcost.profiles.kernel.options import all_controls, group_controls, notes_on_gone

PackageRoot = Callable[[str], Path]
"""Gives the folder of an unpacked Debian package."""

_ALL_GROUPS = "all"
Severity = Literal["high", "medium", "low", "info", "unknown"]


class SettingsTable(BaseModel):
    """`settings = { … }`: all that a profile of SCAP datastreams requires, except audit rules.

    `files` are the datastreams, relative to the TOML file, or to the Debian package that holds
    them; see `importers.scap.settings` for what is imported.
    """

    model_config = TABLE

    files: Annotated[tuple[str, ...], Field(min_length=1)]
    scap_profile: Annotated[str, Field(alias="scap-profile")]
    package: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9+.-]+$")] | None = None


class ScapTable(SettingsTable):
    """`scap = { … }`: all that a profile of SCAP datastreams requires, each rule accounted for.

    The keys are those of `SettingsTable`; `tailoring` is a tailoring file, relative to the TOML
    file.
    """

    tailoring: str | None = None


class ControlsTable(MechanismKeys):
    """The keys that say which controls are on: those of each mechanism, and what stands for many.

    `profile` names a profile whose controls are all used, `settings` is a `SettingsTable`, `scap` a
    `ScapTable`. `kconfig-group` is a group of the catalogue's kernel options, or `all` of them;
    `kconfig` may change some of its options.

    `ids` maps names of controls in this table to their names in benchmarks, `severity` to the
    severity that benchmarks give them.
    """

    settings: SettingsTable | None = None
    scap: ScapTable | None = None
    profile: str | None = None
    ids: Annotated[dict[str, tuple[str, ...]], Field(default_factory=dict)]
    severity: Annotated[dict[str, Severity], Field(default_factory=dict)]
    kconfig_group: Annotated[str | None, Field(alias="kconfig-group")] = None


@dataclass(frozen=True)
class Resolver(TableSource):
    """Makes controls from the tables of a file; mistakes join `problems`.

    `shown` is the name of a rules file in locations.
    """

    load_profile: Callable[[str], Profile]
    package_root: PackageRoot | None = None
    shown: Callable[[Path], str] = str

    def controls(self, table: ControlsTable, *at: str | int) -> Controls:
        """Return the controls of the table at `at`."""
        here = replace(self.within(*at), notes=[])
        parts = [] if table.profile is None else [here.profile(table.profile, "profile")]
        if table.settings is not None:
            parts.append(here.settings(table.settings))
        if table.scap is not None:
            parts.append(here.scap(table.scap))
        if table.kconfig_group is not None:
            parts.append(here.group(table.kconfig_group))
        own = tuple(control for one in ALL for control in one.read(table, here))
        parts.append(Controls(own, tuple(here.notes)))
        return here.with_ids(combine_controls(parts), table)

    def with_ids(self, found: Controls, table: ControlsTable) -> Controls:
        """Return controls with the ids and severities that the table gives to some of them."""
        ids, severity = table.ids, table.severity
        known = {one.name for one in found.with_companions()} if ids or severity else set()
        for key, names in (("ids", ids), ("severity", severity)):
            for name in names:
                if name not in known:
                    self.fault(f"there is no control named '{name}' here", key, name)
        controls = tuple(
            replace(
                one,
                ids=ids.get(one.name, one.ids),
                severity=severity.get(one.name, one.severity),
            )
            for one in found.controls
        )
        return replace(found, controls=controls)

    def audit_rules(self, files: Sequence[Path], scap_profile: str | None) -> Controls:
        """Return audit with the rules of files, or those that a profile of datastreams requires."""
        origins: dict[tuple[Location, str], Origin] = {}
        try:
            if scap_profile is not None:
                from hardcost.profiles.importers.scap import rules  # noqa: PLC0415  (few files have a datastream, and XML takes long)

                found = rules.rule_set(files, scap_profile, self.shown, origins)
            else:
                found = parse.read(files, self.shown)
        except InputError as error:
            self.problems.extend(error.problems)
        else:
            return Controls(audit.controls_of(found, origins), found.notes)
        return Controls()

    def settings(self, table: SettingsTable) -> Controls:
        """Return the settings that datastreams require."""
        from hardcost.profiles.importers.scap.profile import controls_of_settings  # noqa: PLC0415  (as above)
        from hardcost.profiles.importers.scap.settings import settings_of  # noqa: PLC0415  (as above)

        here = self.within("settings")
        try:
            found = [
                settings_of(file, table.scap_profile)
                for file in here.paths(table.files, table.package)
            ]
        except InputError as error:
            self.problems.extend(error.problems)
            return Controls()
        return combine_controls([controls_of_settings(one) for one in found])

    def scap(self, table: ScapTable) -> Controls:
        """Return all that a profile of datastreams requires."""
        from hardcost.profiles.importers.scap.profile import required_controls  # noqa: PLC0415  (as above)

        here = self.within("scap")
        tailoring = None if table.tailoring is None else self.folder / table.tailoring
        try:
            found = [
                required_controls(file, table.scap_profile, tailoring, self.shown)
                for file in here.paths(table.files, table.package)
            ]
        except InputError as error:
            self.problems.extend(error.problems)
            return Controls()
        return combine_controls([part for _, part in found])

    def paths(self, files: Sequence[str], package: str | None) -> list[Path]:
        """Return the paths of files, relative to this one or within a Debian package."""
        if package is None:
            return [self.folder / file for file in files]
        if self.package_root is None:
            self.fault(f"the Debian package {package} is not available here", "package")
            return []
        root = self.package_root(package)
        return [path for file in files for path in _within(root, file)]

    def profile(self, name: str, *path: str | int) -> Controls:
        """Return the controls of a profile by its name, or its path relative to the file."""
        try:
            file = self.folder / name
            return of_profile(self.load_profile(str(file) if file.exists() else name))
        except (OSError, ValueError) as error:
            self.fault(f"'{name}' can't be read: {error}", *path)
        except HardcostError as error:
            place = self.file.place(*self.at, *path)
            self.problems.extend(replace(one, place=one.place or place) for one in error.problems)
        return Controls()

    def group(self, slug: str) -> Controls:
        """Return a group of the catalogue's kernel options, or all of them, with their notes."""
        try:
            if slug == _ALL_GROUPS:
                options, notes = all_controls(), notes_on_gone()
            else:
                options = group_controls(slug)
                notes = notes_on_gone(slug)
        except InputError as error:
            problem = error.problems[0]
            self.fault(problem.message, "kconfig-group", hint=problem.hint)
            return Controls()
        return Controls((Kernel(tolerant=True, assumed=True), *options), notes)


def _within(root: Path, file: str) -> list[Path]:
    """Return a file of a package, or those that match its pattern; if none does, the pattern."""
    name = file.lstrip("/")
    return (sorted(root.glob(name)) if "*" in name else []) or [root / name]
