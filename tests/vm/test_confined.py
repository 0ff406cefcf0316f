"""What hardcost's QEMU may do on the host, as the kernel reports it."""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.robustness import two_users
from hardcost.machines.vm import confinement
from hardcost.machines.vm.guest_user import take_user, ways
from tests.studies import of_rules
from tests.vm import forger
from tests.vm.conftest import DEATH_SECONDS, LIMIT_SECONDS, Command, bring_qemu

pytestmark = pytest.mark.vm

STUDY = of_rules("a guest that stays a while", "null+open", range(4))
SMALL = of_rules("measured at once", "null+open", range(2))
root_alone = pytest.mark.skipif(ways().way != "own", reason="only root can become others")


def status_of_qemu(command: Command, process: subprocess.Popen[str]) -> dict[str, str]:
    """Return what the kernel says of a QEMU that has begun to filter.

    It has two filters: the first, by hardcost, leaves it no sockets but AF_UNIX's. One that is
    brought is started by its own loader, and has that one's name.
    """
    while True:
        folder = Path("/proc", str(command.await_guest(process)))
        try:
            lines = (folder / "status").read_text().splitlines()
        except OSError:
            continue
        found = {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}
        if found["Name"].startswith(("qemu", "ld-linux")) and found["Seccomp_filters"] == "2":
            return found
        assert process.poll() is None, "no QEMU ran with its system calls filtered"
        time.sleep(0.005)


@pytest.mark.parametrize(
    "qemu", ["host", pytest.param("debian:13", marks=[pytest.mark.slow, pytest.mark.lengthy])]
)
def test_qemu_has_no_privilege_no_environment_and_few_calls(
    qemu: str, hardcost: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "s3cret")
    study = hardcost.write("study.toml", STUDY)
    name = "host" if qemu == "host" else bring_qemu(hardcost)
    process = hardcost.start("run", study, "--jobs", "1", "--qemu", name)
    found = status_of_qemu(hardcost, process)
    environment = Path("/proc", found["Pid"], "environ").read_text().split("\0")
    names = {line.partition("=")[0] for line in environment}
    outcome = hardcost.end(process)
    assert outcome.status == 0, outcome.err
    own = {"QEMU_MODULE_DIR"} if qemu != "host" else set()
    assert names - {""} <= {"PATH", "LC_ALL", "PWD", "OLDPWD", "SHLVL", "_"} | own
    assert found["NoNewPrivs"] == "1"
    assert set(found["CapEff"] + found["CapPrm"] + found["CapInh"]) == {"0"}
    if ways().way == "own":
        (user,) = set(found["Uid"].split())
        assert found["Gid"].split() == [user] * 4
        assert int(user) in dict(ways().pairs)
        assert found["Groups"] == str(ways().shared)
    if ways().way != "same":
        assert set(found["CapBnd"]) == {"0"}


@pytest.mark.slow
@root_alone
def test_guests_at_once_run_as_different_users(hardcost: Command) -> None:
    process = hardcost.start("run", hardcost.write("study.toml", STUDY), "--jobs", "2")
    most: set[str] = set()
    while process.poll() is None and len(most) < 2:
        users = []
        for guest in forger.guests(hardcost.cache / "scratch"):
            with contextlib.suppress(OSError):
                users.append(str(Path("/proc", str(guest.pid)).stat().st_uid))
        assert len(users) == len(set(users))
        most = max(most, set(users), key=len)
    assert hardcost.end(process).status == 0
    # One may have ended, and its successor begun, between two looks.
    assert len(most) >= 2


@root_alone
def test_a_guest_s_user_opens_what_it_was_handed_and_nothing_by_its_path(tmp_path: Path) -> None:
    """What is given to QEMU lies in a folder that only its descriptors lead into."""
    folder = tmp_path / "entry"
    folder.mkdir(mode=0o700)
    (folder / "ram").write_text("secret")
    (folder / "ram").chmod(0o600)
    with (
        take_user() as user,
        take_user() as other,
        contextlib.closing(confinement.QemuFiles(user)) as files,
    ):
        path = files.own_path(folder / "ram")
        guard = confinement.guard(user, uses_kvm=False)
        own = ["setpriv", *guard.options, "--", "cat"]
        theirs = ["setpriv", *confinement.guard(other, uses_kvm=False).options, "--", "cat"]
        tried = ([*own, folder / "ram"], [*own, path], [*theirs, path])
        said = [run_with([str(word) for word in words], list(files)) for words in tried]
    assert said == ["", "secret", ""]


