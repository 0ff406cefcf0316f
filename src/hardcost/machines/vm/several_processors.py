"""Several processors under QEMU's instruction counter: which QEMU can, and which boots can't."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from hardcost.errors import HardcostError, InputError
from hardcost.machines.options import MachineOptions
from hardcost.machines.vm.argv import prevents_snapshots
from hardcost.protocol.boot import Boot
from hardcost.supply.cache.cache import Cache
from hardcost.supply.emulators.emulator import HOST, Emulator, stated_version
from hardcost.supply.emulators.names import emulator_named

_BROUGHT = "debian:13"  # where this host's can't start a second processor
_LEAST = 10  # QEMU's version; in 7.2 the second processor never starts under -icount


def emulator_for(cache: Cache, wanted: MachineOptions, note: Callable[[str], None]) -> Emulator:
    """Return the QEMU that is wanted, or for several processors one that can run them.

    Raises:
        InputError: The one that is named can't.
        MachineError: It can't be fetched.
    """
    if wanted.processors == 1:
        return emulator_named(cache, wanted.qemu, note)
    if wanted.qemu is None:
        if _can_start_several(HOST):
            return HOST
        note(f"several processors: QEMU is {_BROUGHT}'s, since this host's can't count on them")
        return emulator_named(cache, _BROUGHT, note)
    found = emulator_named(cache, wanted.qemu, note)
    if not _can_start_several(found):
        raise InputError(
            f"the QEMU '{wanted.qemu}' can't count instructions on several processors",
            hint=f"it takes QEMU {_LEAST} or later: leave --qemu out, or say --qemu {_BROUGHT}",
        )
    return found


def _can_start_several(emulator: Emulator) -> bool:
    """Say whether a QEMU is there, and starts a second processor under the counter."""
    try:
        major = stated_version(emulator).partition(".")[0]
    except HardcostError:
        return False
    return major.isdecimal() and int(major) >= _LEAST


def check(boots: Iterable[Boot]) -> None:
    """Check that guests can go on from a snapshot: a boot with all processors takes minutes.

    Raises:
        InputError: One can't.
    """
    reasons = sorted({reason for boot in boots for reason in _reasons(boot)})
    if reasons:
        raise InputError(
            f"several processors can't be measured where {'; '.join(reasons)}",
            hint="leave --processors out, or that",
        )


def _reasons(boot: Boot) -> Iterator[str]:
    if boot.kernel is not None:
        yield "a kernel is built: its guest boots for each trial"
    if boot.init == "systemd":
        yield "systemd starts the system: it does so for each trial"
    if boot.fresh:
        yield "each trial is to boot"
    if prevents_snapshots(boot):
        yield (
            f"the boot parameters {' '.join(boot.parameters)} keep the probe from the timers that"
            " set how processors take turns"
        )
