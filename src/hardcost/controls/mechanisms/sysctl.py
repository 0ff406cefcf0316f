"""Kernel settings under /proc/sys: written while the machine runs, read back, and compared."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hardcost.controls.control import Sysctl
from hardcost.errors import InputError, TrialError
from hardcost.protocol.answers import WrittenAnswer, all_of
from hardcost.protocol.requests import Write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.controls.control import Control
    from hardcost.protocol.answers import Answer
    from hardcost.protocol.requests import Request

_EMPTY = "\n"
"""What systemd-sysctl writes of an empty value: nothing at all would leave the old one."""


def requests(controls: Sequence[Control]) -> tuple[Request, ...]:
    """Return what the probe is asked to write.

    Raises:
        InputError: A key names nothing under /proc/sys.
    """
    return tuple(
        Write(path=_path(control), value=control.value or _EMPTY)
        for control in controls
        if isinstance(control, Sysctl)
    )


def verify(controls: Sequence[Control], answers: Sequence[Answer]) -> tuple[str, ...]:
    """Check that each setting reads as it was written; spaces and tabs count alike.

    Returns notes on settings that can't be read back.

    Raises:
        TrialError: A setting did not take its value.
    """
    notes: list[str] = []
    written = all_of(answers, WrittenAnswer)
    for control in controls:
        if not isinstance(control, Sysctl):
            continue
        found = next((answer for answer in written if answer.path == _path(control)), None)
        if found is None:
            raise TrialError(f"the machine did not set {control.name}")
        # A key set twice is answered twice, in order.
        written.remove(found)
        if found.after is None:
            notes.append(f"{control.key} can't be read back: whether it took is not known")
        elif found.after.split() != control.value.split():
            raise TrialError(
                f"{control.name} did not take: {control.key} is {found.after!r}",
                place=control.place,
                hint=f"before, it was {found.before!r}: does the kernel take this value?",
            )
    return tuple(notes)


def explain(controls: Sequence[Control], message: str) -> InputError | None:
    """Return the user's error behind a failure that the guest reports; None if it is another."""
    for control in controls:
        if not isinstance(control, Sysctl):
            continue
        _, found, reason = message.partition(f"{_path(control)}: ")
        if found and "No such file" in reason:
            return InputError(
                f"the kernel has no setting {control.key}",
                place=control.place,
                hint="is the key misspelt, or the kernel built without it?",
            )
        if found:
            return InputError(
                f"the kernel refuses {control.name}: {re.sub(r' [(]os error .*', '', reason)}",
                place=control.place,
                hint="the kernel's documentation of the setting says what it takes",
            )
    return None


def _path(control: Sysctl) -> str:
    """Return the setting's file.

    Raises:
        InputError: The key names none.
    """
    try:
        return control.path
    except ValueError as error:
        raise InputError(str(error), hint="sysctl -a lists the keys") from None
