"""The processor models that QEMU emulates."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from hardcost.errors import InputError
from hardcost.supply.emulators.emulator import HOST, Emulator, answer

_USUAL = "max"


def check(model: str, emulator: Emulator = HOST) -> None:
    """Check that QEMU has a processor model; after a comma are features, which QEMU checks.

    Raises:
        InputError: There is none of the name.
        MachineError: QEMU is missing.
    """
    name = model.partition(",")[0]
    if name == _USUAL:
        return
    known = models(answer(emulator, "-cpu", "help"))
    if name not in known:
        close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
        meant = f"did you mean '{close[0]}'? " if close else ""
        listed = ", ".join(one for one in known if "-v" not in one)
        raise InputError(
            f"--cpu: QEMU has no processor model '{name}'", hint=f"{meant}there are {listed}"
        )


def models(listing: str) -> Sequence[str]:
    """Return the names in what `-cpu help` prints: a model a line, some with `x86` before it."""
    names = []
    for line in listing.partition("Available CPUs:")[2].splitlines()[1:]:
        words = line.split()
        if not words:
            break
        names.append(words[1] if words[0] == "x86" and len(words) > 1 else words[0])
    return names
