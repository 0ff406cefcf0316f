"""Boot parameters and sysctls that replace kernel options, which saves a build."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from hardcost.controls.control import Kernel, KernelOption
from hardcost.machines import kernelconfig
from hardcost.profiles.kernel import kerneloptions

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from hardcost.controls.control import BootParameter, Control, Profile, Sysctl


def booted(profile: Profile) -> Profile:
    """Return the profile with equivalents instead of its kernel options, and notes on each.

    An option stays if it has no equivalent, or if the equivalent's parameter needs another option
    built in that neither the base nor the profile sets.

    Raises:
        InputError: The base is not a kernel configuration.
    """
    built_in = _built_in(profile)
    controls: list[Control] = []
    notes: list[str] = []
    for control in profile.controls:
        stand_in = _stand_in(control, built_in) if isinstance(control, KernelOption) else None
        controls.append(stand_in or control)
        if stand_in is not None and isinstance(control, KernelOption):
            differs = kerneloptions.equivalence_note(control)
            notes.append(f"{stand_in.name} replaces {control.name}. {differs}".strip())
    return dataclasses.replace(
        profile,
        controls=tuple(dict.fromkeys(controls)),
        notes=(*profile.notes, *notes),
    )


def _stand_in(option: KernelOption, built_in: AbstractSet[str]) -> BootParameter | Sysctl | None:
    """Return the replacement of an option, unless the kernel would not know it."""
    needed = kerneloptions.needs(option)
    if needed is not None and needed not in built_in:
        return None
    return kerneloptions.equivalent(option)


def _built_in(profile: Profile) -> set[str]:
    """Return the options that the profile's base sets, or the profile itself."""
    bases = [one.base for one in profile.controls if isinstance(one, Kernel)]
    known = {
        name: value
        for base in bases
        for name, value in kernelconfig.read(kernelconfig.base_text(base), base).items()
    }
    own = {one.option: one.value for one in profile.controls if isinstance(one, KernelOption)}
    known |= {name: value for name, value in own.items() if value != kernelconfig.NOT_SET}
    return {name for name, value in known.items() if value != kernelconfig.NOT_SET}
