"""The major security module: none, AppArmor, or SELinux, by words on the kernel's command line.

The minor modules are the same in every mode, so that modes differ only in the major one. By
default, Debian's kernel starts AppArmor. SELinux's policy is loaded by the guest's init, and the
image's files are labelled; AppArmor's profiles are loaded here: those of Debian's packages for
programs that the guest has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import BaseModel

from hardcost.controls.control import Control, Profile, of_kind
from hardcost.errors import InputError
from hardcost.mechanisms.ansible import TaskGroup
from hardcost.mechanisms.export import Left
from hardcost.mechanisms.mechanism import TABLE, Mechanism, Phase, TableSource
from hardcost.toml.write import TomlEntry

if TYPE_CHECKING:
    from hardcost.protocol.answers import Answer
    from hardcost.protocol.requests import Request

_WORDS = {
    "none": ("lsm=landlock,lockdown,yama,integrity,bpf",),
    "apparmor": ("lsm=landlock,lockdown,yama,integrity,apparmor,bpf", "apparmor=1"),
    "permissive": (
        "lsm=landlock,lockdown,yama,integrity,selinux,bpf",
        "selinux=1",
        "enforcing=0",
    ),
    "enforcing": (
        "lsm=landlock,lockdown,yama,integrity,selinux,bpf",
        "selinux=1",
        "enforcing=1",
    ),
}

LsmMode = Literal["none", "apparmor", "permissive", "enforcing"]
"""Which major security module is active; `permissive` and `enforcing` are SELinux's modes."""

_OF_SELINUX = frozenset({"permissive", "enforcing"})
_ENFORCING = ("CCE-84079-3",)
"""The RHEL 9 rule of SCAP Security Guide that requires SELinux's state."""


@dataclass(frozen=True)
class Lsm(Control):
    """The major security module of a Debian guest, with its policy loaded."""

    mode: LsmMode

    packages: ClassVar[tuple[str, ...]] = ("apparmor", "selinux-policy-default")
    boots: ClassVar[bool] = True
    whole_system: ClassVar[bool] = True
    suspect: ClassVar[bool] = True
    mechanism: ClassVar[str] = "lsm"
    lacking: ClassVar[str] = "no security module"
    single: ClassVar[bool] = True

    @property
    def name(self) -> str:
        return f"lsm={self.mode}"

    def absence(self) -> Control:
        """Return that there is none: Debian's kernel would start AppArmor by default."""
        return Lsm("none")


class LsmKeys(BaseModel):
    """`lsm` is the major security module and its mode."""

    model_config = TABLE

    lsm: LsmMode | None = None


class LsmMechanism(Mechanism[LsmKeys]):
    """The security module, SELinux with Debian's policy loaded and all files labelled."""

    name = "lsm"
    toml = '`lsm = "none"`, `"apparmor"`, `"permissive"`, `"enforcing"`'
    verified_by = "the mode before and after, each service's domain"
    keys = LsmKeys
    phase = Phase.POLICY
    # A system that runs has loaded AppArmor's profiles itself, the kernel says SELinux's mode
    # without getenforce, and denials are not counted there.
    only_in_guests = frozenset({"apparmor-load", "getenforce", "lsm-denials"})

    def read(self, table: LsmKeys, source: TableSource) -> Iterator[Control]:
        if table.lsm is not None:
            ids = _ENFORCING if table.lsm == "enforcing" else ()
            yield Lsm(table.lsm, ids=ids, place=source.place("lsm"))

    def write(self, controls: Sequence[Control]) -> Iterator[TomlEntry]:
        for one in of_kind(controls, Lsm):
            yield TomlEntry(("lsm",), one.mode, (one.name,))

    def ansible_tasks(self, profile: Profile) -> tuple[Sequence[TaskGroup], Sequence[Left]]:
        """Return SELinux's group and AppArmor's; that there is no module is nothing to set."""
        found = of_kind(profile.controls, Lsm)
        modes = [one.mode for one in found if one.mode in _OF_SELINUX]
        values = {"selinux_mode": modes[-1]} if modes else {}
        apparmor = sum(one.mode == "apparmor" for one in found)
        groups = (
            TaskGroup("selinux", "SELinux's mode", len(modes), values, can_refuse=True),
            TaskGroup("apparmor", "AppArmor", apparmor, can_refuse=True),
        )
        return groups, [(one.name, "it is the lack of one") for one in found if one.mode == "none"]

    def boot_parameters(self, controls: Sequence[Control]) -> tuple[str, ...]:
        """Return the words that choose the security module."""
        lsm = _lsm(controls)
        return () if lsm is None else _WORDS[lsm.mode]

    def requests(self, controls: Sequence[Control]) -> tuple[Request, ...]:
        """Return the requests that load AppArmor's profiles and report the module."""
        from hardcost.mechanisms import lsm_in_guest  # noqa: PLC0415  (a price needs no guest)

        lsm = _lsm(controls)
        return () if lsm is None else lsm_in_guest.module_requests(lsm.mode)

    def finish(self, controls: Sequence[Control]) -> tuple[Request, ...]:
        """Return the requests that count denials and report whether SELinux kept its mode."""
        from hardcost.mechanisms import lsm_in_guest  # noqa: PLC0415  (as above)

        lsm = _lsm(controls)
        return () if lsm is None else lsm_in_guest.final_requests(lsm.mode)

    def verify(self, controls: Sequence[Control], answers: Sequence[Answer]) -> tuple[str, ...]:
        """Check that the module is there, with its policy, in its mode.

        Returns notes: who is confined by what, and what was denied.

        Raises:
            TrialError: The kernel runs another module, or another mode, than was asked for.
        """
        from hardcost.mechanisms import lsm_in_guest  # noqa: PLC0415  (as above)

        lsm = _lsm(controls)
        return () if lsm is None else lsm_in_guest.verify_module(lsm.mode, controls, answers)


def _lsm(controls: Sequence[Control]) -> Lsm | None:
    found = of_kind(controls, Lsm)
    if len(found) > 1:
        raise InputError(f"there can't be both {found[0].name} and {found[1].name}")
    return found[0] if found else None


SECURITY_MODULE = LsmMechanism()
