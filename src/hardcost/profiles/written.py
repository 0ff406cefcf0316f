"""The tables of controls in TOML files, in profiles and studies alike, and their controls."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

from pydantic import BaseModel, Field, StrictBool, StrictInt, field_validator

from hardcost.auditrules import parse
from hardcost.auditrules.rule import Place as RulePlace
from hardcost.auditrules.rule import RulesError, RuleSet
from hardcost.controls import watchedpaths
from hardcost.controls.control import (
    BootParameter,
    Kernel,
    KernelOption,
    Profile,
    Sysctl,
    SystemControl,
)
from hardcost.errors import HardcostError, InputError, Place, Problem
from hardcost.profiles import kernelname, scapprofile
from hardcost.profiles.bykind import Controls, of_profile, together
from hardcost.profiles.importers import scap, scapsettings
from hardcost.profiles.importers.scap import Origin
from hardcost.profiles.kernel import kerneloptions
from hardcost.profiles.systemtable import TABLE, SystemTable
from hardcost.profiles.tomlfile import flattened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from hardcost.profiles.importers.scap import Origins
    from hardcost.profiles.tomlfile import TomlFile

    PackageRoot = Callable[[str], Path]
    """Gives the folder of an unpacked Debian package."""

_ALL_GROUPS = "all"
_MOST_PATHS = 10_000
Severity = Literal["high", "medium", "low", "info", "unknown"]
Named = TypeVar("Named", Sysctl, BootParameter, SystemControl, KernelOption)


class AuditTable(BaseModel):
    """`audit = { … }`: audit switched on, with a daemon, and rules for it.

    `rules` are lines of a rules file; `files` are such files, or folders read as augenrules does,
    relative to the TOML file; `package` names the Debian package that holds the files; `profile` is
    the name or path of a profile whose audit rules are used. With `scap-profile`, the `files` are
    SCAP datastreams, and the rules are those that this profile of theirs requires. `exist` are
    paths that the guest has beside those that the rules watch; a directory's ends in a slash. A
    part of a profile has them, so that it is measured in the same guest as the whole.
    """

    model_config = TABLE

    enabled: StrictBool = True
    backlog_limit: Annotated[StrictInt, Field(ge=0, le=2**32 - 1)] | None = None
    rules: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    package: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9+.-]+$")] | None = None
    profile: str | None = None
    scap_profile: Annotated[str | None, Field(alias="scap-profile")] = None
    exist: Annotated[tuple[str, ...], Field(max_length=_MOST_PATHS)] = ()


class SettingsTable(BaseModel):
    """`settings = { … }`: all that a profile of SCAP datastreams requires, except audit rules.

    `files` are the datastreams, relative to the TOML file, or to the Debian package that holds
    them; see `scapsettings` for what is imported.
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


