"""Each run of a guest: its files, its time limit, its answers."""

from __future__ import annotations

import contextlib
import json
import shutil
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from hardcost.errors import MachineError, TrialError
from hardcost.machines.machine import Execution
from hardcost.machines.vm.argv import Recipe, Streams, boots_afresh, prevents_snapshots
from hardcost.machines.vm.confinement import QemuFiles, guard, sandbox_words, user_of
from hardcost.machines.vm.content import cpio
from hardcost.machines.vm.plugin import counting
from hardcost.machines.vm.process import GuestProcess, guest_process
from hardcost.machines.vm.time_limit import Standstill, StoodStillError, limit_guest_time
from hardcost.protocol import answer_lines
from hardcost.protocol.plugin import stacks
from hardcost.protocol.requests import Request
from hardcost.supply.cache.cache import Cache
from hardcost.supply.cache.folders import REMEDY, is_full
from hardcost.supply.emulators.emulator import Emulator

BOOT_LIMIT_SECONDS = 180.0
SYSTEM_LIMIT_SECONDS = 900.0
"""The same for a whole system, of a hundred services on an emulated processor, on a busy host; and
for a system of several processors."""

_JOB_PADDED_TO = 1 << 14  # bytes
_PACKED_JOB = "hardcost.job"  # in the initramfs
_GRACE_SECONDS = 10.0  # for what surrounds the guest's own run


class QemuCommand(Protocol):
    """Makes QEMU's command line: `argv.boot_words` or `argv.restore_words`."""

    def __call__(self, recipe: Recipe, streams: Streams) -> list[str]:
        """Return the whole command."""


@dataclass(frozen=True)
class Launch:
    """A guest that runs, and when its QEMU was started, on the host's monotonic clock."""

    guest: GuestProcess
    started: float


@contextlib.asynccontextmanager
async def launch_guest(  # noqa: PLR0913  (each is a thing of its own)
    recipe: Recipe,
    command: QemuCommand,
    cache: Cache,
    job: Sequence[Request],
    *,
    memory: Path | None,
    limit_seconds: float,
) -> AsyncIterator[Launch]:
    """Give a guest with `job` at hand, in the file `memory` or in memory of its own.

    It is gone when the block ends, and the block ends soon after `limit_seconds` of host time in
    which it could run.

    Raises:
        MachineError: QEMU does not start; a `TrialError`, it does not answer.
    """
    started = time.monotonic()
    uses_kvm = recipe.hardware.acceleration == "kvm"
    still = Standstill()
    with (
        user_of(uses_kvm=uses_kvm) as user,
        cache.scratch() as scratch,
        contextlib.closing(QemuFiles(user)) as files,
    ):
        streams = _streams(scratch, job, files, recipe.emulator)
        if recipe.symbols is not None:
            streams = _with_plugin(streams, recipe, recipe.symbols, job, files)
        mine = replace(
            recipe,
            emulator=files.runnable(recipe.emulator),
            kernel=files.readable_path(recipe.kernel),
            initramfs=_initramfs(recipe, scratch, files),
            disks=tuple(
                replace(disk, path=files.writable_path(disk.path)) for disk in recipe.disks
            ),
        )
        if memory is not None:
            streams = replace(streams, memory=files.writable_path(memory))

        def words(descriptor: int) -> list[str]:
            return command(mine, replace(streams, qmp_descriptor=descriptor))

        try:
            async with (
                _bound_lifetime(limit_seconds + _GRACE_SECONDS, still),
                guest_process(
                    words, streams, files, guard(user, uses_kvm=uses_kvm), still
                ) as guest,
            ):
                yield Launch(guest, started)
        except MachineError as error:
            _blame_full_disk(error, (scratch, *(() if memory is None else (memory.parent,))))
            raise


async def await_result(launch: Launch, limit_seconds: float) -> Execution:
    """Wait until a guest, which begins its job now, has ended, and return its result.

    Raises:
        TrialError: The guest panicked, hung or died, or what it answered is no answer.
    """
    guest, start_seconds = launch.guest, time.monotonic() - launch.started
    await guest.until_ended(limit_seconds)
    try:
        read = answer_lines.read(*guest.streams.places)
    except MachineError as error:
        hint = error.problems[0].hint
        raise guest.failure(str(error), type(error), hint, error.console) from error
    host_seconds = time.monotonic() - launch.started
    seen = stacks.read(_counts_file(guest.streams)) if guest.streams.plugin else None
    return Execution(read, guest.console(), start_seconds, host_seconds, seen)


def _blame_full_disk(error: MachineError, written: Sequence[Path]) -> None:
    """Raise the error of a guest again where a disk that it wrote to is full, else do nothing."""
    for folder in written:
        if is_full(folder):
            said = f"{error}: no space left on the disk of {folder.parent}"
            raise type(error)(said, hint=REMEDY, console=error.console) from error


@contextlib.asynccontextmanager
async def _bound_lifetime(seconds: float, still: Standstill) -> AsyncIterator[None]:
    """Bound all of a QEMU's life, also where QEMU itself hangs and answers nothing."""
    try:
        async with limit_guest_time(seconds, still):
            yield
    except TimeoutError:
        kind = StoodStillError if still.was_seen else TrialError
        raise kind(
            f"QEMU did not answer within {seconds:.0f} s",
            hint="check free memory (`free -m`), then repeat with fewer --jobs",
        ) from None


def _with_plugin(
    streams: Streams, recipe: Recipe, symbols: Path, job: Sequence[Request], files: QemuFiles
) -> Streams:
    """Return the streams with QEMU's plugin, whose files are made and given to its QEMU."""
    symbols_text = symbols.read_text() + recipe.programs
    made = counting.prepare(streams.folder, symbols_text, job, traced=recipe.boot.traced)
    given = [files.own_path(place) for place in made]
    out = files.own_path(_counts_file(streams), written=True)
    stopped = not boots_afresh(recipe.boot)
    words = counting.words(given, out, recipe.qemu, recipe.hardware.started, stopped=stopped)
    return replace(streams, plugin=words)


def _counts_file(streams: Streams) -> Path:
    """Return the file in which the plugin says what it saw."""
    return streams.folder / counting.OUT


def _initramfs(recipe: Recipe, scratch: Path, files: QemuFiles) -> Path:
    """Return a guest's initramfs; the job is in it where the kernel refuses all other ways.

    The kernel unpacks one archive after another.
    """
    if not prevents_snapshots(recipe.boot):
        return files.readable_path(recipe.initramfs)
    both = scratch / "initrd"
    shutil.copyfile(recipe.initramfs, both)
    with both.open("ab") as file:
        file.write(cpio.archive([cpio.regular(_PACKED_JOB, (scratch / "job").read_bytes())]))
    return files.own_path(both)


def _streams(
    scratch: Path, job: Sequence[Request], files: QemuFiles, emulator: Emulator
) -> Streams:
    """Return the files through which a guest talks, made and given to its QEMU."""
    lines = "".join(json.dumps(request.as_json()) + "\n" for request in job)
    # A job's length is alike for all configurations, near enough: the probe skips the blank line.
    (scratch / "job").write_text(lines + " " * (-(len(lines) + 1) % _JOB_PADDED_TO) + "\n")
    return Streams(
        folder=scratch,
        memory=None,
        console=files.make_output(scratch / "console"),
        answers=files.make_output(scratch / "answers"),
        serial=files.make_output(scratch / "serial"),
        job=files.own_path(scratch / "job"),
        qmp_descriptor=-1,
        sandbox=sandbox_words(emulator),
    )
