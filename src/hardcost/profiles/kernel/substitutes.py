"""Boot parameters and sysctls that replace kernel options, which saves a build."""

from __future__ import annotations

import dataclasses
from collections.abc import Set as AbstractSet

from hardcost.controls.control import Control, Profile, of_kind
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.kconfig import Kernel, KernelOption
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.profiles.kernel import options
from hardcost.supply.kernels import config


def replace_kernel_options(profile: Profile) -> Profile:
    """Return the profile with equivalents instead of its kernel options, and notes on each.

    An option stays if it has no equivalent, or if the equivalent's parameter needs another option
    built in that neither the base nor the profile sets.

    Raises:
        InputError: The base is not a kernel configuration.
    """
    built_in = _options_set(profile)
    stand_ins: dict[Control, BootParameter | Sysctl] = {}
    notes: list[str] = []
    for option in of_kind(profile.controls, KernelOption):
        stand_in = _stand_in(option, built_in)
        if stand_in is not None:
            stand_ins[option] = stand_in
            differs = options.equivalence_note(option)
            notes.append(f"{stand_in.name} replaces {option.name}. {differs}".strip())
    controls = (stand_ins.get(one, one) for one in profile.controls)
    return dataclasses.replace(
        profile,
        controls=tuple(dict.fromkeys(controls)),
        notes=(*profile.notes, *notes),
    )


def _stand_in(option: KernelOption, built_in: AbstractSet[str]) -> BootParameter | Sysctl | None:
    """Return the replacement of an option, unless the kernel would not know it."""
    needed = options.needs(option)
    if needed is not None and needed not in built_in:
        return None
    return options.equivalent_of(option)


def _options_set(profile: Profile) -> set[str]:
    """Return the options that the profile's base sets, or the profile itself."""
    bases = [one.base for one in of_kind(profile.controls, Kernel)]
    known = {
        name: value
        for base in bases
        for name, value in config.read(config.base_text(base), base).items()
    }
    own = {one.option: one.value for one in of_kind(profile.controls, KernelOption)}
    known |= {name: value for name, value in own.items() if value != config.NOT_SET}
    return {name for name, value in known.items() if value != config.NOT_SET}
