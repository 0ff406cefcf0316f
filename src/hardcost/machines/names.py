"""The machines by name; their code is imported only when one is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

from hardcost.errors import InputError, MachineError
from hardcost.machines.check import Check
from hardcost.machines.machine import Machine
from hardcost.machines.options import MachineOptions
from hardcost.machines.restoration import Restored
from hardcost.machines.titles import TITLES
from hardcost.supply.cache.cache import Cache
from hardcost.supply.progress import Listener
from hardcost.supply.transfer import Order, Supply

_INSTALLED = "hardcost.machines"
"""The group of entry points by which another distribution adds machines: `NAME = MODULE:KIND`."""


@dataclass(frozen=True)
class MachineKind:
    """A kind of machine: the modules that have its functions, imported when they are called.

    `make` has `check` and `make`, `examine` has `examine` and `try_out`, and `restore` of a machine
    that runs already and is changed, has `restore`; each does what the function of that name below
    says. `counter` is of a machine that runs already the one that counts instructions of the same
    controls: its own numbers are its own, and no worker can measure for it. Of any other machine,
    `make` has `facts`, `supplied`, and what builds kernels, too. Where it is `addressed`, its name
    goes on behind a colon, with where it is.
    """

    make: str
    examine: str
    restore: str | None = None
    counter: str | None = None
    addressed: bool = False


_KINDS = {
    "vm": MachineKind("hardcost.machines.vm.make", "hardcost.machines.vm.requirements"),
    "host": MachineKind(
        "hardcost.machines.real.host",
        "hardcost.machines.real.requirements",
        restore="hardcost.machines.real.host",
        counter="vm",
    ),
    "ssh": MachineKind(
        "hardcost.machines.real.ssh",
        "hardcost.machines.real.requirements",
        restore="hardcost.machines.real.ssh",
        counter="vm",
        addressed=True,
    ),
}


def _kind(name: str) -> MachineKind | None:
    """Return the kind of a machine; None where there is none of that name."""
    word, colon, address = name.partition(":")
    found = _KINDS.get(word)
    if found is None:
        points = entry_points(group=_INSTALLED, name=word)
        found = next((point.load() for point in points), None)
    return found if found and found.addressed == bool(colon and address) else None


def _kind_named(name: str) -> MachineKind:
    """Return the kind of a machine."""
    found = _kind(name)
    if found is None:
        hint = f"the machines are: {', '.join(TITLES)}"
        raise InputError(f"there is no machine '{name}'", hint=hint)
    return found


def is_known(name: str) -> bool:
    """Say whether there is a machine of that name."""
    return _kind(name) is not None


def is_running(name: str) -> bool:
    """Say whether a machine of that name runs already, so that hardcost does not boot it."""
    found = _kind(name)
    return found is not None and found.counter is not None


def counter(name: str) -> str:
    """Return the machine that counts instructions, of what one that runs already takes time for.

    Raises:
        InputError: There is no machine of that name.
        MachineError: It counts them itself.
    """
    found = _kind_named(name).counter
    if found is None:
        raise MachineError(f"the machine {name} does not run already")
    return found


def check(name: str, wanted: MachineOptions) -> None:
    """Check, before anything is fetched, that a machine can be had on this host.

    Raises:
        InputError: There is none of that name, or what is wanted of it can't be.
        MachineError: Something is missing on this host.
    """
    import_module(_kind_named(name).make).check(_with_address(name, wanted))


async def make(name: str, wanted: MachineOptions, listener: Listener) -> Machine:
    """Return the machine of a name; `listener` hears what it says while it gets ready.

    Raises:
        InputError: There is none of that name.
        MachineError: It can't measure what is wanted.
    """
    machine: Machine = await import_module(_kind_named(name).make).make(
        _with_address(name, wanted), listener
    )
    return machine


def facts(name: str) -> dict[str, str]:
    """Return the facts of this host that decide a machine's counts, by title, such as QEMU.

    Raises:
        InputError: There is no machine of that name.
        MachineError: The host lacks something.
    """
    found: dict[str, str] = _for_others(name).facts()
    return found


def supplied(order: Order, files: Mapping[str, Path], cache: Cache) -> Machine:
    """Return the machine that carries out an order of another host; `files` are by their digest.

    Raises:
        InputError: There is no machine of that name.
        MachineError: What the order asks for does not come out here.
    """
    machine: Machine = _for_others(order.machine).supplied(order, files, cache)
    return machine


def build_facts(name: str) -> dict[str, str]:
    """Return the facts of this host that decide the kernels it builds, by title.

    Raises:
        InputError: There is no machine of that name.
        MachineError: No kernels can be built here.
    """
    found: dict[str, str] = _for_others(name).build_facts()
    return found


def check_builder(name: str) -> None:
    """Check that a machine's kernels can be built here for other hosts.

    Raises:
        InputError: There is no machine of that name.
        MachineError: They can't.
    """
    _for_others(name).check_builder()


async def built(
    order: Order, files: Mapping[str, Path], cache: Cache, jobs: int
) -> tuple[Supply, ...]:
    """Build the kernel that another host orders, `jobs` compilers at a time; return its files.

    `files` are the order's supplies by their digest. The title of each file is its name.

    Raises:
        InputError: There is no machine of that name.
        MachineError: The build fails, or the same order is another kernel here.
    """
    made: tuple[Supply, ...] = await _for_others(order.machine).built(order, files, cache, jobs)
    return made


def examine(name: str, cache: Cache, wanted: MachineOptions) -> Sequence[Check]:
    """Look whether a machine can be had on this host, and what it lacks; nothing is booted.

    Raises:
        InputError: There is none of that name.
        HardcostError: What is wanted of it can't be had.
    """
    found: Sequence[Check] = import_module(_kind_named(name).examine).examine(cache, wanted)
    return found


async def try_out(name: str, cache: Cache, wanted: MachineOptions) -> Sequence[Check]:
    """Start a machine with each instrument that reads it, where `examine` found nothing missing.

    Raises:
        InputError: There is none of that name.
        HardcostError: What is wanted of it can't be had.
    """
    kind = _kind_named(name)
    module = import_module(kind.examine)
    address = name.partition(":")[2]
    tried = module.try_out_at(address) if kind.addressed else module.try_out(cache, wanted)
    found: Sequence[Check] = await tried
    return found


async def restore(name: str, *, force: bool, people: bool) -> Restored:
    """Undo what an interrupted run left changed on a machine that is there already.

    `force`: also what others have changed since; `people`: also where users are logged in.

    Raises:
        InputError: There is none of that name, or it is none that is ever changed.
        MachineError: It can't be reached.
    """
    restorer = _kind_named(name).restore
    if restorer is None:
        raise InputError(
            f"the machine {name} has nothing to restore: its guests only write copies",
            hint="restore is for host and ssh:USER@HOST",
        )
    address = name.partition(":")[2]
    module = import_module(restorer)
    found: Restored = await module.restore(address, force=force, people=people)
    return found


def _with_address(name: str, wanted: MachineOptions) -> MachineOptions:
    """Return the options of a machine, with its address."""
    return replace(wanted, address=name.partition(":")[2])


def _for_others(name: str) -> ModuleType:
    """Return the module of a machine that does another host's work."""
    kind = _kind_named(name)
    if kind.counter is not None:
        raise MachineError(
            f"no worker can measure for the machine {name}: its times are its own",
            hint="leave --workers out",
        )
    return import_module(kind.make)
