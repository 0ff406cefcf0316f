from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditrules.explain.read_event import parse_event
from auditrules.kernel.event import NO_INODE
from auditrules.kernel.field_tests import permissions
from auditrules.model.fault import RulesError
from auditrules.model.kernel_rule import UNSET
from auditrules.tables import lookup


def faults_of(text: str) -> list[tuple[int | None, str]]:
    with pytest.raises(RulesError) as caught:
        parse_event(text)
    assert all(fault.remedy for fault in caught.value.faults)
    return [(fault.place.column, fault.message) for fault in caught.value.faults]


def test_the_example_of_the_command_line_is_what_it_says() -> None:
    found = parse_event("syscall=openat arch=b64 auid=1000 exit=-13 path=/etc/shadow perm=r")
    event = found.event
    assert (event.arch, event.call, event.auid, event.exit) == ("b64", 257, 1000, -13)
    assert [name.path for name in event.names] == ["/etc/shadow"]
    assert permissions(event) == 4
    assert not event.success


def test_what_was_not_said_is_assumed_and_told() -> None:
    found = parse_event("syscall=unlink auid=1000")
    event = found.event
    assert (event.uid, event.euid, event.fsuid, event.gid, event.exit) == (
        1000,
        1000,
        1000,
        1000,
        0,
    )
    assert (event.arch, event.sessionid, event.exe, event.names) == ("b64", 1, None, ())
    assert {"arch", "exit", "uid", "gid", "pid", "a0"} <= found.assumed
    assert found.assumed.isdisjoint({"syscall", "auid"})
    assert "uid=1000" in found.words


def test_who_never_logged_in_is_root_without_a_session() -> None:
    event = parse_event("syscall=unlink").event
    assert (event.auid, event.uid, event.sessionid) == (UNSET, 0, UNSET)


def test_ids_follow_the_one_that_they_are_made_of() -> None:
    event = parse_event("syscall=unlink auid=1000 uid=5 euid=0 egid=7 group=9 group=8").event
    assert (event.uid, event.euid, event.suid, event.fsuid) == (5, 0, 5, 0)
    assert (event.gid, event.egid, event.fsgid) == (5, 7, 7)
    assert event.groups == {8, 9}


@pytest.mark.parametrize(
    ("words", "exit_code", "success"),
    [
        ("exit=-EACCES", -13, False),
        ("exit=-13", -13, False),
        ("exit=3", 3, True),
        ("success=no", -1, False),
        ("success=yes", 0, True),
        ("exit=none", None, False),
        ("success=0 exit=-2", -2, False),
    ],
)
def test_results_are_numbers_or_errors(words: str, exit_code: int | None, success: bool) -> None:  # noqa: FBT001 (a parameter)
    event = parse_event(f"syscall=open {words}").event
    assert (event.exit, event.success) == (exit_code, success)


@pytest.mark.parametrize(
    ("words", "stands_for"),
    [
        ("syscall=open perm=w", 2),
        ("syscall=openat perm=rw", 6),
        ("syscall=openat2 perm=w", 2),
        ("syscall=openat2 flags=2", 6),
        ("syscall=openat a2=0x2 perm=r", 6),
        ("syscall=chmod perm=a", 8),
        ("syscall=execve perm=x", 1),
        ("syscall=link perm=wa", 10),
        ("syscall=getppid", 0),
    ],
)
def test_permissions_set_flags_or_are_checked(words: str, stands_for: int) -> None:
    assert permissions(parse_event(words).event) == stands_for


def test_files_are_visited_in_order_and_one_path_is_one_file() -> None:
    event = parse_event(
        r"syscall=rename path=/a/ path=/b\ c obj_uid=7 filetype=dir path=/a path="
    ).event
    first, second, third, nowhere = event.names
    assert [name.path for name in event.names] == ["/a", "/b c", "/a", None]
    assert first == third
    assert first.file != second.file
    assert (second.uid, second.mode, first.uid) == (7, lookup.FILE_TYPES["dir"], 0)
    assert nowhere.file.inode == NO_INODE


def test_files_lie_in_buckets_of_their_own_unless_their_inode_is_given() -> None:
    event = parse_event("syscall=open path=/a path=/b inode=7 path=/c exe=/d").event
    assert event.exe is not None
    inodes = [*(name.file.inode for name in event.names), event.exe.inode]
    assert inodes[1] == 7
    assert len({inode % 32 for inode in inodes}) == 4


def test_the_numbers_of_a_file_follow_its_path() -> None:
    words = "path=/a inode=7 devmajor=3 devminor=4 fstype=0x64626720 path=/b special_devmajor=5"
    first, second = parse_event(f"syscall=rename {words}").event.names
    assert (first.file, first.filesystem) == ((3, 4, 7), 0x64626720)
    assert (second.special_device, second.filesystem) == ((5, 0), 0xEF53)


