"""A QEMU that goes away at its start, or writes more than is read just before its end."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

import pytest
from qemu.qmp import QMPClient

from hardcost.errors import MachineError, TrialError
from hardcost.host.process import Guard
from hardcost.machines.vm.argv import Streams
from hardcost.machines.vm.confinement import QemuFiles
from hardcost.machines.vm.process import GuestProcess, guest_process
from hardcost.machines.vm.time_limit import Standstill

# It speaks QMP as QEMU does, without waiting for what it is asked, and ends.
GREETS_AND_ENDS = """\
import socket, sys
with socket.socket(fileno=int(sys.argv[1])) as qmp:
    version = '{"QMP": {"version": {"qemu": {}, "package": ""}, "capabilities": []}}'
    qmp.sendall(f'{version}\\r\\n{{"return": {{}}}}\\r\\n'.encode())
"""


def streams(folder: Path, files: QemuFiles) -> Streams:
    """Return streams whose files are there."""
    console, answers, serial = (
        files.make_output(folder / name) for name in ("console", "answers", "serial")
    )
    return Streams(folder, None, console, answers, serial, folder / "job", qmp_descriptor=-1)


@pytest.mark.parametrize("program", [GREETS_AND_ENDS, "raise SystemExit(1)"])
def test_a_qemu_that_ends_at_its_start_is_an_error_of_the_machine(
    program: str, tmp_path: Path
) -> None:
    async def started() -> None:
        def words(descriptor: int) -> list[str]:
            return [sys.executable, "-c", program, str(descriptor)]

        files = QemuFiles()
        made = streams(Path(tempfile.mkdtemp(dir=tmp_path)), files)
        async with guest_process(words, made, files, Guard(), Standstill()) as guest:
            await guest.command("cont")

    for _ in range(5):
        with pytest.raises(MachineError, match=r"did not start|failed at 'cont'"):
            asyncio.run(started())


@pytest.mark.parametrize("name", ["answers", "serial", "console"])
def test_what_a_guest_wrote_before_it_ended_is_bounded_as_well(name: str, tmp_path: Path) -> None:
    files = QemuFiles()
    made = streams(tmp_path, files)

    async def go(size: str) -> None:
        words = ("sh", "-c", f"truncate -s {size} {tmp_path / name}")
        process = await asyncio.create_subprocess_exec(*words)
        guest = GuestProcess(process, QMPClient("guest"), made, tmp_path / "errors")
        await guest.until_ended(60)

    asyncio.run(go("200M"))
    with pytest.raises(TrialError, match="the guest wrote without end"):
        asyncio.run(go("700M"))
    files.close()
