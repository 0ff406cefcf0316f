"""Applying controls: what is booted, what the probe is asked to do, and whether it took."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hardcost.controls.mechanisms import audit, boot, kconfig, sysctl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hardcost.controls.control import Control
    from hardcost.errors import InputError
    from hardcost.machines.machine import KernelRecipe


def boot_parameters(controls: Sequence[Control]) -> tuple[str, ...]:
    """Return the words that the controls add to the kernel's command line.

    Raises:
        InputError: One is not a single word.
    """
    return boot.boot_parameters(controls)


def kernel(controls: Sequence[Control]) -> KernelRecipe | None:
    """Return the kernel that has to be built for the controls; None: the machine's own will do.

    Raises:
        InputError: There are options and no kernel to set them on.
    """
    return kconfig.recipe(controls)


def requests(controls: Sequence[Control]) -> tuple[dict[str, object], ...]:
    """Return what the probe is asked to do, before any workload; audit comes last.

    Raises:
        InputError: A control can't be applied.
    """
    return (*sysctl.requests(controls), *audit.requests(controls))


def verify(controls: Sequence[Control], answers: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Check in the probe's answers that every control took, and return notes for the reader.

    Raises:
        InputError: The guest's own tools refused a control, such as a rule that is misspelt.
        TrialError: A control did not take.
    """
    return (
        *boot.verify(controls),
        *sysctl.verify(controls, answers),
        *audit.verify(controls, answers),
    )


def explain(controls: Sequence[Control], message: str) -> InputError | None:
    """Return the user's error behind a failure that the probe reports; None if it is another.

    The probe ends at a request that fails, so that there are no answers to verify.
    """
    return sysctl.explain(controls, message) or audit.explain(controls, message)
