"""Snapshots: boot once, stop just before the job, restore copy-on-write for each trial.

The guest stops itself by a write to the pvpanic port. Under the instruction counter QEMU may then
take the processor for idle and push the clock to the next timer, which is a matter of chance. So
the probe silences every timer first, and reads its time stamp counter around the write: a large gap
means that the clock was pushed all the same (a kernel without /dev/mem keeps its timer), and the
snapshot is taken again. On several processors the probe makes up for the push (its source file
`snapshot_stop.rs` says how), and the gap is what others did meanwhile. Restores of one snapshot
agree with each other, and so do clean snapshots of one kernel and boot line, bit for bit.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Literal

from hardcost.errors import MachineError
from hardcost.machines.machine import Execution
from hardcost.machines.vm import argv
from hardcost.machines.vm.argv import Hardware, Recipe
from hardcost.machines.vm.launch import (
    BOOT_LIMIT_SECONDS,
    SYSTEM_LIMIT_SECONDS,
    await_result,
    launch_guest,
)
from hardcost.machines.vm.process import GuestProcess
from hardcost.protocol.answers import BootedAnswer, HelloAnswer, only
from hardcost.protocol.boot import Boot
from hardcost.protocol.requests import Request
from hardcost.supply.cache.cache import Cache

CLEAN_GAP = 64  # instructions; a clean stop takes 0 to 8, a skipped timer hundreds of thousands
_ATTEMPTS = 16  # whether a stop is clean is luck on some kernels
_OWN = "hardcost."  # what boot parameters begin with that no kernel knows
# QEMU announces a restored guest by timers in real time, and each would end a processor's turn.
_NO_ANNOUNCEMENT = {"announce-rounds": 0}
_SHARED_MEMORY = [{"capability": "x-ignore-shared", "state": True}]


async def take(recipe: Recipe, folder: Path, cache: Cache) -> None:
    """Leave a clean snapshot of `recipe` in `folder`: memory in `ram`, devices in `state`.

    Raises:
        MachineError: The guest does not boot, or none of many attempts yields a clean snapshot.
    """
    for _ in range(_ATTEMPTS):
        await boot_and_save(recipe, folder, cache)
        execution = await restore(recipe, folder, cache, (), BOOT_LIMIT_SECONDS)
        gap = only(execution.answers, HelloAnswer).gap
        if recipe.hardware.acceleration != "icount" or (gap is not None and gap <= CLEAN_GAP):
            return
    raise MachineError(
        f"no clean snapshot in {_ATTEMPTS} attempts: stopping the guest moved its clock each time",
        hint="have each trial boot instead: --start cold",
    )


async def restore(
    recipe: Recipe, folder: Path, cache: Cache, job: Sequence[Request], limit_seconds: float
) -> Execution:
    """Carry out `job` in a guest that goes on from the snapshot in `folder`.

    Raises:
        TrialError: The guest panicked, hung or died, or what it answered is no answer.
    """
    async with launch_guest(
        recipe, argv.restore_words, cache, job, memory=folder / "ram", limit_seconds=limit_seconds
    ) as launch:
        guest = launch.guest
        await guest.command("migrate-set-capabilities", capabilities=_SHARED_MEMORY)
        if recipe.hardware.takes_turns:
            await guest.command("migrate-set-parameters", **_NO_ANNOUNCEMENT)
        with _open_state(folder / "state", "rb") as state:
            await guest.command("migrate-incoming", uri=await guest.hand_over(state))
        await guest.until_migrated()
        booted = await _booted(recipe.hardware, guest)
        # A short job may end the guest before QEMU says that it goes on.
        with contextlib.suppress(MachineError):
            await guest.command("cont")
        execution = await await_result(launch, limit_seconds)
        return replace(execution, answers=(*booted, *execution.answers))


async def _booted(hardware: Hardware, guest: GuestProcess) -> tuple[BootedAnswer, ...]:
    """Return how many instructions a guest that is still stopped has executed, if these count.

    QEMU answers what recording would call this moment, whether it records or not.
    """
    if hardware.acceleration != "icount" or hardware.takes_turns:
        return ()
    return (BootedAnswer(instructions=(await guest.command("query-replay"))["icount"]),)


async def boot_and_save(recipe: Recipe, folder: Path, cache: Cache) -> None:
    """Boot until the guest stops itself and save its state in `folder`, clean or not."""
    ram = folder / "ram"
    ram.unlink(missing_ok=True)
    # Several processors boot in minutes on a host that is slow or busy.
    limit = SYSTEM_LIMIT_SECONDS if recipe.hardware.takes_turns else BOOT_LIMIT_SECONDS
    async with launch_guest(
        recipe, argv.boot_words, cache, (), memory=ram, limit_seconds=limit
    ) as launch:
        await launch.guest.until_paused(limit)
        await _save(launch.guest, folder)
        shutil.copyfile(launch.guest.streams.console.path, folder / "console")


async def _save(guest: GuestProcess, folder: Path) -> None:
    await guest.command("migrate-set-capabilities", capabilities=_SHARED_MEMORY)
    with _open_state(folder / "state", "wb") as state:
        await guest.command("migrate", uri=await guest.hand_over(state))
    await guest.until_migrated()


@contextlib.contextmanager
def _open_state(path: Path, mode: Literal["rb", "wb"]) -> Iterator[IO[bytes]]:
    """Give an open file."""
    try:
        file = path.open(mode)
    except OSError as error:
        raise MachineError(
            f"the snapshot's {path} can't be opened: {error.strerror}",
            hint="run the command again: a snapshot that is damaged is made again",
        ) from error
    with file:
        yield file


def shown_parameters(parameters: Sequence[str]) -> list[str]:
    """Return boot parameters as lists show them: our own words only shift memory, and are long."""
    others = [one for one in parameters if not one.startswith(_OWN)]
    return others if len(others) == len(parameters) else [*others, "placebo"]


def title(kernel: str, hardware: Hardware, boot: Boot) -> str:
    """Return the title of a snapshot in lists."""
    seed = "fixed layout" if boot.layout_seed is None else f"layout {boot.layout_seed}"
    several = [f"{hardware.processors} processors"] if hardware.takes_turns else []
    machine = [kernel, hardware.acceleration, *several, f"cpu {hardware.cpu_model}", seed]
    return f"snapshot: {', '.join([*machine, *shown_parameters(boot.parameters)])}"


def error_with_parameters(error: MachineError, boot: Boot) -> MachineError:
    """Return the error of a boot with the parameters that may be to blame."""
    if not boot.parameters:
        return error
    message = f"{error}; its boot parameters: {' '.join(shown_parameters(boot.parameters))}"
    return MachineError(message, hint=error.problems[0].hint, console=error.console)
