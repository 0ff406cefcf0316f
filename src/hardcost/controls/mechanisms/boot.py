"""Boot parameters: words on the kernel's command line, settled before a machine starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.controls.control import BootParameter
from hardcost.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.controls.control import Control

AUDIT_OFF = "audit=0"


def boot_parameters(controls: Sequence[Control]) -> tuple[str, ...]:
    """Return the words that the controls add to the kernel's command line, in their order.

    Raises:
        InputError: One is not a single word.
    """
    words: list[str] = []
    for control in controls:
        if isinstance(control, BootParameter):
            try:
                words.append(control.word)
            except ValueError as error:
                raise InputError(str(error), hint="give each word by itself") from None
    return tuple(words)


def verify(controls: Sequence[Control]) -> tuple[str, ...]:
    """Return a note on the parameters that nothing told us the kernel knows; audit=0 is known."""
    words = [control.text for control in controls if isinstance(control, BootParameter)]
    unknown = [word for word in words if word != AUDIT_OFF]
    if not unknown:
        return ()
    told = "a boot parameter that it does not know changes nothing, and costs nothing but chance"
    return (f"whether the kernel knows {' '.join(unknown)} was not checked: {told}",)
