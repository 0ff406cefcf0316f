"""The catalogue of kernel hardening: options of its configuration, boot parameters and sysctls.

The options are those that "Kconfig hardening tests" (2020) built kernels with, in `kernel/options/`
of the catalogue, a file for each of its eight groups. Each `[[option]]` has the option as it was
`published`, and its state in Linux 6.1: the current name and value if they differ, a `status`
(`renamed` or `gone`) with a `note`, what it `protects` against, the boot parameter or sysctl with
the same effect, and the severity of its absence. `as_in` names the group that describes an option
listed twice. Source files in `references` are the kernel's.

`severity` is our judgement. High: without it, one common mistake in kernel code, or a user without
special rights, gets much closer to the kernel or its secrets. Medium: an attack that needs a
further mistake, rights or particular hardware gets easier. Low: it protects against root only, or
against things rarely built in or plugged in, or it helps to detect rather than to prevent.

`boot-parameters.toml` and `sysctls.toml` hold what kernel-hardening-checker checks on the command
line and under /proc/sys.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StrictBool, model_validator

from hardcost.errors import InputError, Problem
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.kconfig import KernelOption
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.toml.read import TomlFile, meant, parse, validated

CatalogueSeverity = Literal["high", "medium", "low"]
Status = Literal["present", "renamed", "gone"]
ShortText = Annotated[str, Field(min_length=1)]
_Model = TypeVar("_Model", bound=BaseModel)

_FOLDER = Path(str(resources.files("hardcost.profiles"))) / "catalogue" / "kernel"
_STRICT = ConfigDict(extra="forbid", frozen=True, defer_build=True)
_SLUGS = (
    "kspp-self-protection",
    "clipos-self-protection",
    "userspace-hardening",
    "kspp-cut-attack-surface",
    "clipos-cut-attack-surface",
    "grsecurity-cut-attack-surface",
    "security-policy",
    "grapheneos-cut-attack-surface",
)
"""The groups in published order: each kernel adds one to those before."""


class _OptionTable(BaseModel):
    """`[[option]]` of a group: its full description, or `as_in` alone."""

    model_config = _STRICT

    published: ShortText
    as_in: ShortText | None = None
    option: ShortText | None = None
    value: ShortText | None = None
    status: Status = "present"
    note: str = ""
    protects: str = ""
    boot: ShortText | None = None
    boot_needs: ShortText | None = None
    sysctl: ShortText | None = None
    equivalence_note: str = ""
    met_by: tuple[tuple[ShortText, ...], ...] = ()
    scored: StrictBool = True
    severity: CatalogueSeverity | None = None
    references: tuple[ShortText, ...] = ()

    @model_validator(mode="after")
    def _check_consistency(self) -> Self:
        name = self.published
        described = self.model_fields_set - {"published", "as_in"}
        wrong = {
            f"{name} is described both elsewhere (as_in) and here": self.as_in is not None
            and bool(described),
            f"{name} needs protects, severity and references": self.as_in is None
            and not (self.protects and self.severity and self.references),
            f"{name} is {self.status} and has no note": self.status != "present" and not self.note,
            f"{name} is renamed and has no option": (self.status == "renamed")
            != (self.option is not None),
            f"{name} has a note on an equivalent that it lacks": bool(self.equivalence_note)
            and not (self.boot or self.sysctl),
            f"{name} has boot_needs and no boot parameter": bool(self.boot_needs) and not self.boot,
        }
        for message, is_so in wrong.items():
            if is_so:
                raise ValueError(message)
        self.entry("")
        return self

    def entry(self, group: str) -> CatalogueOption:
        """Return the option as an entry of a group.

        Raises:
            ValueError: An option, parameter or sysctl is invalid.
        """
        published = KernelOption.of(self.published)
        today = f"{self.option or published.option}={self.value or published.value}"
        return CatalogueOption(
            group=group,
            option=KernelOption.of(today),
            published=published,
            status=self.status,
            note=self.note,
            protects=self.protects,
            severity=self.severity or "low",
            references=self.references,
            boot=None if self.boot is None else _boot(self.boot),
            boot_needs=self.boot_needs,
            sysctl=None if self.sysctl is None else _sysctl(*self.sysctl.partition("=")[::2]),
            equivalence_note=self.equivalence_note,
            met_by=tuple(tuple(map(KernelOption.of, way)) for way in self.met_by),
            scored=self.scored,
        )


class _GroupFile(BaseModel):
    """A file of `kernel/options/`: the group's published title, and its options in their order."""

    model_config = _STRICT

    title: ShortText
    option: Annotated[tuple[_OptionTable, ...], Field(min_length=1)]