def test_each_file_elsewhere_is_another() -> None:
    first, second = parse_event("syscall=rename path=(elsewhere) path=(elsewhere)").event.names
    assert first.file != second.file
    assert first.path is None


def test_a_file_may_change_while_it_is_visited_twice() -> None:
    names = parse_event(
        "syscall=chown path=/a obj_gid=3 path=/b path=/a obj_gid=4 obj_uid=5"
    ).event.names
    assert [(name.gid, name.uid) for name in names] == [(3, 5), (0, 0), (4, 5)]
    assert names[0].file == names[2].file


def test_a_program_that_the_call_visits_is_that_file() -> None:
    event = parse_event("syscall=execve path=/bin/su exe=/bin/su").event
    assert event.exe == event.names[0].file


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("", [(None, "the event names no system call")]),
        ("sycall=open", [(1, "there is no field 'sycall'")]),
        ("open", [(1, "'open' is not a field with a value")]),
        ("=x", [(1, "'=x' is not a field with a value")]),
        (f"syscall={'9' * 5000}", [(None, f"syscall={'9' * 5000} is not a number")]),
        ("syscall=opne", [(None, "b64 has no system call 'opne'")]),
        ("syscall=stime arch=b64", [(None, "b64 has no system call 'stime'")]),
        ("syscall=open arch=b65", [(None, "there is no architecture 'b65'")]),
        ("syscall=open comm=vi", [(14, "an event has no comm")]),
        ("syscall=open auid=joe uid=-2", [
            (14, "auid=joe is not a number"), (23, "uid=-2 is not a number"),
        ]),
        ("syscall=open auid=4294967296", [(14, "auid=4294967296 is too large")]),
        ("syscall=open exit=EFOO", [(None, "exit=EFOO is not a result")]),
        ("syscall=open success=maybe", [(14, "success=maybe is neither yes nor no")]),
        ("syscall=open success=yes exit=-13", [
            (None, "success=yes and exit=-13 can't both be"),
        ]),
        ("syscall=open perm=x", [(None, "open stands for r, not for perm=x")]),
        ("syscall=open perm=q", [(None, "perm=q is none of r, w, x and a")]),
        ("syscall=getppid perm=r", [(None, "getppid stands for no permission, not for perm=r")]),
        ("syscall=open path=etc", [(14, "'etc' is not an absolute path")]),
        ("syscall=open path=/a/../b", [(14, "'/a/../b' is not an absolute path")]),
        ("syscall=open obj_uid=0 path=/a", [(14, "obj_uid comes before any path")]),
        ("syscall=open path=/a filetype=pipe", [(22, "there is no filetype 'pipe'")]),
        ("syscall=open uid=1 uid=2", [(20, "uid occurs twice")]),
        ("syscall=open path=/a inode=1 path=/a inode=2", [
            (None, "/a has two numbers of inode"),
        ]),
        ("syscall=open flags=1", [(None, "flags is only for openat2")]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_reported_at_once_with_a_remedy(
    text: str, faults: list[tuple[int | None, str]]
) -> None:
    assert faults_of(text) == faults


numbers = st.integers(0, 2000)
paths = st.text("ab \\/-é", max_size=8).map(lambda text: "/" + text)


@settings(deadline=None)  # a busy machine is no fault
@given(st.data())
def test_the_words_of_an_event_describe_it_again(data: st.DataObject) -> None:
    draw = data.draw
    arch = draw(st.sampled_from(lookup.ARCHES))
    call = draw(st.sampled_from(sorted(lookup.calls(arch))))
    words = [f"syscall={call}", f"arch={arch}"]
    ids = ("auid", "uid", "euid", "suid", "fsuid", "gid", "egid", "pid", "a0", "a1", "pers")
    words += [f"{name}={draw(numbers)}" for name in ids if draw(st.booleans())]
    words.append(f"exit={draw(st.sampled_from(['0', '5', '-13', 'none']))}")
    for path in draw(st.lists(paths, max_size=3)):
        escaped = path.replace("\\", "\\\\").replace(" ", "\\ ")
        words += [f"path={escaped}", f"obj_uid={draw(numbers)}"]
        numbers_of_files = ("fstype", "special_devmajor", "special_devminor")
        words += [f"{name}={draw(numbers)}" for name in numbers_of_files if draw(st.booleans())]
    found = parse_event(" ".join(words))
    again = [word for word in found.words if not word.startswith("success=")]
    assert parse_event(" ".join(again)).event == found.event
