"""Users of guests: each guest has one that no other process on this host has."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest

from hardcost.errors import MachineError
from hardcost.machines.vm import confinement, guest_user, requirements
from hardcost.machines.vm.guest_user import take_user, ways

HOLDS = """
import sys
from hardcost.machines.vm.guest_user import take_user
with take_user() as user:
    print(user.uid, flush=True)
    sys.stdin.read()
"""
own_alone = pytest.mark.skipif(ways().way != "own", reason="only root takes any free user")


@pytest.fixture(autouse=True)
def _ask_again() -> Iterator[None]:
    """Forget what was found here, before and after what a test pretends."""
    known = (guest_user.ways, guest_user._is_somebodys)
    for each in known:
        each.cache_clear()
    yield
    for each in known:
        each.cache_clear()


def holder() -> tuple[subprocess.Popen[str], int]:
    """Return another hardcost that has taken a user until its input ends, and that user."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, int(process.stdout.readline())


@own_alone
def test_guests_at_once_have_different_users_and_groups() -> None:
    with take_user() as one, take_user() as two, take_user() as three:
        assert len({one.uid, two.uid, three.uid}) == len({one.gid, two.gid, three.gid}) == 3
        assert one.shared not in {one.gid, two.gid, three.gid}
    with take_user() as again:
        assert again == one


@own_alone
def test_two_hardcosts_take_different_users_and_a_killed_one_gives_its_own_back() -> None:
    process, theirs = holder()
    with process:
        with take_user() as mine:
            assert mine.uid != theirs
        process.kill()
        process.wait()
    with take_user() as mine:
        assert mine.uid == theirs