@pytest.mark.slow
@root_alone
def test_nobody_and_other_guests_can_neither_forge_nor_read_nor_end_a_guest(
    hardcost: Command,
) -> None:
    words = ("run", hardcost.write("study.toml", SMALL), "--fresh", "--format", "json")
    undisturbed = hardcost(*words).raw_cells()
    scratch = hardcost.cache / "scratch"
    with (
        take_user() as neighbour,
        forger.forging(scratch, forger.NOBODY) as nobody,
        forger.forging(scratch, neighbour.uid, group=neighbour.gid) as guest,
        forger.forging(scratch, two_users.STRANGER) as stranger,
    ):
        assert hardcost(*words).raw_cells() == undisturbed
    for one in (nobody, guest, stranger):
        assert one.guests
        assert one.worked == []


@pytest.mark.slow
@root_alone
def test_with_a_guest_s_own_user_much_of_that_works(hardcost: Command) -> None:
    """Else those who forge would show nothing."""
    process = hardcost.start("run", hardcost.write("study.toml", STUDY), "--fresh", "--jobs", "1")
    found = status_of_qemu(hardcost, process)
    user = int(found["Uid"].split()[0])
    with forger.forging(hardcost.cache / "scratch", user) as one:
        time.sleep(1)
    process.kill()
    hardcost.end(process)
    assert one.worked is not None
    assert {"read its memory", "write its memory by a call", "trace it", "wake it"} <= set(
        one.worked
    )
    # The trial's folder is closed to it as well.
    assert not [what for what in one.worked if what.startswith(("read answers", "write answers"))]


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Yield a folder that every user can enter."""
    with tempfile.TemporaryDirectory(prefix="hardcost-test-", dir="/var/tmp") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.slow
@root_alone
@pytest.mark.lengthy
def test_two_users_measure_at_once_what_one_does_undisturbed(
    open_folder: Path, cache_root: Path
) -> None:
    """Root and an ordinary user, whose guests have users of their own where that can be."""
    root = two_users.root(open_folder, cache_root)
    (open_folder / "study.toml").write_text(SMALL)
    words = ("run", str(open_folder / "study.toml"), "--fresh")
    undisturbed = two_users.ended(root.start(*words, "--format", "json"))
    assert not undisturbed.error
    people = (root, two_users.ordinary(open_folder, root))
    found = two_users.at_once(people, words)
    for told in found.told:
        assert not told.error
        assert told.data["cells"] == undisturbed.data["cells"]
    assert found.attacked
    assert not found.worked
    killed_it_leaves_no_guest(people[1], words)
    said = two_users.ended(people[1].start("doctor", "--format", "json"))
    (users,) = (check for check in said.data if check["name"] == "users of guests")
    assert users["ok"] == two_users.can_have_ids(open_folder)
    assert not list((people[1].cache / "scratch").iterdir())


def killed_it_leaves_no_guest(person: two_users.Person, words: tuple[str, ...]) -> None:
    """Kill a run of a user who isn't root: his guest ends with it, whoever that runs as."""
    process, scratch = person.start(*words), person.cache / "scratch"
    until = time.monotonic() + LIMIT_SECONDS
    while not list(forger.guests(scratch)):
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.02)
    process.kill()
    process.communicate()
    until = time.monotonic() + DEATH_SECONDS
    while list(forger.guests(scratch)):
        assert time.monotonic() < until, "a guest outlived hardcost"
        time.sleep(0.02)


def run_with(words: list[str], descriptors: list[int]) -> str:
    """Return what a program prints that inherits descriptors."""
    done = subprocess.run(words, pass_fds=descriptors, capture_output=True, text=True, check=False)
    return done.stdout
