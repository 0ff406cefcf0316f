"""The machine `host`: the one that hardcost runs on. It is changed only if root wants that."""

from __future__ import annotations

import os
from pathlib import Path

from hardcost.errors import InputError
from hardcost.machines.options import MachineOptions
from hardcost.machines.real import probe_command
from hardcost.machines.real.machine import RealMachine, reach_machine
from hardcost.machines.real.restore import restore_machine
from hardcost.machines.restoration import Restored
from hardcost.supply.programs import program_path
from hardcost.supply.progress import Listener

REMARK = (
    "this machine does other things at the same time; each interval includes what they did to the"
    " times"
)


class HostReach:
    """This host: the probe is a child of hardcost."""

    name = "host"
    reboots = False  # hardcost would end with it
    remedy = "`hardcost doctor --machine host` says what is missing"

    def __init__(self, folder: Path | None = None) -> None:
        """Start the programs in `folder`; None: those that came with hardcost."""
        self._folder = folder

    async def prepare(self) -> None:
        """Look whether our programs were built.

        Raises:
            MachineError: They were not.
        """
        if self._folder is None:
            for name in probe_command.PROGRAMS:
                program_path(name)

    def words(self, cpu: int | None, scratch: str, seconds: float, job_bytes: int) -> list[str]:
        """Return the command that starts the probe."""
        folder = self._folder or program_path(probe_command.PROGRAMS[0]).parent
        return probe_command.words(str(folder), cpu, scratch, seconds, job_bytes)

    def keeper(self, *arguments: str) -> list[str]:
        """Return the command that starts the keeper."""
        return [str(program_path(probe_command.KEEPER)), *arguments]


def check(wanted: MachineOptions) -> None:
    """Check that nothing is wanted that only a guest has.

    Raises:
        InputError: It is.
    """
    options = {
        "--guest": wanted.guest,
        "--kernel": wanted.kernel,
        "--source": wanted.source,
        "--image": wanted.image,
        "--rootfs": wanted.rootfs,
        "--qemu": wanted.qemu,
        "--cpu": None if wanted.cpu == "max" else wanted.cpu,
        "--processors": None if wanted.processors == 1 else wanted.processors,
    }
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise InputError(
            f"{', '.join(given)}: a real machine is measured as it is, and such"
            " options describe guests",
            hint="leave that out, or take --machine vm",
        )


async def make(wanted: MachineOptions, listener: Listener) -> RealMachine:
    """Return this host as a machine; `listener` hears that it is asked what it is.

    Raises:
        MachineError: Our programs do not run here.
    """
    check(wanted)
    listener.note("asking this machine what it is …")
    changing = wanted.yes and os.geteuid() == 0
    return await reach_machine(
        HostReach(), probe_command.programs_hash(), (REMARK,), changing=changing, people=wanted.yes
    )


async def restore(_address: str, *, force: bool, people: bool) -> Restored:
    """Undo what an interrupted run left changed on this host.

    Raises:
        MachineError: It can't be undone.
    """
    return await restore_machine(HostReach(), force=force, people=people)
