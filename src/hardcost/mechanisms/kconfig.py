"""The kernel that boots: one that exists, or one that is built with options and patches.

An option is checked in the kernel's configuration before anything is compiled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

from pydantic import BaseModel, Field, StrictBool

from auditrules.model.location import Location
from hardcost.controls.blind_spots import blind_spot_of
from hardcost.controls.control import Control, PlaceboKind, Profile, Rank, of_kind
from hardcost.errors import InputError
from hardcost.mechanisms.export import Exported, lines, with_comments
from hardcost.mechanisms.mechanism import TABLE, Mechanism, TableSource
from hardcost.toml.write import TomlEntry

if TYPE_CHECKING:
    from hardcost.protocol.boot import KernelRecipe

DEBIAN = "debian:"
"""The prefix of the version of one of Debian's kernels."""

INSTALLED = "installed:"
"""The prefix of the release of a kernel that is installed on a machine."""

HOST = "host"
"""The kernel that runs this host."""

_BARE_NAME = re.compile(r"[A-Za-z0-9_-]+")
_VERSION = re.compile(r"\d{1,3}\.\d{1,3}(?:[.+-][0-9a-z]+)*")
_RELEASE = re.compile(r"\d[\w.+~-]{0,63}", re.ASCII)
_PACKAGES = frozenset({".deb", ".rpm"})
_LOOKED_AT = 4096  # bytes, among which every kernel has a zero, and no configuration
_OPTION = re.compile(
    r"(?:CONFIG_)?(?P<option>[A-Za-z0-9][A-Za-z0-9_]*)=(?P<value>[\w.+:/-]+|\"[\w .,:/@%+=()-]*\")",
    re.ASCII,
)
_BARE_VALUE = re.compile(r"[\w.+:/-]+", re.ASCII)
_NOT_SET = "n"


@dataclass(frozen=True)
class Kernel(Control):
    """A kernel built by hardcost, before any option is set: the baseline of options.

    `base` is the name of a configuration that comes with hardcost, such as `lean`, or the path of a
    kernel configuration file. `tolerant` says that an option that can't hold on this base is noted
    instead of refused, as for options from a catalogue. `patches` are applied to its source: files,
    folders of patches, or series that come with hardcost; they are not controls of their own.

    A `shipped` kernel is not built here but booted as its distribution built it: `base` is then
    what `--kernel` takes, such as `debian:6.12` or the path of a package. An `assumed` one is there
    for options or patches alone: another table's kernel takes its place, with all of these.
    """

    base: str = "lean"
    tolerant: bool = False
    patches: tuple[str, ...] = ()
    shipped: bool = False

    assumed: bool = field(default=False, compare=False)

    mechanism: ClassVar[str] = "kconfig"
    single: ClassVar[bool] = True
    rank: ClassVar[Rank] = Rank.KERNEL
    of_kernel: ClassVar[bool] = True
    in_baseline: ClassVar[bool] = True

    @property
    def name(self) -> str:
        patched = ", ".join(Path(patch).name or patch for patch in self.patches)
        return f"kernel {self.base}{f' with {patched}' if patched else ''}"

    @property
    def baseline(self) -> str:
        return self.name if self.shipped else f"{self.name}, none of the options"

    def after(self, before: Self) -> Control:
        """Return the kernel that was named last, with the patches of both."""
        return replace(
            before if self.assumed else self,
            tolerant=before.tolerant or self.tolerant,
            patches=tuple(dict.fromkeys((*before.patches, *self.patches))),
            assumed=before.assumed and self.assumed,
        )

    def as_part_of(self, profile: Sequence[Control]) -> Control | None:
        """Return the kernel of a profile; nothing if it was assumed, and has nothing to build."""
        builds = bool(self.patches) or any(one.builds for one in profile)
        if self.assumed and not builds:
            return None
        return replace(self, assumed=builds and self.base == Kernel.base)


