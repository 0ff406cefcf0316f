"""The requirements of the machine `vm`, checked one by one, and a trial of its guests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from hardcost.errors import HardcostError, MachineError
from hardcost.host import compiler, process, sandbox
from hardcost.host.install_command import install
from hardcost.machines.check import Check, attempt, program
from hardcost.machines.options import MachineOptions
from hardcost.machines.vm import confinement, guest_user
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.content import initramfs
from hardcost.machines.vm.kvm import kvm_works
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.protocol.boot import Boot
from hardcost.supply.cache.cache import Cache
from hardcost.supply.emulators.debian import fetchable, is_here
from hardcost.supply.emulators.emulator import QEMU, Emulator
from hardcost.supply.emulators.names import emulator_named
from hardcost.supply.images import debian, user_namespace
from hardcost.supply.kernels import source
from hardcost.supply.packages import guest_release
from hardcost.supply.packages.debian import knows_current_kernel

_LIMIT_SECONDS = 120.0
_OWN = {
    "own": "one of its own for each guest: a free user id",
    "subordinate": "one of its own for each guest: a subordinate id, in a user namespace",
}
_ONE = {
    "nobody": "one for all, `nobody`, whose other processes can forge trials",
    "same": "one for all, this user, so that a guest that is broken into can forge others' trials",
}


def examine(cache: Cache, wanted: MachineOptions) -> Sequence[Check]:
    """Look at programs, packages and what guests are made of; nothing is booted.

    Raises:
        HardcostError: The QEMU that is wanted can't be had.
    """
    emulator, release = _emulator(cache, wanted), guest_release.codename(wanted.guest)
    machine = VirtualMachine(cache, Hardware("icount"), emulator=emulator, release=release)
    return (
        program("setpriv", "util-linux"),
        attempt("QEMU", lambda: machine.qemu_version),
        *_fetchable(cache),
        *_releases(cache),
        _confinement(emulator),
        _users(),
        attempt(
            "the probe", lambda: f"{initramfs.probe_binary()}, built with {initramfs.toolchain()}"
        ),
        attempt("kernel", lambda: machine.kernel.release),
        attempt("small guest", lambda: str(initramfs.initramfs(cache, release=release))),
        _building(cache),
        _sandbox(),
        _images(release),
        _converting(),
    )


async def try_out(cache: Cache, wanted: MachineOptions) -> Sequence[Check]:
    """Boot a guest under the instruction counter, and one under KVM.

    Raises:
        HardcostError: The QEMU that is wanted can't be had.
    """
    emulator, release = _emulator(cache, wanted), guest_release.codename(wanted.guest)
    machine = VirtualMachine(cache, Hardware("icount"), emulator=emulator, release=release)
    return (await _exact(machine), await _kvm(machine))


def _emulator(cache: Cache, wanted: MachineOptions) -> Emulator:
    return emulator_named(cache, wanted.qemu, lambda _note: None)


def _fetchable(cache: Cache) -> Iterator[Check]:
    """Say which QEMUs can be fetched; none is a condition of measuring."""
    for one in fetchable():
        kept = "in the cache" if is_here(cache, one) else "fetched when it is first used"
        yield Check(f"--qemu {one.name}", ok=True, found=f"{one.title}: {kept}", needed=False)


def _releases(cache: Cache) -> Iterator[Check]:
    """Say which releases guests can be made of; only the host's is fetched without being named."""
    for name in guest_release.NAMES:
        release = guest_release.codename(name)
        kept = knows_current_kernel(cache, release)
        found = "in the cache" if kept else "fetched when it is first used"
        whose = "this host's: " if release is None else ""
        yield Check(f"--guest {name}", ok=True, found=f"{whose}{found}", needed=False)


def _confinement(emulator: Emulator) -> Check:
    """Say what keeps QEMU from the host; it is no condition of measuring."""
    name = "QEMU kept apart"
    if emulator.root is None and process.find_program(QEMU) is None:
        return Check(name, ok=False, found="there is no QEMU", needed=False)
    filtered = bool(confinement.sandbox_words(emulator))
    calls = "its system calls are filtered" if filtered else "its build can't filter system calls"
    remedy = "install a QEMU that is built with seccomp, as Debian's is"
    return Check(name, filtered, calls, remedy, needed=False)


def _users() -> Check:
    """Say whether guests are kept from each other, and from others of their user's processes."""
    name = "users of guests"
    if process.find_program("setpriv") is None:
        return Check(name, ok=False, found="there is no setpriv", needed=False)
    try:
        found = guest_user.ways()
    except MachineError as error:  # which ends each run
        return Check(name, ok=False, found=str(error), remedy=error.problems[0].hint or "")
    if not found.why:
        return Check(name, ok=True, found=_OWN[found.way], needed=False)
    said = f"{_ONE[found.way]}: {found.why}"
    return Check(name, ok=False, found=said, remedy=guest_user.REMEDY, needed=False)


def _building(cache: Cache) -> Check:
    """Look whether kernels can be built, which only kernel options need."""
    name = "building kernels"
    found = compiler.find()
    if found.missing:
        remedy = install(*found.missing)
        return Check(
            name, ok=False, found=f"without {', '.join(found.missing)}", remedy=remedy, needed=False
        )
    said = attempt(name, lambda: f"{found.versions}; {source.debian_offer(cache)}")
    return replace(said, needed=False)


def _sandbox() -> Check:
    """Look whether kernels are built in a sandbox, which patches and sources of a user's need."""
    why_not = sandbox.why_not()
    found = "works" if why_not is None else why_not
    return Check("sandbox for building", why_not is None, found, sandbox.REMEDY, needed=False)


def _images(of: str | None) -> Check:
    """Look whether guests with services can be made, which only some studies need."""
    name = "guests with services"
    release = attempt(name, lambda: f"can be made, of {debian.image_title(of)}")
    missing = debian.missing_programs()
    if release.ok and missing:
        packages = sorted({debian.PROGRAMS[one] for one in missing})
        said, remedy = f"without {', '.join(missing)}", install(*packages)
        return Check(name, ok=False, found=said, remedy=remedy, needed=False)
    why_not = user_namespace.why_not()
    if release.ok and why_not is not None:
        return Check(name, ok=False, found=why_not, remedy=user_namespace.REMEDY, needed=False)
    return replace(release, needed=False)


def _converting() -> Check:
    check = program("qemu-img", "qemu-utils")
    said = check.found if check.ok else "missing; --image needs it for qcow2 alone"
    return replace(check, needed=False, found=said)


async def _exact(machine: VirtualMachine) -> Check:
    name = "instrument insn"
    try:
        execution = await machine.execute(Boot(), (), _LIMIT_SECONDS)
    except HardcostError as error:
        return Check.of(name, error)
    seconds = execution.host_seconds
    return Check(name, ok=True, found=f"a guest booted; from restore to end {seconds:.2f} s")


async def _kvm(machine: VirtualMachine) -> Check:
    why_not = await kvm_works(
        machine.cache, None, emulator=machine.emulator, release=machine.release
    )
    found = "a guest booted under KVM" if why_not is None else f"{why_not}"
    remedy = (
        "without KVM `--instrument time` reads an emulator's times, and `hardcost bill` refuses to"
        " itemise them; `--instrument insn` needs no KVM"
    )
    return Check("instrument time (KVM)", why_not is None, found, remedy, needed=False)
