"""Snapshots: boot once, stop just before the job, restore copy-on-write for each trial.

The guest stops itself by a write to the pvpanic port. Under the instruction counter QEMU may then
take the processor for idle and push the clock to the next timer, as luck has it. So the probe
silences every timer first, and reads its time stamp counter around the write: a large gap means
that the clock was pushed all the same (a kernel without /dev/mem keeps its timer), and the snapshot
is taken again. Restores of one snapshot agree with each other, and so do clean snapshots of one
kernel and boot line, bit for bit.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import shlex
import shutil
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hardcost.errors import MachineError, TrialError
from hardcost.machines.machine import Execution
from hardcost.machines.qemu import answers, argv
from hardcost.machines.qemu.guestprocess import GuestProcess, guest_process

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from hardcost.machines.cache import Cache
    from hardcost.machines.machine import Boot, Request
    from hardcost.machines.qemu.argv import Hardware, Streams

CLEAN_GAP = 64  # instructions; a clean stop takes 6 to 8, a skipped timer hundreds of thousands
_ATTEMPTS = 16
_BOOT_LIMIT_SECONDS = 180.0
_GRACE_SECONDS = 10.0  # for what surrounds the guest's own run
_SHARED_MEMORY = [{"capability": "x-ignore-shared", "state": True}]


@dataclass(frozen=True)
class Recipe:
    """All that a snapshot is made of."""

    hardware: Hardware
    boot: Boot
    kernel: Path
    initramfs: Path


async def take(recipe: Recipe, folder: Path, cache: Cache) -> None:
    """Leave a clean snapshot of `recipe` in `folder`: memory in `ram`, devices in `state`.

    Raises:
        MachineError: The guest does not boot, or no clean snapshot comes of many attempts.
    """
    for _ in range(_ATTEMPTS):
        await boot_and_save(recipe, folder, cache)
        execution = await restore(recipe, folder, cache, (), _BOOT_LIMIT_SECONDS)
        gap = execution.answers[0].get("gap")
        if recipe.hardware.acceleration != "icount" or (isinstance(gap, int) and gap <= CLEAN_GAP):
            return
    raise MachineError(
        f"no clean snapshot in {_ATTEMPTS} attempts: stopping the guest moved its clock each time",
        hint="is this machine very busy? Try again when it is less so",
    )


async def restore(
    recipe: Recipe, folder: Path, cache: Cache, job: Sequence[Request], limit_seconds: float
) -> Execution:
    """Carry out `job` in a guest that goes on from the snapshot in `folder`.

    Raises:
        TrialError: The guest panicked, hung or died, or its answers make no sense.
    """
    started = time.monotonic()
    with cache.scratch() as scratch:
        streams = _streams(scratch, folder / "ram", job)

        def words(descriptor: int) -> tuple[list[str], Streams]:
            mine = replace(streams, qmp_descriptor=descriptor)
            return argv.restore_words(*_parts(recipe), mine), mine

        async with (
            _limited(limit_seconds + _GRACE_SECONDS),
            guest_process(words, scratch / "errors") as guest,
        ):
            await guest.command("migrate-set-capabilities", capabilities=_SHARED_MEMORY)
            await guest.command("migrate-incoming", uri=_reader(folder / "state"))
            await guest.until_migrated()
            # A short job may end the guest before QEMU says that it goes on.
            with contextlib.suppress(MachineError):
                await guest.command("cont")
            start_seconds = time.monotonic() - started
            await guest.until_ended(limit_seconds)
            try:
                read = answers.read(streams.answers)
            except MachineError as error:
                raise guest.failure(str(error), type(error), error.problems[0].hint) from error
            return Execution(read, guest.console(), start_seconds, time.monotonic() - started)


async def boot_and_save(recipe: Recipe, folder: Path, cache: Cache) -> None:
    """Boot until the guest stops itself and save its state in `folder`, clean or not."""
    with cache.scratch() as scratch:
        (folder / "ram").unlink(missing_ok=True)
        streams = _streams(scratch, folder / "ram", ())

        def words(descriptor: int) -> tuple[list[str], Streams]:
            mine = replace(streams, qmp_descriptor=descriptor)
            return argv.boot_words(*_parts(recipe), mine), mine

        async with (
            _limited(_BOOT_LIMIT_SECONDS + _GRACE_SECONDS),
            guest_process(words, scratch / "errors") as guest,
        ):
            await guest.until_paused(_BOOT_LIMIT_SECONDS)
            await _save(guest, folder)
        shutil.copy(streams.console, folder / "console")


@contextlib.asynccontextmanager
async def _limited(seconds: float) -> AsyncIterator[None]:
    """Bound all of a QEMU's life, also where QEMU itself hangs and answers nothing."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise TrialError(
            f"QEMU did not answer within {seconds:.0f} s", hint="is this machine out of memory?"
        ) from None


async def _save(guest: GuestProcess, folder: Path) -> None:
    await guest.command("migrate-set-capabilities", capabilities=_SHARED_MEMORY)
    await guest.command("migrate", uri=_writer(folder / "state"))
    await guest.until_migrated()


def _parts(recipe: Recipe) -> tuple[Hardware, Boot, Path, Path]:
    return recipe.hardware, recipe.boot, recipe.kernel, recipe.initramfs


def _streams(scratch: Path, memory: Path, job: Sequence[Request]) -> Streams:
    lines = "".join(json.dumps(request) + "\n" for request in job)
    (scratch / "job").write_text(lines or "\n")
    return argv.Streams(memory, scratch / "console", scratch / "answers", scratch / "job", -1)


def _writer(path: Path) -> str:
    return f"exec:cat > {shlex.quote(str(path))}"


def _reader(path: Path) -> str:
    return f"exec:cat {shlex.quote(str(path))}"
