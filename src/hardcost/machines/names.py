"""Which machines there are, by name; nothing here imports what they are made of."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from hardcost.errors import InputError, MachineError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from types import ModuleType

    from hardcost.machines.cache import Cache
    from hardcost.machines.hostcheck import Check
    from hardcost.machines.machine import Machine
    from hardcost.machines.progress import Listener
    from hardcost.machines.restoration import Restored
    from hardcost.machines.supplies import Order, Supply
    from hardcost.machines.wanted import Wanted

TITLES = {
    "vm": "a guest under QEMU: emulated and exact, or KVM for time",
    "host": "this machine itself, for time; it is changed only with --yes, by root",
    "ssh:USER@HOST": "another machine over OpenSSH, for time; it is left as it was",
}
"""The machines that a user is shown, each with what it is."""

_MAKERS = {
    "vm": "hardcost.machines.qemu.maker",
    "host": "hardcost.machines.real.thishost",
    "ssh": "hardcost.machines.real.sshhost",
    "fake": "hardcost.machines.fake",
    "fakehost": "hardcost.machines.fakehost",
}
"""Modules with `check` and `make`, by name.

A machine that is not in `_COUNTERS` has `facts`, `supplied`, and three for builds as below, too.
`fake` and `fakehost` compute their answers, and are for tests: no list shows them.
"""

_EXAMINERS = {
    "vm": "hardcost.machines.qemu.examination",
    "host": "hardcost.machines.real.hostexamination",
    "ssh": "hardcost.machines.real.hostexamination",
    "fake": "hardcost.machines.fake",
    "fakehost": "hardcost.machines.fake",
}
"""Modules with `examine` and `try_out` as below, by the machine's name."""

_RESTORERS = {
    "host": "hardcost.machines.real.thishost",
    "ssh": "hardcost.machines.real.sshhost",
    "fake": "hardcost.machines.fake",
}
"""Modules with `restore`, by the names of machines that are there already."""

_COUNTERS = {"host": "vm", "ssh": "vm", "fakehost": "fake"}
"""Machines that run already, each with the one that counts instructions of the same controls.

Their numbers are their own: no worker can measure for them.
"""

_ADDRESSED = frozenset({"ssh"})
"""Machines whose name goes on behind a colon, with where they are."""


def is_known(name: str) -> bool:
    """Say whether there is a machine of that name."""
    kind, colon, address = name.partition(":")
    return kind in _MAKERS and (kind in _ADDRESSED) == bool(colon and address)


def is_running(name: str) -> bool:
    """Say whether a machine of that name runs already, so that hardcost does not boot it."""
    return name.partition(":")[0] in _COUNTERS


def counter(name: str) -> str:
    """Return the machine that counts instructions, of what one that runs already takes time for."""
    return _COUNTERS[name.partition(":")[0]]


def check(name: str, wanted: Wanted) -> None:
    """Check, before anything is fetched, that a machine can be had on this host.

    Raises:
        InputError: There is none of that name, or what is wanted of it can't be.
        MachineError: Something is missing on this host.
    """
    _module(name, _MAKERS).check(_addressed(name, wanted))


async def make(name: str, wanted: Wanted, listener: Listener) -> Machine:
    """Return the machine of a name; `listener` hears what it says while it gets ready.

    Raises:
        InputError: There is none of that name.
        MachineError: It can't measure what is wanted.
    """
    machine: Machine = await _module(name, _MAKERS).make(_addressed(name, wanted), listener)
    return machine


def facts(name: str) -> dict[str, str]:
    """Return what of this host decides what a machine counts, each by its title, such as QEMU.

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
    """Return what of this host decides what kernels become that it builds, each by its title.

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


def examine(name: str, cache: Cache) -> Sequence[Check]:
    """Look whether a machine can be had on this host, and what it lacks; nothing is booted.

    Raises:
        InputError: There is none of that name.
    """
    found: Sequence[Check] = _module(name, _EXAMINERS).examine(cache)
    return found


async def try_out(name: str, cache: Cache) -> Sequence[Check]:
    """Start a machine with each instrument that reads it, where `examine` found nothing missing.

    Raises:
        InputError: There is none of that name.
    """
    module = _module(name, _EXAMINERS)
    kind, _, address = name.partition(":")
    tried = module.try_out_at(address) if kind in _ADDRESSED else module.try_out(cache)
    found: Sequence[Check] = await tried
    return found


async def restore(name: str, *, force: bool, people: bool) -> Restored:
    """Undo what an interrupted run left changed on a machine that is there already.

    `force`: also what somebody else has changed since; `people`: also where users are logged in.

    Raises:
        InputError: There is none of that name, or it is none that is ever changed.
        MachineError: It can't be reached.
    """
    kind, _, address = name.partition(":")
    if is_known(name) and kind not in _RESTORERS:
        raise InputError(
            f"the machine {name} has nothing to restore: its guests only write copies",
            hint="restore is for host and ssh:USER@HOST",
        )
    found: Restored = await _module(name, _RESTORERS).restore(address, force=force, people=people)
    return found


def _addressed(name: str, wanted: Wanted) -> Wanted:
    """Return what is wanted of a machine, with where it is."""
    return replace(wanted, address=name.partition(":")[2])


def _for_others(name: str) -> ModuleType:
    """Return the module of a machine that does another host's work.

    Raises:
        InputError: There is no machine of that name.
        MachineError: Its numbers are its own.
    """
    module = _module(name, _MAKERS)
    if is_running(name):
        raise MachineError(
            f"no worker can measure for the machine {name}: its times are its own",
            hint="leave --workers out",
        )
    return module


def _module(name: str, modules: Mapping[str, str]) -> ModuleType:
    if not is_known(name):
        hint = f"the machines are: {', '.join(TITLES)}"
        raise InputError(f"there is no machine '{name}'", hint=hint)
    return import_module(modules[name.partition(":")[0]])
