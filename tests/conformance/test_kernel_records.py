from __future__ import annotations

import pytest

from auditrules.kernel.event import NO_INODE, Event, FileId, VisitedName
from conformance.calls import Call, Worker
from conformance.kernel_records import Ground, KernelRecord, event_of, key_of, unrecorded
from hardcost.errors import TrialError

WORKERS = (Worker(501, "/p", groups=(4, 42)),)
F1, DIR, PROGRAM = FileId(0, 24, 9), FileId(0, 24, 3), FileId(0, 25, 2)
GROUND = Ground({"/f/1": F1, "/f": DIR, "/p": PROGRAM}, {(0, 24): 0x1021994})
CALL = Call("rename", 0, "b64", 82, (1, 2, 0, 20))
SYSCALL = (
    "arch=c000003e syscall=82 per=8 success=no exit=-13 a0=20000010 a1=ffffffffffffff9c a2=0 a3=14 "
    "items=3 ppid=1 pid=501 auid=1000 uid=1000 gid=1000 euid=33 suid=0 fsuid=1000 egid=33 sgid=8 "
    'fsgid=8 tty=(none) ses=2 comm="p" exe="/p" subj=unconfined key=(null)'
)
PATHS = (
    'item=0 name="/f/" inode=3 dev=00:18 mode=040755 ouid=0 ogid=7 rdev=00:00 nametype=PARENT',
    'item=1 name="new" nametype=CREATE',
    'item=2 name="f/1" inode=9 dev=00:18 mode=020644 ouid=5 ogid=0 rdev=01:0a nametype=DELETE',
)


def records(syscall: str = SYSCALL, *paths: str) -> list[KernelRecord]:
    found: list[KernelRecord] = [(1300, syscall), (1307, 'cwd="/"')]
    return found + [(1302, path) for path in paths] + [(1320, "")]


def known(event: Event | None) -> Event:
    assert event is not None
    return event


def test_a_record_tells_who_called_what() -> None:
    event = known(event_of(records(SYSCALL, *PATHS), CALL, WORKERS, GROUND))
    assert (event.arch, event.call, event.exit) == ("b64", 82, -13)
    assert event.arguments == (0x20000010, 0xFFFFFFFFFFFFFF9C, 0, 20)
    assert (event.uid, event.euid, event.suid, event.fsuid) == (1000, 33, 0, 1000)
    assert (event.gid, event.egid, event.sgid, event.fsgid) == (1000, 33, 8, 8)
    assert (event.auid, event.sessionid, event.pid, event.ppid) == (1000, 2, 501, 1)
    assert (event.personality, event.exe, event.groups) == (8, PROGRAM, frozenset({4, 42}))
    assert event.subject == {"subj_role": "unconfined"}
    assert not event.raised


def test_names_stand_in_the_kernels_order_where_they_lie() -> None:
    event = known(event_of(records(SYSCALL, *PATHS), CALL, WORKERS, GROUND))
    parent = VisitedName("/f", DIR, (0, 0), 0o040755, 0, 7, filesystem=0x1021994, given=True)
    deleted = VisitedName("/f/1", F1, (1, 10), 0o020644, 5, 0, filesystem=0x1021994)
    assert event.names == (parent, VisitedName(), deleted)
    assert event.names[1].file.inode == NO_INODE


CREATING = SYSCALL.replace("syscall=82", "syscall=257").replace("items=3", "items=2")
EXISTING = (PATHS[0], PATHS[2].replace("item=2", "item=1").replace("DELETE", "NORMAL"))


@pytest.mark.parametrize(
    ("syscall", "given"),
    [
        (CREATING, [True, False]),  # O_CREAT, and the file is there already
        (CREATING.replace("syscall=257", "syscall=86"), [True, True]),  # link
        (CREATING.replace("syscall=257", "syscall=91"), [False, False]),  # fchmod
        (CREATING.replace("syscall=257", "syscall=165"), [True, True]),  # mount: target, source
        (CREATING.replace("syscall=257", "syscall=59"), [True, True]),  # execve
    ],
)
def test_a_call_gives_its_first_names_and_the_kernel_adds_the_others(
    syscall: str, given: list[bool]
) -> None:
    event = known(event_of(records(syscall, *EXISTING), CALL, WORKERS, GROUND))
    assert [name.given for name in event.names] == given


def test_what_was_not_created_lies_in_the_file_system_of_its_directory() -> None:
    making = CREATING.replace("syscall=257", "syscall=133")  # mknod
    event = known(event_of(records(making, *PATHS[:2]), CALL, WORKERS, GROUND))
    assert event.names[1] == VisitedName(filesystem=0x1021994)


def test_flags_families_and_records_from_elsewhere_are_seen() -> None:
    plain = SYSCALL.replace("items=3", "items=0").replace(" success=no exit=-13", "")
    more = [
        (1702, "op=linkat"),
        *records(plain),
        (1337, "oflag=0102 mode=00 resolve=0x0"),
        (1306, "saddr=0200000901"),
    ]
    event = known(event_of(more, CALL, WORKERS, GROUND))
    assert (event.exit, event.open_flags, event.socket_family) == (None, 0o102, 2)
    assert event.raised


def test_names_that_are_hidden_are_no_event() -> None:
    with pytest.raises(TrialError, match="hides names"):
        event_of(records(SYSCALL, PATHS[0]), CALL, WORKERS, GROUND)


def test_of_a_call_that_no_rule_records_the_worker_is_known() -> None:
    assert event_of([], CALL, WORKERS, GROUND) is None
    like = known(event_of(records(SYSCALL, *PATHS), CALL, WORKERS, GROUND))
    event = unrecorded(Call("x", 0, "b32", 5000, (1, 2, 3, 4)), -38, like)
    assert (event.arch, event.call, event.arguments, event.exit) == ("b32", 5000, (1, 2, 3, 4), -38)
    assert (event.uid, event.names, event.raised) == (1000, (), False)
    with pytest.raises(TrialError, match="nothing was recorded"):
        unrecorded(Call("x", 0, "b32", 5000, (1,)), -38, like)


def test_a_key_is_quoted_or_hex_or_missing() -> None:
    written = ('"one"', "6F6E650174776F", "(null)")
    assert [key_of(each) for each in written] == ["one", "one\x01two", ""]
