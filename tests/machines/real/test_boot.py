"""Boots of a real machine with further words: what is asked, what comes up, what is put back.

A script replaces the keeper, and a file the machine's boot; what a real machine does is
tested in a guest (`tests/vm/test_reboots.py`).
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from hardcost.errors import InputError, MachineError, TrialError
from hardcost.machines.real import restore
from hardcost.machines.real.boot import Wished, boot_with_parameters
from hardcost.machines.real.keeper_session import UnfitError
from hardcost.machines.real.restore import boot_book, restore_machine
from tests.machines.real.scripted import Scripted, echo, lines, said

WISHED = Wished("r", ("mitigations=off",))
BEGIN = {"entry": "begin", "version": 1, "machine": "m", "boot": "own", "run": "r"}
CHANGES = (
    {"entry": "change", "kind": "boot", "name": "boot", "before": None},
    {"entry": "change", "kind": "file", "name": "/boot/grub/custom.cfg", "before": None},
)
PLANNED = (echo(*said(BEGIN, *CHANGES), '{"event":"planned"}'), "read go")
RESTORED = echo('{"event":"restored","changes":1}')
RELEASED = echo('{"event":"released","problems":[],"asked":true}')


KEEPER = r"""
echo "$1" >>FOLDER/asked
read id token <FOLDER/boot
case $1 in
  where) echo '{"event":"where","boot":"'"$id"'","token":'"$token"',"release":"6"}';;
  stay) cat >FOLDER/heard;;
  words) echo '{"event":"words","text":"Kernel panic"}';;
  boot) read order; wanted=$(printf %s "$order" | sed -E 's/.*"token": ("[0-9a-f]+").*/\1/')
    ARM;;
  restore) cat >/dev/null; RESTORED
    [ "$token" = null ] || { echo "home null" >FOLDER/boot; REBOOTING; }
    RELEASED;;
esac
"""
"""A machine whose file `boot` holds the running boot: its id, and its token or null."""


def machine(folder: Path, boots: str, *, armed: str | None = None) -> Scripted:
    """Return a machine that runs its own boot; when it is to reboot, it boots `boots`."""
    (folder / "boot").write_text("own null\n")
    reboots = f'echo "{boots}" >FOLDER/boot; REBOOTING'
    arm = "\n".join((*PLANNED, reboots)) if armed is None else armed
    text = KEEPER.replace("ARM", arm).replace("REBOOTING", echo('{"event":"rebooting"}').strip())
    text = text.replace("RESTORED", RESTORED.strip()).replace("RELEASED", RELEASED.strip())
    return Scripted(folder, text.replace("FOLDER", str(folder)))


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def wait_for_text(path: Path) -> None:
    """Wait until a file has been written to."""
    until = time.monotonic() + 20
    while not (path.exists() and path.read_text()):
        assert time.monotonic() < until
        time.sleep(0.01)


async def _boot(reach: Scripted, folder: Path) -> str:
    async with boot_with_parameters(reach, WISHED) as token:
        assert boot_book(reach).leftovers()
        await asyncio.to_thread(wait_for_text, folder / "heard")
        return token


def test_a_boot_runs_for_as_long_as_it_is_wanted_and_the_machines_own_after_it(
    tmp_path: Path,
) -> None:
    reach = machine(tmp_path, "other $wanted")
    token = asyncio.run(_boot(reach, tmp_path))
    assert len(token) == 16
    assert (tmp_path / "boot").read_text() == "home null\n"
    assert (tmp_path / "heard").read_text().startswith("here\n")
    assert not boot_book(reach).path.exists()


def test_a_machine_that_falls_back_is_an_error_with_the_last_words_of_the_boot(
    tmp_path: Path,
) -> None:
    reach = machine(tmp_path, "fallen null")
    with pytest.raises(TrialError, match="did not come up with mitigations=off, and is") as raised:
        asyncio.run(_boot(reach, tmp_path))
    assert raised.value.console == "Kernel panic"
    assert not boot_book(reach).path.exists()


def test_a_machine_that_does_not_come_up_is_an_error_that_says_how_long_it_was_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restore, "_PAUSE_SECONDS", 0.01)
    with pytest.raises(MachineError, match="not up after 0 s: it does not go down") as raised:
        asyncio.run(restore.wait_for_boot(machine(tmp_path, ""), "own", 0.05))
    assert "its next boot is its own" in str(raised.value.problems[0].hint)


@pytest.mark.parametrize(
    ("arming", "error", "message"),
    [
        (echo('{"event":"unfit","message":"users are logged in"}'), UnfitError, "users are logged"),
        (echo('{"event":"refused","message":"no GRUB"}'), InputError, "not to be booted so: no"),
        (echo('{"event":"failed","message":"no room"}'), TrialError, "does not reboot: no room"),
        ("echo gone >&2", MachineError, "the keeper ended too early: gone"),
        ("cat /dev/zero", TrialError, "wrote without end"),
        (echo("hello"), TrialError, "an invalid answer"),
    ],
)
def test_whatever_is_said_instead_of_rebooting_is_an_error_and_nothing_is_left(
    tmp_path: Path, arming: str, error: type[MachineError], message: str
) -> None:
    reach = machine(tmp_path, "", armed=arming)
    with pytest.raises(error, match=message):
        asyncio.run(_boot(reach, tmp_path))
    assert not boot_book(reach).leftovers()


def test_restoring_reboots_a_machine_that_runs_a_boot_of_an_interrupted_run(tmp_path: Path) -> None:
    reach = machine(tmp_path, "")
    boot_book(reach).write(lines(BEGIN, *CHANGES))
    (tmp_path / "boot").write_text('other "abc"')
    done = asyncio.run(restore_machine(reach, force=False, people=False))
    assert (done.changes, done.problems, done.rebooted) == (1, (), True)
    assert (tmp_path / "asked").read_text().split().count("restore") == 3
    assert not boot_book(reach).path.exists()