class BootEntry(BaseModel):
    """`[[parameter]]`: a boot parameter that kernel-hardening-checker checks.

    `value` is the value to set; or `rule` says what is checked instead: `present`, `absent`, or
    `not-off`. `option` (`OPTION=value`) does the same at build time; `needs` names an option that
    must be built in.
    """

    model_config = _STRICT

    name: ShortText
    value: ShortText | None = None
    rule: Literal["value", "present", "absent", "not-off"] = "value"
    arch: Literal["x86-64", "x86-32", "arm64"] = "x86-64"
    status: Literal["present", "gone"] = "present"
    note: str = ""
    protects: ShortText
    option: ShortText | None = None
    needs: ShortText | None = None
    severity: CatalogueSeverity
    references: tuple[ShortText, ...]

    @model_validator(mode="after")
    def _check_consistency(self) -> Self:
        if (self.rule == "value") != (self.value is not None):
            raise ValueError(f"{self.name} needs one of value and rule")
        _boot(self.name if self.value is None else f"{self.name}={self.value}")
        if self.option is not None:
            KernelOption.of(self.option)
        return self

    @property
    def control(self) -> BootParameter | None:
        """Return the word that sets it, or None if the rule is a word's absence."""
        if self.rule == "present":
            return BootParameter(self.name)
        return BootParameter(f"{self.name}={self.value}") if self.rule == "value" else None


class SysctlEntry(BaseModel):
    """`[[sysctl]]`: a sysctl that kernel-hardening-checker checks; fields as in `BootEntry`."""

    model_config = _STRICT

    key: ShortText
    value: ShortText
    status: Literal["present", "gone"] = "present"
    note: str = ""
    protects: ShortText
    option: ShortText | None = None
    needs: ShortText | None = None
    severity: CatalogueSeverity
    references: tuple[ShortText, ...]

    @model_validator(mode="after")
    def _check_consistency(self) -> Self:
        _sysctl(self.key, self.value)
        if self.option is not None:
            KernelOption.of(self.option)
        return self

    @property
    def control(self) -> Sysctl:
        """Return the sysctl with its value."""
        return Sysctl(self.key, self.value)


class _BootFile(BaseModel):
    model_config = _STRICT

    parameter: tuple[BootEntry, ...]


class _SysctlFile(BaseModel):
    model_config = _STRICT

    sysctl: tuple[SysctlEntry, ...]


@dataclass(frozen=True)
class CatalogueOption:
    """An option of a published group, and its state in Linux 6.1.

    `option` has the current name, or the published one if it is gone, and the recommended value; a
    number is a minimum. `boot` and `sysctl` do the same without a build; only a kernel with
    `boot_needs` built in knows `boot`. Each of `met_by` reaches the same end by other options.
    `scored` is false if the published value does not harden.
    """

    group: str
    option: KernelOption
    published: KernelOption
    status: Status
    note: str
    protects: str
    severity: CatalogueSeverity
    references: tuple[str, ...]
    boot: BootParameter | None = None
    boot_needs: str | None = None
    sysctl: Sysctl | None = None
    equivalence_note: str = ""
    met_by: tuple[tuple[KernelOption, ...], ...] = ()
    scored: bool = True


@dataclass(frozen=True)
class OptionGroup:
    """A published group of options, by its name in profiles, with its own title."""

    slug: str
    title: str


def entries() -> tuple[CatalogueOption, ...]:
    """Return every published option in its group, in published order."""
    return _read()[1]


def groups() -> tuple[OptionGroup, ...]:
    """Return the groups in published order."""
    return _read()[0]


def group_controls(slug: str) -> tuple[KernelOption, ...]:
    """Return the options of one group by their names in 6.1, without those that are gone.

    Raises:
        InputError: There is no such group.
    """
    _check(slug)
    return _controls(entry for entry in entries() if entry.group == slug)


def all_controls() -> tuple[KernelOption, ...]:
    """Return every option once, at its first group, without those that are gone."""
    return _controls(entries())


