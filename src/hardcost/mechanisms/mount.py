"""Mount options: a directory is mounted on itself, with the options."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import BaseModel, Field

from hardcost.controls.control import Control, Profile, of_kind
from hardcost.errors import TrialError
from hardcost.mechanisms.ansible import Outside, TaskGroup
from hardcost.mechanisms.export import Left
from hardcost.mechanisms.mechanism import TABLE, Mechanism, Phase, TableSource
from hardcost.toml.write import TomlEntry

if TYPE_CHECKING:
    from hardcost.protocol.answers import Answer
    from hardcost.protocol.requests import Request

_FSTAB = re.compile(r"/[^\s#\\]*")  # as fstab writes it without escapes
_OPTION = re.compile(r"[\w=.:/%+-]+", re.ASCII)

_Path = Annotated[str, Field(pattern=r"^/([^/\s]+(/[^/\s]+)*)?$")]
_MountOption = Literal["noexec", "nosuid", "nodev", "noatime", "relatime", "nodiratime"]


@dataclass(frozen=True)
class MountOptions(Control):
    """Mount options of the directory's mount, such as `noexec`."""

    path: str
    options: tuple[str, ...]

    whole_system: ClassVar[bool] = True
    mechanism: ClassVar[str] = "mount"

    @property
    def slot(self) -> str:
        """Return the slot, which at most one control may have."""
        return f"mount {self.path}"

    @property
    def name(self) -> str:
        return f"mount {self.path} {','.join(self.options)}"


class MountKeys(BaseModel):
    """`[mount]` maps directories to mount options."""

    model_config = TABLE

    mount: dict[_Path, tuple[_MountOption, ...]] = {}


class MountMechanism(Mechanism[MountKeys]):
    """Mount options of a directory, which is mounted on itself with them."""

    name = "mount"
    toml = '`mount = { "/tmp" = ["noexec"] }`'
    verified_by = "the kernel's list of mounts"
    keys = MountKeys
    phase = Phase.MOUNTS

    def read(self, table: MountKeys, source: TableSource) -> Iterator[Control]:
        for path, options in table.mount.items():
            if options:
                place = source.place("mount", path)
                yield MountOptions(path, tuple(dict.fromkeys(options)), place=place)

    def write(self, controls: Sequence[Control]) -> Iterator[TomlEntry]:
        for one in of_kind(controls, MountOptions):
            yield TomlEntry(("mount", one.path), list(one.options), (one.name,))

    def ansible_tasks(self, profile: Profile) -> tuple[Sequence[TaskGroup], Sequence[Left]]:
        """Return the group of mount options, which are values."""
        options: list[Outside] = []
        left: list[Left] = []
        done = 0
        for control in of_kind(profile.controls, MountOptions):
            if not _FSTAB.fullmatch(control.path) or not control.path.isprintable():
                left.append((control.name, "fstab can't hold its path as it is"))
            elif not all(_OPTION.fullmatch(one) for one in control.options):
                left.append((control.name, "these are not mount options of one word"))
            else:
                done += 1
                options += [
                    Outside({"path": control.path, "option": one}) for one in control.options
                ]
        return [TaskGroup("mount", "mount options", done, {"mount_options": options})], left

    def requests(self, controls: Sequence[Control]) -> tuple[Request, ...]:
        """Return the requests that mount each directory, those nearer to the root first."""
        from hardcost.protocol import ask  # noqa: PLC0415  (a price mounts nothing)

        mounts = sorted(
            of_kind(controls, MountOptions), key=lambda one: (one.path.count("/"), one.path)
        )
        return tuple(ask.mount(one.path, one.options) for one in mounts)

    def verify(self, controls: Sequence[Control], answers: Sequence[Answer]) -> tuple[str, ...]:
        """Check that the kernel shows the options.

        Raises:
            TrialError: A mount lacks one of them.
        """
        from hardcost.protocol.answers import MountedAnswer, all_of  # noqa: PLC0415  (as above)

        found = {one.path: set(one.options) for one in all_of(answers, MountedAnswer)}
        for one in of_kind(controls, MountOptions):
            if one.path not in found:
                raise TrialError(f"{one.name} did not take: the machine did not mount it")
            missing = [option for option in one.options if option not in found[one.path]]
            if missing:
                shown = ",".join(sorted(found[one.path]))
                raise TrialError(f"{one.name} did not take: it is mounted with {shown}")
        return ()


MOUNTS = MountMechanism()
