"""The QEMU that `--qemu` names, and names of none."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardcost.errors import InputError
from hardcost.supply.cache.cache import Cache
from hardcost.supply.emulators import names
from hardcost.supply.emulators.emulator import HOST


def qemu(folder: Path) -> Path:
    """Put a program into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "qemu-system-x86_64"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize("name", [None, "host"])
def test_the_hosts_needs_nothing(name: str | None, tmp_path: Path) -> None:
    names.check_emulator(name)
    assert names.is_hosts(name)
    assert names.emulator_named(Cache(tmp_path), name, pytest.fail) is HOST


def test_a_release_of_debians_is_known_before_it_is_fetched() -> None:
    names.check_emulator("debian:13")
    names.check_emulator("debian:13=1:10.0.99+ds-0")
    with pytest.raises(InputError, match="no QEMU 'debian:12'"):
        names.check_emulator("debian:12")


def test_a_folder_and_a_program_in_it_are_the_same_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = qemu(tmp_path / "own/bin")
    monkeypatch.chdir(tmp_path)
    by_folder, by_program = (
        names.emulator_named(Cache(tmp_path / "cache"), name, pytest.fail)
        for name in ("own", str(program))
    )
    assert by_folder == by_program
    assert by_folder.identity
    assert by_folder.root == tmp_path / "own"


def test_what_is_nowhere_or_no_program_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no QEMU at /nowhere") as raised:
        names.check_emulator("/nowhere")
    assert "debian:13" in str(raised.value.problems[0].hint)
    with pytest.raises(InputError, match="there is no QEMU at /dev/zero"):
        names.check_emulator("/dev/zero")
    qemu(tmp_path).chmod(0o644)
    with pytest.raises(InputError, match="is no program"):
        names.check_emulator(str(tmp_path / "qemu-system-x86_64"))
    (tmp_path / "qemu-system-x86_64").unlink()
    with pytest.raises(InputError, match=f"the folder {tmp_path} holds no qemu"):
        names.check_emulator(str(tmp_path))
