"""The machine `vm` as a user wants it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.errors import MachineError
from hardcost.machines import host
from hardcost.machines.cache import Cache
from hardcost.machines.images.own import image_file, rootfs_dir
from hardcost.machines.kernelbuilding import build_facts, built, check_builder, kernels
from hardcost.machines.qemu import processors
from hardcost.machines.qemu.argv import Hardware
from hardcost.machines.qemu.kvmtrial import kvm_works
from hardcost.machines.qemu.roots import DebianRoots, OwnRoots
from hardcost.machines.qemu.supplied import SuppliedMachine
from hardcost.machines.qemu.vm import VirtualMachine

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from hardcost.machines.progress import Listener
    from hardcost.machines.qemu.roots import Roots
    from hardcost.machines.supplies import Order
    from hardcost.machines.wanted import Wanted


__all__ = ["build_facts", "built", "check", "check_builder", "facts", "make", "roots", "supplied"]


def check(wanted: Wanted) -> None:
    """Check that the host is one of those that hardcost was tried on, and the processor's model.

    Raises:
        InputError: QEMU has no such model.
        MachineError: The host is none on which hardcost can measure, or QEMU is missing, which
            lists the models.
    """
    host.check()
    processors.check(wanted.cpu)


async def make(wanted: Wanted, listener: Listener) -> VirtualMachine:
    """Return the machine: under the instruction counter if it is to be exact, else under KVM.

    Raises:
        MachineError: Times are wanted of a processor, and KVM is not usable.
    """
    cache = Cache()
    if wanted.exact:
        return _machine(cache, Hardware("icount", wanted.cpu), wanted, listener)
    listener.note("trying a guest under KVM …")
    why_not = await kvm_works(cache, wanted.kernel)
    if why_not is None:
        return _machine(cache, Hardware("kvm", "host"), wanted, listener)
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
    return _machine(cache, Hardware("tcg", wanted.cpu), wanted, listener, emulated)


def facts() -> dict[str, str]:
    """Return the version of QEMU, which decides what is counted."""
    return {"QEMU": VirtualMachine(Cache(), Hardware("icount")).qemu_version}


def supplied(order: Order, files: Mapping[str, Path], cache: Cache) -> VirtualMachine:
    """Return the machine of another host's order, made of the files that it names.

    Raises:
        MachineError: What it is does not come out here.
    """
    return SuppliedMachine(order, files, cache)


def roots(image: Path | None, rootfs: Path | None, listener: Listener) -> Roots:
    """Return what guests with services have for a root: one of the user's, else our Debian."""
    if image is not None:
        return OwnRoots(lambda cache: image_file(image, cache))
    if rootfs is not None:
        return OwnRoots(lambda cache: rootfs_dir(rootfs, cache))
    return DebianRoots(listener.underway)


def _machine(
    cache: Cache, hardware: Hardware, wanted: Wanted, listener: Listener, *remarks: str
) -> VirtualMachine:
    return VirtualMachine(
        cache,
        hardware,
        wanted.kernel,
        kernels(cache, listener, wanted.source, unconfined=wanted.unconfined),
        roots(wanted.image, wanted.rootfs, listener),
        remarks=remarks,
    )