class ControlsTable(SystemTable):
    """The keys that say which controls are on, including those of `SystemTable`.

    `boot` are words on the kernel's command line, `sysctl` maps keys to values, `audit` is an
    `AuditTable`, `settings` a `SettingsTable`, `scap` a `ScapTable`, and `profile` names a profile
    whose controls are all used.

    `ids` maps names of controls in this table to their names in benchmarks, `severity` to the
    severity that benchmarks give them.

    `kernel` is the configuration of the kernel to build: the name of one that comes with hardcost,
    which is one word, or the path of a configuration file, which has a dot or a slash. It may also
    be a kernel that exists, and boots as it is: `debian:6.12`, `host`, `installed:RELEASE` (on a
    machine over ssh), or the path of a package (.deb, .rpm), an image, or a folder that holds one;
    options and patches are not for these.

    `kconfig` are options of the kernel to build, such as `SLUB_DEBUG_ON=y`; `kconfig-group` is a
    group of the catalogue, or `all` of them, and `kconfig` may change some of its options.
    `kernel-patches` are applied to the kernel's source, in order: each the name of a series that
    comes with hardcost, which is one word, or the path of a file or a folder of patches. Options
    and patches without a `kernel` are for `lean`. With `kconfig-tolerant`, an option that can't
    hold is noted instead of refused, as those of a group are.
    """

    boot: tuple[str, ...] = ()
    sysctl: dict[str, StrictInt | str] = Field(default_factory=dict)
    audit: AuditTable | None = None
    settings: SettingsTable | None = None
    scap: ScapTable | None = None
    profile: str | None = None
    ids: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    severity: dict[str, Severity] = Field(default_factory=dict)
    kernel: str | None = None
    kconfig: tuple[str, ...] = ()
    kconfig_group: Annotated[str | None, Field(alias="kconfig-group")] = None
    kernel_patches: Annotated[tuple[str, ...], Field(alias="kernel-patches")] = ()
    kconfig_tolerant: Annotated[StrictBool, Field(alias="kconfig-tolerant")] = False

    @field_validator("sysctl", mode="before")
    @classmethod
    def _flat(cls, value: object) -> object:
        """Join what TOML splits: `kernel.kptr_restrict = 1` is a table in a table."""
        return flattened(value) if isinstance(value, dict) else value


def problems_of(error: RulesError) -> tuple[Problem, ...]:
    """Return the faults of rules as problems."""
    return tuple(
        Problem(fault.message, Place(fault.file, fault.line, fault.column), fault.remedy)
        for fault in error.faults
    )


