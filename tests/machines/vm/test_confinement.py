"""A QEMU in a folder is handed to a user who can't enter the folders above."""

from __future__ import annotations

import contextlib
import subprocess
from pathlib import Path

import pytest

from hardcost.errors import MachineError
from hardcost.machines.vm.confinement import QemuFiles
from hardcost.machines.vm.guest_user import NOBODY, SAME, User
from hardcost.supply.emulators.emulator import HOST, Emulator, of_program

OTHER = User("nobody", NOBODY, NOBODY, NOBODY)


@pytest.fixture
def brought(tmp_path: Path) -> Emulator:
    """Return one in a folder that every user can read, below one that is closed."""
    tmp_path.chmod(0o700)
    program = tmp_path / "a folder" / "qemu-system-x86_64"
    program.parent.mkdir()
    program.parent.chmod(0o755)
    program.write_text('#!/bin/sh\necho runs "$0" "$@"\n')
    program.chmod(0o755)
    return of_program(program)


def test_it_starts_by_a_descriptor_of_its_folder(brought: Emulator) -> None:
    with contextlib.closing(QemuFiles(OTHER)) as files:
        handed = files.runnable(brought)
        said = subprocess.run(
            [*handed.words(), "-S"], pass_fds=[*files], capture_output=True, check=True, text=True
        )
        (descriptor,) = files
    assert said.stdout == f"runs /proc/self/fd/{descriptor}/qemu-system-x86_64 -S\n"


def test_the_hosts_needs_no_descriptor() -> None:
    files = QemuFiles(OTHER)
    assert files.runnable(HOST) is HOST
    assert not [*files]


def test_what_its_user_cannot_read_is_refused_with_the_command_that_opens_it(
    brought: Emulator,
) -> None:
    root = brought.root or Path()
    (root / brought.program).chmod(0o700)
    with contextlib.closing(QemuFiles(OTHER)) as files:
        with pytest.raises(MachineError, match=r"can't get at .*/qemu-system-x86_64") as raised:
            files.runnable(brought)
        assert raised.value.problems[0].hint == (f"let every user read it: chmod -R a+rX '{root}'")
    with contextlib.closing(QemuFiles(SAME)) as files:
        assert files.runnable(brought).root != root


def test_one_that_is_gone_is_named(brought: Emulator) -> None:
    root = brought.root or Path()
    (root / brought.program).unlink()
    with contextlib.closing(QemuFiles(OTHER)) as files, pytest.raises(MachineError, match="given"):
        files.runnable(brought)
