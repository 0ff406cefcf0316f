"""Changes of a machine: written down here before they are made, and what a keeper may answer.

A script replaces the keeper; what a real one does is tested in a guest (`tests/vm`).
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hardcost.errors import HardcostError, InputError, MachineError, StoreError, TrialError
from hardcost.machines.real.changes import RunClaim, hold_changes
from hardcost.machines.real.keeper_session import UnfitError
from hardcost.machines.real.local_journal import Book
from hardcost.machines.real.restore import restore_machine
from hardcost.protocol.answers import WrittenAnswer
from hardcost.protocol.requests import Write
from tests.machines.real.scripted import Scripted, echo, lines, said

ASKED = RunClaim("r", [Write(path="/proc/sys/kernel/x", value="2")])
WRITTEN = '{"event":"written","path":"/proc/sys/kernel/x","before":"1","after":"2"}'
BEGIN = {"entry": "begin", "version": 1, "machine": "m", "boot": "b", "run": "r"}
CHANGE = {"entry": "change", "kind": "setting", "name": "/proc/sys/kernel/x", "before": "MQo="}


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


PLAN = '{"event":"planned"}'
PLANNED = ("read order", echo(*said(BEGIN, CHANGE), PLAN), "read go")
MADE = {"entry": "made", "number": 0, "after": "Mgo="}
UNDONE = {"entry": "undone", "number": 0}
HELD = echo(WRITTEN, *said(BEGIN, CHANGE, MADE, after=2), '{"event":"held"}')
NO_ROOM = '{"event":"failed","message":"no room"}'
NOTHING_LEFT = '{"event":"released","problems":[],"asked":true}'
RELEASED = echo(*said(BEGIN, CHANGE, MADE, UNDONE, after=3), NOTHING_LEFT)
UNTIL_UNDO = 'while read line; do [ "$line" = undo ] && break; done'


async def _hold(reach: Scripted) -> tuple[bytes, tuple[object, ...]]:
    async with hold_changes(reach, ASKED) as hold:
        return Book(reach.name).leftovers(), hold.answers


def test_what_was_there_is_on_disk_here_before_it_is_changed_and_goes_when_it_is_undone(
    tmp_path: Path,
) -> None:
    book = Book(Scripted.name)
    seen = tmp_path / "seen"
    script = "\n".join((*PLANNED, f"cp {book.path} {seen}", HELD, UNTIL_UNDO, RELEASED))
    left, answers = asyncio.run(_hold(Scripted(tmp_path, script)))
    assert seen.read_text().splitlines() == lines(BEGIN, CHANGE)
    assert left.decode().splitlines() == lines(BEGIN, CHANGE, MADE)
    (written,) = answers
    assert isinstance(written, WrittenAnswer)
    assert (written.before, written.after) == ("1", "2")
    assert not book.path.exists()


@pytest.mark.parametrize(
    ("script", "error", "message"),
    [
        (echo('{"event":"unfit","message":"users are logged in"}'), UnfitError, "users are logged"),
        (echo('{"event":"refused","message":"no such"}'), InputError, "not to be changed so: no"),
        ("echo 'no\033[2J' >&2; exit 9", MachineError, r"the keeper ended too early: no\?\[2J"),
        (echo("hello"), TrialError, "an invalid answer: b'hello'"),
        (
            echo('{"event":"journal","line":"x"}', '{"event":"planned"}'),
            MachineError,
            "was changed",
        ),
        (echo(NO_ROOM), MachineError, "does not say that its"),
        (echo(NO_ROOM, NOTHING_LEFT), TrialError, "the machine reports: no room"),
        ("cat /dev/zero", TrialError, "wrote without end"),
    ],
)
def test_whatever_a_keeper_says_is_an_answer_or_an_error(
    tmp_path: Path, script: str, error: type[HardcostError], message: str
) -> None:
    with pytest.raises(error, match=message.replace("'", ".")):
        asyncio.run(_hold(Scripted(tmp_path, f"read order\n{script}")))


def test_a_keeper_that_dies_is_an_error_and_its_journal_stays_and_is_restored_first(
    tmp_path: Path,
) -> None:
    script = "\n".join((*PLANNED, HELD, "exit 9"))
    with pytest.raises(MachineError, match="does not say that its changes were undone") as raised:
        asyncio.run(_hold(Scripted(tmp_path, script)))
    assert raised.value.problems[0].hint == (
        "`hardcost restore ssh:scripted` undoes what is left, and says what it can't undo"
    )
    book = Book(Scripted.name)
    assert book.leftovers().decode().splitlines() == lines(BEGIN, CHANGE, MADE)
    given = tmp_path / "given"
    done = echo('{"event":"restored","changes":1}', NOTHING_LEFT)
    restore = f'if [ "$1" = restore ]; then cat >{given}\n{done}exit; fi'
    script = "\n".join((restore, *PLANNED, HELD, UNTIL_UNDO, RELEASED))
    asyncio.run(_hold(Scripted(tmp_path, script)))
    assert given.read_text().splitlines() == lines(BEGIN, CHANGE, MADE)
    assert not book.path.exists()


def test_a_trial_whose_changes_were_undone_before_its_end_is_an_error(tmp_path: Path) -> None:
    unasked = RELEASED.replace("true", "false")
    script = "\n".join((*PLANNED, HELD, unasked, UNTIL_UNDO))
    with pytest.raises(MachineError, match="undid its changes while the trial ran"):
        asyncio.run(_hold(Scripted(tmp_path, script)))
    assert not Book(Scripted.name).path.exists()


def test_what_can_not_be_undone_is_named_and_its_journal_stays(tmp_path: Path) -> None:
    Book(Scripted.name).write(lines(BEGIN, CHANGE))
    reach = Scripted(tmp_path, echo('{"event":"released","problems":["x is theirs"],"asked":true}'))
    done = asyncio.run(restore_machine(reach, force=False, people=False))
    assert (done.changes, done.problems) == (0, ("x is theirs",))
    assert Book(Scripted.name).leftovers()


def test_what_somebody_else_changed_is_an_error_of_the_trial_and_the_machine_keeps_its_journal(
    tmp_path: Path,
) -> None:
    left = '{"event":"released","problems":[],"left":["x is theirs"],"asked":true}'
    script = "\n".join((*PLANNED, HELD, UNTIL_UNDO, echo(left)))
    with pytest.raises(MachineError, match="x is theirs") as raised:
        asyncio.run(_hold(Scripted(tmp_path, script)))
    hint = str(raised.value.problems[0].hint)
    assert hint.startswith("`hardcost restore --force ssh:scripted` undoes that too")
    assert not Book(Scripted.name).path.exists()


def test_what_is_left_to_somebody_else_is_named_and_closes_the_journal_here(tmp_path: Path) -> None:
    Book(Scripted.name).write(lines(BEGIN, CHANGE))
    answers = (
        '{"event":"restored","changes":1,"left":["x"]}',
        NOTHING_LEFT[:-1] + ',"left":["x"]}',
    )
    done = asyncio.run(
        restore_machine(Scripted(tmp_path, echo(*answers)), force=False, people=False)
    )
    assert (done.changes, done.problems, done.left) == (1, (), ("x",))
    assert not Book(Scripted.name).path.exists()


def test_a_link_in_the_place_of_our_journal_is_not_followed(tmp_path: Path) -> None:
    """Root may keep its journals in a user's home (`sudo`)."""
    book, other = Book(Scripted.name), tmp_path / "other"
    book.path.parent.mkdir(parents=True)
    book.path.symlink_to(other)
    with pytest.raises(StoreError, match="it is a link, and is not followed"):
        book.write(lines(BEGIN, CHANGE))
    assert not other.exists()


def test_a_host_that_can_not_be_reached_is_an_error_of_restore(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="ssh:scripted was not restored: no route"):
        asyncio.run(
            restore_machine(Scripted(tmp_path, "echo no route >&2"), force=False, people=False)
        )