@dataclass(frozen=True)
class Resolver:
    """Makes controls from the tables of a file; mistakes join `problems`.

    Relative paths begin at `folder`; `shown` is the name of a rules file in locations.
    """

    file: TomlFile
    folder: Path
    problems: list[Problem]
    load_profile: Callable[[str], Profile]
    package_root: PackageRoot | None = None
    shown: Callable[[Path], str] = str

    def controls(self, table: ControlsTable, *at: str | int) -> Controls:
        """Return the controls of the table at `at`."""
        parts = [] if table.profile is None else [self._profile(table.profile, *at, "profile")]
        if table.audit is not None:
            parts.append(self._audit(table.audit, *at, "audit"))
        if table.settings is not None:
            parts.append(self._settings(table.settings, *at, "settings"))
        if table.scap is not None:
            parts.append(self._scap(table.scap, *at, "scap"))
        if table.kconfig_group is not None:
            parts.append(self._group(table.kconfig_group, *at, "kconfig-group"))
        parts.append(
            Controls(
                sysctls=tuple(self._sysctls(table, *at, "sysctl")),
                boots=tuple(self._boots(table, *at, "boot")),
                kernel=self._kernel(table.kernel, *at, "kernel"),
                kernel_options=tuple(self._kernel_options(table, *at, "kconfig")),
                kernel_patches=tuple(self._patches(table.kernel_patches, *at, "kernel-patches")),
                tolerant=table.kconfig_tolerant,
                system=tuple(table.system()),
            )
        )
        return self._named(together(parts), table, *at)

    def _named(self, controls: Controls, table: ControlsTable, *at: str | int) -> Controls:
        """Return the controls with ids and severities that the table gives to some of them."""
        ids, severity = table.ids, table.severity
        if not ids and not severity:
            return controls
        known = {one.name for one in controls.listed()}
        self.problems.extend(
            self.file.problem(f"there is no control named '{name}' here", *at, key, name)
            for key, names in (("ids", ids), ("severity", severity))
            for name in names
            if name not in known
        )

        def named(one: Named) -> Named:
            return replace(
                one,
                ids=ids.get(one.name, one.ids),
                severity=severity.get(one.name, one.severity),
            )

        rules = controls.audit.rules if controls.audit is not None else ()
        asked = {
            (one.place, one.text): Origin(ids.get(one.text, ()), severity.get(one.text, ""))
            for one in rules
            if one.place and (one.text in ids or one.text in severity)
        }
        return replace(
            controls,
            sysctls=tuple(map(named, controls.sysctls)),
            boots=tuple(map(named, controls.boots)),
            system=tuple(map(named, controls.system)),
            kernel_options=tuple(map(named, controls.kernel_options)),
            asked=tuple({**dict(controls.asked), **asked}.items()),
        )

    def rules(self, lines: Iterable[tuple[str, tuple[str | int, ...]]]) -> RuleSet:
        """Return the rules of lines, each with its path in the file."""
        placed = []
        for text, path in lines:
            place = self.file.place(*path)
            placed.append((text, RulePlace(place.file, place.line or 1)))
        try:
            return parse.read_lines(placed)
        except RulesError as error:
            self.problems.extend(problems_of(error))
            return RuleSet(())

    def _audit(self, table: AuditTable, *at: str | int) -> Controls:
        wanted = table.rules or table.files or table.profile
        if not table.enabled:
            if wanted:
                message = "audit has rules but is not enabled"
                self.problems.append(self.file.problem(message, *at, "enabled"))
            return Controls()
        sets = [RuleSet((), table.backlog_limit)]
        notes: tuple[str, ...] = ()
        origins: Origins = {}
        exist = table.exist
        if table.profile is not None:
            profile = self._profile(table.profile, *at, "profile")
            notes = profile.notes
            if profile.audit is None and profile != Controls():
                message = f"the profile {table.profile} has no audit rules"
                hint = "name it as `profile`, beside `audit`"
                self.problems.append(self.file.problem(message, *at, "profile", hint=hint))
            elif profile != _only_audit(profile):
                notes = (*notes, f"only the audit rules of the profile {table.profile} are used")
            origins |= dict(profile.asked)
            exist = (*profile.exist, *exist)
            sets.insert(0, profile.audit or RuleSet(()))
        if table.files:
            sets.insert(0, self._files(table, origins, *at))
        for index, path in enumerate(table.exist):
            why = watchedpaths.refused(path)
            if why is not None:
                message = f"{path!r} is no path that the guest can have: {why}"
                self.problems.append(self.file.problem(message, *at, "exist", index))
        lines = [(line, (*at, "rules", index)) for index, line in enumerate(table.rules)]
        sets.append(self.rules(lines))
        audit = parse.join(sets)
        return Controls(
            audit=audit,
            notes=(*notes, *audit.notes, *watchedpaths.notes(audit.rules)),
            asked=tuple(origins.items()),
            exist=exist,
        )

    def _files(self, table: AuditTable, origins: Origins, *at: str | int) -> RuleSet:
        """Return the rules of the table's files; `origins` is filled from datastreams."""
        files = self._paths(table.files, table.package, *at)
        if not files:
            return RuleSet(())
        try:
            if table.scap_profile is not None:
                return scap.rule_set(files, table.scap_profile, self.shown, origins)
            return parse.read(files, self.shown)
        except RulesError as error:
            self.problems.extend(problems_of(error))
        except InputError as error:
            self.problems.extend(error.problems)
        return RuleSet(())

    def _settings(self, table: SettingsTable, *at: str | int) -> Controls:
        """Return the settings that datastreams require."""
        try:
            found = [
                scapsettings.settings(file, table.scap_profile)
                for file in self._paths(table.files, table.package, *at)
            ]
        except InputError as error:
            self.problems.extend(error.problems)
            return Controls()
        return together([scapprofile.of_settings(one) for one in found])

    def _scap(self, table: ScapTable, *at: str | int) -> Controls:
        """Return all that a profile of datastreams requires."""
        tailoring = None if table.tailoring is None else self.folder / table.tailoring
        try:
            found = [
                scapprofile.controls(file, table.scap_profile, tailoring, self.shown)
                for file in self._paths(table.files, table.package, *at)
            ]
        except InputError as error:
            self.problems.extend(error.problems)
            return Controls()
        return together([part for _, part in found])

    def _paths(self, files: Sequence[str], package: str | None, *at: str | int) -> list[Path]:
        """Return the paths of files, relative to this one or within a Debian package."""
        if package is None:
            return [self.folder / file for file in files]
        if self.package_root is None:
            message = f"the Debian package {package} is not available here"
            self.problems.append(self.file.problem(message, *at, "package"))
            return []
        root = self.package_root(package)
        return [path for file in files for path in _within(root, file)]

    def _profile(self, name: str, *at: str | int) -> Controls:
        """Return the controls of a profile by its name, or its path relative to the file."""
        try:
            path = self.folder / name
            return of_profile(self.load_profile(str(path) if path.exists() else name))
        except (OSError, ValueError) as error:
            self.problems.append(self.file.problem(f"'{name}' can't be read: {error}", *at))
            return Controls()
        except HardcostError as error:
            for problem in error.problems:
                place = problem.place or self.file.place(*at)
                self.problems.append(Problem(problem.message, place, problem.hint))
            return Controls()

    def _sysctls(self, table: ControlsTable, *at: str | int) -> Iterable[Sysctl]:
        for key, value in table.sysctl.items():
            sysctl = Sysctl(key, str(value))
            try:
                _ = sysctl.path
            except ValueError as error:
                self.problems.append(self.file.problem(str(error), *at, key))
            else:
                yield sysctl

    def _boots(self, table: ControlsTable, *at: str | int) -> Iterable[BootParameter]:
        for index, text in enumerate(table.boot):
            boot = BootParameter(text, place=self.file.place(*at, index))
            try:
                _ = boot.word
            except ValueError as error:
                self.problems.append(self.file.problem(str(error), *at, index))
            else:
                yield boot

    def _kernel(self, base: str | None, *at: str | int) -> Kernel | None:
        """Return the kernel of that name or path."""
        if base is None:
            return None
        try:
            return kernelname.named(base, self.folder)
        except ValueError as error:
            self.problems.append(self.file.problem(str(error), *at))
            return None

    def _patches(self, words: Sequence[str], *at: str | int) -> Iterable[str]:
        """Yield series by their names, files and folders by their paths."""
        for index, word in enumerate(words):
            if kernelname.is_bare(word):
                yield word
                continue
            path = self.folder / word
            try:
                if word and path.exists():
                    yield str(path)
                    continue
                why = "there is no such file or folder"
            except (OSError, ValueError) as error:
                why = str(error)
            message = f"the patch '{word}' can't be read: {why}"
            self.problems.append(self.file.problem(message, *at, index))

    def _kernel_options(self, table: ControlsTable, *at: str | int) -> Iterable[KernelOption]:
        for index, text in enumerate(table.kconfig):
            try:
                yield KernelOption.of(text)
            except ValueError as error:
                self.problems.append(self.file.problem(str(error), *at, index))

    def _group(self, slug: str, *at: str | int) -> Controls:
        """Return a group of the catalogue's kernel options, or all of them, with their notes."""
        try:
            if slug == _ALL_GROUPS:
                options, notes = kerneloptions.all_controls(), kerneloptions.gone_notes()
            else:
                options = kerneloptions.group_controls(slug)
                notes = kerneloptions.gone_notes(slug)
        except InputError as error:
            problem = error.problems[0]
            self.problems.append(self.file.problem(problem.message, *at, hint=problem.hint))
            return Controls()
        return Controls(notes=notes, kernel_options=options, tolerant=True)


def _within(root: Path, file: str) -> list[Path]:
    """Return a file of a package, or those that match its pattern; if none does, the pattern."""
    name = file.lstrip("/")
    return (sorted(root.glob(name)) if "*" in name else []) or [root / name]


def _only_audit(found: Controls) -> Controls:
    """Return what of controls is about audit rules, and the notes."""
    return Controls(audit=found.audit, notes=found.notes, asked=found.asked, exist=found.exist)
