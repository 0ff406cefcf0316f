"""Whether KVM works on this host, found out by booting a guest under it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from hardcost.errors import MachineError
from hardcost.machines.vm import argv
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.protocol.boot import Boot
from hardcost.supply.cache.cache import Cache
from hardcost.supply.emulators.emulator import HOST, Emulator

_KVM_DEVICE = Path("/dev/kvm")


async def kvm_works(
    cache: Cache,
    image: Path | None,
    limit_seconds: float = 10,
    emulator: Emulator = HOST,
    release: str | None = None,
) -> str | None:
    """Return None if a guest boots under KVM, else why it does not.

    The device file says nothing: some hosts offer a kind of KVM that hangs a stock kernel. So a
    guest is booted, with a time limit.
    """
    if not os.access(_KVM_DEVICE, os.R_OK | os.W_OK):
        return f"{_KVM_DEVICE} is missing, or not for this user to open (group kvm)"
    machine = VirtualMachine(cache, argv.Hardware("kvm"), image, emulator=emulator, release=release)
    machine.identity(Boot())  # fetches what is missing, which has no part in the time limit
    try:
        async with asyncio.timeout(limit_seconds):
            await machine.make_ready(Boot())
    except TimeoutError:
        return f"a guest under KVM did not boot within {limit_seconds:.0f} s"
    except MachineError as error:
        return f"a guest under KVM did not boot: {error}".splitlines()[0]
    return None