@dataclass(frozen=True)
class KernelOption(Control):
    """An option of the kernel's configuration, set at build time.

    `option` is its name without `CONFIG_`; `value` is `y`, `n` (not set), a number, or a string
    without its quotes. A string contains nothing that a shell would interpret.
    """

    option: str
    value: str

    rank: ClassVar[Rank] = Rank.KERNEL_OPTION
    noun: ClassVar[str] = "kernel option"
    builds: ClassVar[bool] = True
    of_kernel: ClassVar[bool] = True
    mechanism: ClassVar[str] = "kconfig"
    lacking: ClassVar[str] = ""
    like: ClassVar[PlaceboKind] = "boot"

    @property
    def name(self) -> str:
        bare = _BARE_VALUE.fullmatch(self.value)
        return f"{self.option}={self.value}" if bare else f'{self.option}="{self.value}"'

    @property
    def slot(self) -> str:
        """Return the option: of several values the last holds."""
        return f"kconfig {self.option}"

    @property
    def uncounted(self) -> str | None:
        known = blind_spot_of("option", self.option)
        return None if known is None else known.reason

    def companion(self) -> Control:
        """Return the kernel to set it on."""
        return Kernel(assumed=True)

    @classmethod
    def of(cls, text: str, place: Location | None = None) -> Self:
        """Return the option of `text`, such as `SLUB_DEBUG_ON=y`, with or without `CONFIG_`.

        Raises:
            ValueError: It is not OPTION=VALUE.
        """
        found = _OPTION.fullmatch(text.strip())
        if found is None:
            raise ValueError(
                f"{text!r} is not a kernel option with its value, such as SLUB_DEBUG_ON=y"
            )
        return cls(found["option"], found["value"].strip('"'), place=place)


class KernelKeys(BaseModel):
    """The keys of the kernel.

    `kernel` is the configuration of the kernel to build: the name of one that comes with hardcost,
    which is one word, or the path of a configuration file, which has a dot or a slash. It may also
    be a kernel that exists, and boots as it is: `debian:6.12`, `host`, `installed:RELEASE` (on a
    machine over ssh), or the path of a package (.deb, .rpm), an image, or a folder that holds one;
    options and patches are not for these.

    `kconfig` are options of the kernel to build, such as `SLUB_DEBUG_ON=y`. `kernel-patches` are
    applied to the kernel's source, in order: each the name of a series that comes with hardcost,
    which is one word, or the path of a file or a folder of patches. Options and patches without a
    `kernel` are for `lean`. With `kconfig-tolerant`, an option that can't hold is noted instead of
    refused, as those of a group are.
    """

    model_config = TABLE

    kernel: str | None = None
    kconfig: tuple[str, ...] = ()
    kernel_patches: Annotated[tuple[str, ...], Field(alias="kernel-patches")] = ()
    kconfig_tolerant: Annotated[StrictBool, Field(alias="kconfig-tolerant")] = False


class KernelMechanism(Mechanism[KernelKeys]):
    """The kernel that boots, or the base, options and patches that one is built with."""

    name = "kconfig"
    why_no_ansible_tasks = "a kernel is built with it, which a role does not do"
    toml = (
        '`kernel = "lean"`, `kconfig = ["SLUB_DEBUG_ON=y"]`, `kernel-patches`, `kconfig-tolerant`'
    )
    verified_by = "the configuration that is built"
    keys = KernelKeys
    export_verb = "kconfig"

    def read(self, table: KernelKeys, source: TableSource) -> Iterator[Control]:
        kernel = None
        if table.kernel is not None:
            try:
                named = _kernel_named(table.kernel, source.folder)
                kernel = replace(named, place=source.place("kernel"))
            except ValueError as error:
                source.fault(str(error), "kernel")
        patches = tuple(_patches(table.kernel_patches, source.within("kernel-patches")))
        if kernel is not None or patches or table.kconfig_tolerant:
            yield replace(
                kernel or Kernel(assumed=True), patches=patches, tolerant=table.kconfig_tolerant
            )
        for index, text in enumerate(table.kconfig):
            try:
                yield KernelOption.of(text, source.place("kconfig", index))
            except ValueError as error:
                source.fault(str(error), "kconfig", index)

    def write(self, controls: Sequence[Control]) -> Iterator[TomlEntry]:
        """Yield the kernel's keys, which are always written, and an element for each option."""
        for kernel in of_kind(controls, Kernel):
            yield TomlEntry(("kernel",), _anywhere(kernel.base))
            for patch in kernel.patches:
                yield TomlEntry(("kernel-patches",), _anywhere(patch), element=True)
            if kernel.tolerant:
                yield TomlEntry(("kconfig-tolerant",), value=True)
        for one in of_kind(controls, KernelOption):
            yield TomlEntry(("kconfig",), one.name, (one.name,), element=True)

    def export(self, profile: Profile) -> Exported:
        """Return a profile's kernel options as a fragment of a kernel configuration."""
        found, left = lines(
            profile.controls, KernelOption, _config_line, other="it is no kernel option"
        )
        return with_comments(profile, found, len(found), left, "kernel options")


