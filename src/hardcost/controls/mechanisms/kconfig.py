"""Which kernel boots: one that exists, or one that is built with options, checked in the result."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hardcost.controls.control import Kernel, KernelOption
from hardcost.errors import InputError
from hardcost.machines.machine import KernelRecipe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.controls.control import Control


def shipped(controls: Sequence[Control]) -> str | None:
    """Return the kernel that boots as somebody else built it; None if the controls name none.

    Raises:
        InputError: There are options or patches for it, or two kernels.
    """
    kernel = _kernel(controls)
    if kernel is None or not kernel.shipped:
        return None
    if kernel.patches or any(isinstance(control, KernelOption) for control in controls):
        raise InputError(
            f"{kernel.base} is built already: it takes no kernel options and no patches",
            hint='kernel = "lean" is built with them',
        )
    return kernel.base


def recipe(controls: Sequence[Control]) -> KernelRecipe | None:
    """Return the kernel to be built; None where the machine's own will do.

    Raises:
        InputError: There are options and no kernel to set them on, or two kernels.
    """
    kernel = _kernel(controls)
    options = tuple(
        (control.option, control.value) for control in controls if isinstance(control, KernelOption)
    )
    if options and kernel is None:
        raise InputError(
            "there are kernel options, and no kernel to set them on", hint='add kernel = "lean"'
        )
    if kernel is None or kernel.shipped:
        return None
    return KernelRecipe(kernel.base, options, kernel.tolerant, kernel.patches)


def _kernel(controls: Sequence[Control]) -> Kernel | None:
    """Return the one kernel of the controls, with the patches of all that name it.

    Raises:
        InputError: They name two.
    """
    kernels = [control for control in controls if isinstance(control, Kernel)]
    bases = tuple(dict.fromkeys(kernel.base for kernel in kernels))
    if len(bases) > 1:
        raise InputError(f"a configuration has one kernel, and not {' and '.join(bases)}")
    if not kernels:
        return None
    tolerant = any(kernel.tolerant for kernel in kernels)
    patches = tuple(dict.fromkeys(patch for kernel in kernels for patch in kernel.patches))
    return replace(kernels[0], tolerant=tolerant, patches=patches)
