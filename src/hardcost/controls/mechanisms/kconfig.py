"""Kernel options: fixed when the kernel is built, and then checked in its configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.controls.control import Kernel, KernelOption
from hardcost.errors import InputError
from hardcost.machines.machine import KernelRecipe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.controls.control import Control


def recipe(controls: Sequence[Control]) -> KernelRecipe | None:
    """Return the kernel to be built; None where the machine's own will do.

    Raises:
        InputError: There are options and no kernel to set them on, or two kernels.
    """
    kernels = [control for control in controls if isinstance(control, Kernel)]
    bases = tuple(dict.fromkeys(kernel.base for kernel in kernels))
    options = tuple(
        (control.option, control.value) for control in controls if isinstance(control, KernelOption)
    )
    if len(bases) > 1:
        raise InputError(f"a configuration has one kernel, and not {' and '.join(bases)}")
    if options and not bases:
        raise InputError(
            "there are kernel options, and no kernel to set them on", hint='add kernel = "lean"'
        )
    tolerant = any(kernel.tolerant for kernel in kernels)
    patches = tuple(dict.fromkeys(patch for kernel in kernels for patch in kernel.patches))
    return KernelRecipe(bases[0], options, tolerant, patches) if bases else None
