"""Boot parameters: words on the kernel's command line, fixed before a machine starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.controls.control import BootParameter
from hardcost.controls.uncounted import wrong_value
from hardcost.errors import InputError, Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.controls.control import Control
    from hardcost.machines.bootline import Verdict

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


def refused(controls: Sequence[Control], verdicts: Sequence[Verdict]) -> tuple[Problem, ...]:
    """Return a problem for each parameter that the guest's kernel does not take as it is written.

    One that the kernel does not know, or whose value it ignores, would be billed as free.
    """
    by_word = {verdict.word: verdict for verdict in verdicts}
    problems = []
    for control in _parameters(controls):
        verdict, value = by_word.get(control.text), wrong_value(control)
        name, sign, _ = control.text.partition("=")
        if verdict is not None and verdict.refused:
            message = f"boot parameter '{control.text}': {verdict.refused}"
            meant = None if verdict.meant in {None, name} else verdict.meant
        elif value is not None:
            message = f"boot parameter '{control.text}': the kernel takes no such value of {name}"
            meant = None
        else:
            continue
        near = meant or (f"{name}{sign}{value}" if value else None)
        hint = f"did you mean {near}?" if near else "leave it out, or give the guest another kernel"
        problems.append(Problem(message, control.place, hint))
    return tuple(problems)


def notes(controls: Sequence[Control], verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """Return what is not known of the controls' parameters."""
    words = {control.text for control in _parameters(controls)}
    found = (verdict for verdict in verdicts if verdict.note and verdict.word in words)
    return tuple(f"boot parameter '{one.word}': {one.note}" for one in found)


def _parameters(controls: Sequence[Control]) -> list[BootParameter]:
    return [control for control in controls if isinstance(control, BootParameter)]
