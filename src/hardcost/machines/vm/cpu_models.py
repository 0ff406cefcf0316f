"""The processor models that QEMU emulates, and the usual one, which is to be the same in each."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import replace

from hardcost.errors import InputError
from hardcost.machines.vm.argv import Hardware
from hardcost.supply.emulators.emulator import HOST, Emulator, answer, stated_version

_USUAL = "max"

# What `max` is in QEMU 7.2, by which prices are measured. Newer ones have a processor of no family,
# for which the kernel clears and copies memory in other ways, and features that 7.2 lacks
# (docs/determinism.md, by `query-cpu-model-expansion` of both).
_REFERENCE = "7.2."
_REFERENCE_FAMILY = "family=15,model=107,stepping=1"
_NEWER_FEATURES = (
    "3dnowprefetch",
    "cmp-legacy",
    "cmpccxadd",
    "fsrc",
    "fsrs",
    "fzrm",
    "rdpid",
    "sha-ni",
    "wbnoinvd",
    "x2apic",
    "xsaveerptr",
)


def pin_model(hardware: Hardware, emulator: Emulator) -> Hardware:
    """Return hardware with the features that make the model `max` the one of QEMU 7.2.

    Several processors keep their QEMU's own `max`: only newer ones count on them.

    Raises:
        MachineError: QEMU is missing.
    """
    exact = hardware.acceleration == "icount" and not hardware.takes_turns
    if not exact or hardware.cpu_features or hardware.cpu_model.partition(",")[0] != _USUAL:
        return hardware
    if stated_version(emulator).startswith(_REFERENCE):
        return hardware
    return replace(hardware, cpu_features=reference_features(answer(emulator, "-cpu", "help")))


def reference_features(listing: str) -> str:
    """Return the features that make a newer QEMU's `max` that of 7.2, of those in `-cpu help`."""
    known = set(listing.split())
    off = (f"{one}=off" for one in _NEWER_FEATURES if one in known)
    return ",".join((_REFERENCE_FAMILY, *off))


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