@own_alone
def test_the_user_of_a_process_is_not_taken() -> None:
    """A guest may outlive a killed hardcost by a moment; its lock does not."""
    with take_user() as first:
        pass
    words = ["setpriv", f"--reuid={first.uid}", "--clear-groups", "sh", "-c", "echo; exec cat"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with take_user() as second:
            assert second.uid != first.uid


@own_alone
def test_an_id_that_somebody_has_or_may_give_out_is_not_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with take_user() as first:
        pass
    theirs = range(first.uid, first.uid + 7)
    monkeypatch.setattr(guest_user, "_subordinates", lambda _: [("somebody", theirs)])
    guest_user._is_somebodys.cache_clear()
    with take_user() as second:
        assert second.uid == theirs.stop


@own_alone
def test_where_ids_can_t_be_locked_all_guests_have_one_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hardcost").mkdir(mode=0o755)  # as others could list and open it
    monkeypatch.setattr(guest_user, "_RUN", tmp_path)
    with take_user() as user:
        assert (user.way, user.uid, user.gid) == ("nobody", guest_user.NOBODY, guest_user.NOBODY)
    assert "is no folder of this user alone" in ways().why


def test_who_is_not_root_and_has_no_subordinate_ids_runs_guests_himself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guest_user, "_place", lambda: tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    monkeypatch.setattr(guest_user, "find_program", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(guest_user, "_subordinates", lambda _: [("54321", range(100, 200))])
    with take_user() as user:
        assert user == guest_user.SAME
    assert ways().why == "this user has no ids in /etc/subuid and /etc/subgid"
    assert confinement.guard(user, uses_kvm=False).namespace is None


def test_who_is_not_root_gives_guests_the_last_of_his_subordinate_ids(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"uid": range(100_000, 1_000_000_000), "gid": range(300_000, 365_536)}
    monkeypatch.setattr(guest_user, "_place", lambda: tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    monkeypatch.setattr(guest_user, "find_program", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(guest_user, "_subordinates", lambda kind: [("12345", given[kind])])
    monkeypatch.setattr(guest_user, "run", lambda _: "")
    assert ways().pairs[-1] == (999_999_999, 365_535)
    assert len(ways().pairs) == 1024
    with take_user() as one, take_user() as two:
        assert (one.way, one.uid, one.gid) == ("subordinate", 999_998_976, 364_512)
        assert (two.uid, two.gid) == (999_998_977, 364_513)
    assert confinement.guard(one, uses_kvm=False).namespace == (999_998_976, 364_512)


def test_the_place_of_the_locks_does_not_depend_on_tmpdir(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two runs of a user with a TMPDIR each, as cluster jobs have, would take the same ids."""
    uid = os.geteuid()
    place = tmp_path / f"hardcost-{uid}"
    monkeypatch.setattr(guest_user, "_RUN", tmp_path / "none")
    monkeypatch.setattr(guest_user, "_WITHOUT_RUN", tmp_path)
    for job in ("a", "b"):
        (tmp_path / job).mkdir()
        monkeypatch.setenv("TMPDIR", str(tmp_path / job))
        monkeypatch.setattr(tempfile, "tempdir", None)  # as in a process of its own
        assert guest_user._place() == place


@pytest.mark.parametrize("kind", ["folder", "file", "link", "dangling link"])
def test_what_another_user_puts_in_the_place_of_the_locks_ends_a_run(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or any user of the host could have another's guests share a user."""
    me = os.geteuid()
    other = me + 1
    monkeypatch.setattr(guest_user, "_RUN", tmp_path / "none")
    monkeypatch.setattr(guest_user, "_WITHOUT_RUN", tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: other)  # so what is made here is another's
    place = tmp_path / f"hardcost-{other}"
    match kind:
        case "folder":
            place.mkdir(mode=0o700)
        case "file":
            place.touch()
        case "link":
            place.symlink_to(tmp_path)
        case _:
            place.symlink_to(tmp_path / "nowhere")
    said = f"no folder of this user's but was made by the user {me}"
    with pytest.raises(MachineError, match=said), take_user():
        pass
    check = requirements._users()
    assert (check.ok, check.needed) == (False, True)
    assert said in check.found


def test_a_disk_that_is_full_ends_a_run_and_one_that_is_read_only_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any user can fill a disk."""
    monkeypatch.setattr(guest_user, "_RUN", tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    monkeypatch.setattr(guest_user, "_WITHOUT_RUN", tmp_path)
    for number, is_fatal in ((errno.ENOSPC, True), (errno.EDQUOT, True), (errno.EROFS, False)):
        fault = OSError(number, os.strerror(number))
        with monkeypatch.context() as patched:
            patched.setattr(Path, "mkdir", Mock(side_effect=fault))
            if is_fatal:
                with pytest.raises(MachineError, match=os.strerror(number)):
                    ways()
            else:
                assert os.strerror(number) in ways().why


def test_a_line_that_makes_no_sense_gives_no_ids(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "subuid").write_text("a:1:x\n\nb:100:5\n:::\nc:7\n")
    monkeypatch.setattr(guest_user, "_ETC", tmp_path)
    assert guest_user._subordinates("uid") == [("b", range(100, 105))]
    assert guest_user._subordinates("gid") == []


@own_alone
@pytest.mark.parametrize(("group", "mode"), [(0, 0o660), (7, 0o600)])
def test_where_only_root_may_open_kvm_qemu_stays_root_without_rights(
    group: int, mode: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confinement, "KVM", device(tmp_path, group, mode))
    with confinement.user_of(uses_kvm=True) as user:
        assert user.way == "same"
        options = confinement.guard(user, uses_kvm=True).options
    assert "--bounding-set=-all" in options
    assert not [word for word in options if word.startswith("--reuid")]


@own_alone
def test_where_a_group_may_open_kvm_a_guest_s_user_is_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confinement, "KVM", device(tmp_path, 7, 0o660))
    with confinement.user_of(uses_kvm=True) as user:
        assert user.way == "own"
        assert f"--groups={user.shared},7" in confinement.guard(user, uses_kvm=True).options


def device(folder: Path, group: int, mode: int) -> Path:
    """Return a file with the group and the mode of KVM's."""
    place = folder / "kvm"
    place.touch()
    place.chmod(mode)
    os.chown(place, 0, group)
    return place