def shipped_of(controls: Sequence[Control]) -> str | None:
    """Return the kernel that boots as its distribution built it; None if the controls name none.

    Raises:
        InputError: There are options or patches for it, or two kernels.
    """
    kernel = _kernel(controls)
    if kernel is None or not kernel.shipped:
        return None
    if kernel.patches or of_kind(controls, KernelOption):
        raise InputError(
            f"{kernel.base} is built already: it takes no kernel options and no patches",
            hint='kernel = "lean" is built with them',
        )
    return kernel.base


def recipe_of(controls: Sequence[Control]) -> KernelRecipe | None:
    """Return the kernel to be built; None where the machine's own will do.

    Raises:
        InputError: There are options and no kernel to set them on, or two kernels.
    """
    from hardcost.protocol.boot import KernelRecipe  # noqa: PLC0415  (a price builds none)

    kernel = _kernel(controls)
    options = tuple((one.option, one.value) for one in of_kind(controls, KernelOption))
    if options and kernel is None:
        raise InputError(
            "there are kernel options, and no kernel to set them on", hint='add kernel = "lean"'
        )
    if kernel is None or kernel.shipped:
        return None
    return KernelRecipe(kernel.base, options, kernel.tolerant, kernel.patches)


def _kernel(controls: Sequence[Control]) -> Kernel | None:
    """Return the one kernel of the controls, with the patches of all that name it."""
    kernels = of_kind(controls, Kernel)
    bases = tuple(dict.fromkeys(kernel.base for kernel in kernels))
    if len(bases) > 1:
        raise InputError(f"a configuration has one kernel, and not {' and '.join(bases)}")
    if not kernels:
        return None
    tolerant = any(kernel.tolerant for kernel in kernels)
    patches = tuple(dict.fromkeys(patch for kernel in kernels for patch in kernel.patches))
    return replace(kernels[0], tolerant=tolerant, patches=patches)


def _is_bare(name: str) -> bool:
    """Say whether a kernel or series of patches comes with hardcost; others are paths."""
    return _BARE_NAME.fullmatch(name) is not None


def _is_elsewhere(name: str) -> bool:
    """Say whether a kernel's name is neither one that comes with hardcost nor a path."""
    return name == HOST or name.startswith((DEBIAN, INSTALLED))


def _anywhere(name: str) -> str:
    """Return a name that comes with hardcost, or a path that is right in any folder."""
    return name if _is_bare(name) or _is_elsewhere(name) else str(Path(name).absolute())


def _kernel_named(name: str, folder: Path) -> Kernel:
    """Return the kernel of a name; paths begin at `folder`."""
    if name.startswith(DEBIAN) and _VERSION.fullmatch(name.removeprefix(DEBIAN)) is None:
        raise ValueError(f"'{name}' names no version of Linux, such as debian:6.12")
    if name.startswith(INSTALLED) and not _RELEASE.fullmatch(name.removeprefix(INSTALLED)):
        raise ValueError(f"'{name}' names no release, such as installed:6.1.0-44-amd64")
    if _is_elsewhere(name):
        return Kernel(name, shipped=True)
    if _is_bare(name):
        return Kernel(name)
    path = folder / name
    try:
        if name and path.is_dir():
            return Kernel(str(path), shipped=True)
        if path.is_file():
            return Kernel(str(path), shipped=path.suffix in _PACKAGES or _is_binary(path))
        why = "there is no such file or folder"
    except (OSError, ValueError) as error:
        why = str(error)
    raise ValueError(f"the kernel '{name}' can't be read: {why}")


def _is_binary(path: Path) -> bool:
    with path.open("rb") as file:
        return b"\0" in file.read(_LOOKED_AT)


def _patches(words: Sequence[str], source: TableSource) -> Iterator[str]:
    """Yield series by their names, files and folders by their paths."""
    for index, word in enumerate(words):
        if _is_bare(word):
            yield word
            continue
        path = source.folder / word
        try:
            if word and path.exists():
                yield str(path)
                continue
            why = "there is no such file or folder"
        except (OSError, ValueError) as error:
            why = str(error)
        source.fault(f"the patch '{word}' can't be read: {why}", index)


def _config_line(option: KernelOption) -> str | None:
    """Return the line of a kernel configuration that is read as the same option."""
    if option.value == _NOT_SET:
        line, back = f"# CONFIG_{option.option} is not set", f"{option.option}={_NOT_SET}"
    else:
        bare = re.fullmatch(r"[ym]|-?\d+|0[xX][0-9A-Fa-f]+", option.value)
        value = option.value if bare else f'"{option.value}"'
        line = back = f"CONFIG_{option.option}={value}"
    try:
        return line if KernelOption.of(back) == option else None
    except ValueError:
        return None


KERNELS = KernelMechanism()
