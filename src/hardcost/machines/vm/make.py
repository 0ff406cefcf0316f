"""Makes the machine `vm` from the user's options, or from the files of another host."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from hardcost.errors import MachineError
from hardcost.machines.options import MachineOptions
from hardcost.machines.vm import cpu_models
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.content.disks import DebianRoots, OwnRoots, Roots
from hardcost.machines.vm.kvm import kvm_works
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.machines.vm.several_processors import emulator_for
from hardcost.machines.vm.supplied_machine import SuppliedMachine
from hardcost.supply.cache.cache import Cache
from hardcost.supply.emulators.names import check_emulator, is_hosts
from hardcost.supply.images.user_root import image_file, rootfs_dir
from hardcost.supply.kernels.builds import build_facts, built, check_builder, kernels
from hardcost.supply.packages import guest_release, host_release
from hardcost.supply.progress import Listener
from hardcost.supply.transfer import Order

__all__ = ["build_facts", "built", "check", "check_builder", "facts", "make", "roots", "supplied"]


def check(wanted: MachineOptions) -> None:
    """Check that the host is one of those that hardcost was tried on, and what guests are made of.

    A QEMU that may have to be fetched is asked for its models when the machine is made.

    Raises:
        InputError: There is no such QEMU or release, or this host's QEMU has no such model.
        MachineError: The host is none on which hardcost can measure, or QEMU is missing, which
            lists the models.
    """
    host_release.check()
    guest_release.check_guest(wanted.guest)
    check_emulator(wanted.qemu)
    if is_hosts(wanted.qemu):
        cpu_models.check(wanted.cpu)


async def make(wanted: MachineOptions, listener: Listener) -> VirtualMachine:
    """Return the machine: under the instruction counter if it is to be exact, else under KVM.

    Raises:
        InputError: There is no such QEMU, or it has no such processor model.
        MachineError: Times are wanted of a processor, and KVM is not usable; or the QEMU can't be
            fetched.
    """
    cache = Cache()
    emulator = await asyncio.to_thread(emulator_for, cache, wanted, listener.note)
    release = guest_release.codename(wanted.guest)
    cpu_models.check(wanted.cpu, emulator)

    def machine(hardware: Hardware, *remarks: str) -> VirtualMachine:
        return VirtualMachine(
            cache,
            hardware,
            wanted.kernel,
            kernels(cache, listener, wanted.source, unconfined=wanted.unconfined),
            roots(wanted.image, wanted.rootfs, listener, release),
            remarks=remarks,
            emulator=emulator,
            release=release,
        )

    if wanted.exact:
        return machine(Hardware("icount", wanted.cpu, wanted.processors))
    listener.note("trying a guest under KVM …")
    why_not = await kvm_works(cache, wanted.kernel, emulator=emulator, release=release)
    if why_not is None:
        return machine(Hardware("kvm", "host"))
    if not wanted.emulated_time:
        raise MachineError(
            "times can't be itemised here: KVM is not usable, and an emulator's times say nothing"
            f" of a processor's, and are mostly noise ({why_not})",
            hint="--instrument insn counts instructions exactly; `hardcost doctor` says whether KVM"
            " works; --force-emulated-time itemises them all the same",
        )
    emulated = (
        f"these times are an emulator's, not a processor's: KVM is not usable here ({why_not})"
    )
    return machine(Hardware("tcg", wanted.cpu), emulated)


def facts() -> dict[str, str]:
    """Return the version of QEMU, which decides what is counted."""
    return {"QEMU": VirtualMachine(Cache(), Hardware("icount")).qemu_version}


def supplied(order: Order, files: Mapping[str, Path], cache: Cache) -> VirtualMachine:
    """Return the machine of another host's order, made of the files that it names.

    Raises:
        MachineError: What it is does not come out here.
    """
    return SuppliedMachine(order, files, cache)


def roots(
    image: Path | None, rootfs: Path | None, listener: Listener, release: str | None = None
) -> Roots:
    """Return the roots of guests with services: the user's, else Debian's, made here."""
    if image is not None:
        return OwnRoots(lambda cache: image_file(image, cache))
    if rootfs is not None:
        return OwnRoots(lambda cache: rootfs_dir(rootfs, cache))
    return DebianRoots(listener.underway, release)