def notes_on_gone(slug: str | None = None) -> tuple[str, ...]:
    """Return notes on the options of a group, or of all, that 6.1 doesn't know by that name.

    Raises:
        InputError: There is no such group.
    """
    if slug is not None:
        _check(slug)
    notes = (
        f"{entry.published.name} is left out: {entry.note}"
        if entry.status == "gone"
        else f"{entry.published.name} is set as {entry.option.name}: {entry.note}"
        for entry in entries()
        if entry.status != "present" and slug in {None, entry.group}
    )
    return tuple(dict.fromkeys(notes))


def entry_of(name: str) -> CatalogueOption | None:
    """Return the entry of the option called `name` today or when it was published, if any."""
    found = (one for one in entries() if name in {one.option.option, one.published.option})
    return next(found, None)


def equivalent_of(option: KernelOption) -> BootParameter | Sysctl | None:
    """Return the boot parameter or sysctl with the effect of `option`, without a kernel build.

    None if there is none, or only a parameter that needs the option itself to be built in.
    """
    entry = _entry_setting(option)
    if entry is None or (entry.boot_needs == option.option and option.value != "n"):
        return None
    return entry.boot or entry.sysctl


def equivalence_note(option: KernelOption) -> str:
    """Return how the equivalent of `option` differs from it, or nothing."""
    entry = _entry_setting(option)
    return "" if entry is None else entry.equivalence_note


def needs(option: KernelOption) -> str | None:
    """Return the option that must be built in for the equivalent boot parameter to work."""
    entry = _entry_setting(option)
    return None if entry is None else entry.boot_needs


@cache
def boot_parameters() -> tuple[BootEntry, ...]:
    """Return the boot parameters that kernel-hardening-checker checks."""
    return _load("boot-parameters.toml", _BootFile).parameter


@cache
def sysctls() -> tuple[SysctlEntry, ...]:
    """Return the sysctls that kernel-hardening-checker checks."""
    return _load("sysctls.toml", _SysctlFile).sysctl


@cache
def _read() -> tuple[tuple[OptionGroup, ...], tuple[CatalogueOption, ...]]:
    """Return the groups and their entries."""
    files = {slug: _load(f"options/{slug}.toml", _GroupFile) for slug in _SLUGS}
    found: list[CatalogueOption] = []
    for slug, file in files.items():
        for table in file.option:
            described = table if table.as_in is None else _describing_table(files, table)
            found.append(described.entry(slug))
    return tuple(OptionGroup(slug, file.title) for slug, file in files.items()), tuple(found)


def _describing_table(files: dict[str, _GroupFile], table: _OptionTable) -> _OptionTable:
    """Return the table in another group that describes the option of `table`."""
    elsewhere = files[table.as_in].option if table.as_in in files else ()
    for other in elsewhere:
        if other.published == table.published and other.as_in is None:
            return other
    raise InputError(f"no group '{table.as_in}' describes the option {table.published}")


def _load(name: str, model: type[_Model]) -> _Model:
    """Return the contents of a file of the catalogue; its mistakes are ours, and fatal."""
    file = parse((_FOLDER / name).read_bytes(), f"catalogue/kernel/{name}")
    return read(file, model)


def read(file: TomlFile, model: type[_Model]) -> _Model:
    """Return the contents of a file.

    Raises:
        InputError: It is invalid; all mistakes are reported, each with its location.
    """
    problems: list[Problem] = []
    found = validated(file, model, problems)
    if problems or found is None:
        raise InputError.of(tuple(problems))
    return found.model


def _check(slug: str) -> None:
    if slug not in _SLUGS:
        hint = meant(slug, _SLUGS, "groups")
        raise InputError(f"there is no group '{slug}' of kernel options", hint=hint)


def _controls(found: Iterable[CatalogueOption]) -> tuple[KernelOption, ...]:
    kept = (entry.option for entry in found if entry.status != "gone")
    return tuple({option.option: option for option in kept}.values())


def _entry_setting(option: KernelOption) -> CatalogueOption | None:
    """Return the entry that recommends `option` with exactly this value."""
    return next((entry for entry in entries() if entry.option == option), None)


def _boot(text: str) -> BootParameter:
    """Return a boot parameter; ValueError if it is not one word."""
    parameter = BootParameter(text)
    _ = parameter.word
    return parameter


def _sysctl(key: str, value: str) -> Sysctl:
    """Return a sysctl; ValueError if it is invalid."""
    sysctl = Sysctl(key, value)
    _ = sysctl.path
    return sysctl
