"""Another host over ssh: programs copied by their hash, and clear errors from any host.

Most tests have a script in place of ssh, which runs the command on this host with a home of its
own; one has a real server.
"""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardcost.errors import InputError, MachineError
from hardcost.machines.options import MachineOptions
from hardcost.machines.real import probe_command, ssh
from hardcost.machines.real.machine import RealMachine, reach_machine
from hardcost.protocol.answers import CallAnswer, only
from hardcost.protocol.boot import Boot
from tests.machines.real.stand_ins import calls
from tests.measure.workers.sshserver import server

__all__ = ["server"]  # a fixture

STAND_IN = """#!/bin/sh
echo "$@" >> "{folder}/log"
for last; do :; done
export HOME="{home}"; unset XDG_CACHE_HOME
{before}
eval "$last"
"""


def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, before: str = "") -> Path:
    """Put a script in place of ssh; return the home that its host has."""
    home = folder / "it's a home"
    home.mkdir(exist_ok=True)
    script = folder / "bin" / "ssh"
    script.parent.mkdir(exist_ok=True)
    script.write_text(STAND_IN.format(folder=folder, home=home, before=before))
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:{os.environ['PATH']}")
    return home


def reach(address: str = "web1") -> RealMachine:
    return asyncio.run(reach_machine(ssh.SshReach(address), probe_command.programs_hash()))


def copies(home: Path) -> list[Path]:
    return sorted((home / ".cache" / "hardcost").glob("probe-*"))


def test_the_probe_is_copied_once_by_its_hash_and_measures_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = stand_in(tmp_path, monkeypatch)
    machine = reach("me@web1:2222")
    assert [one.name for one in copies(home)] == [f"probe-{probe_command.programs_hash()}"]
    done = asyncio.run(machine.execute(Boot(), [calls("null")], 60))
    assert only(done.answers, CallAnswer).name == "null"
    assert machine.name == "ssh:me@web1:2222"
    before = (tmp_path / "log").read_text()
    commands = [line for line in before.splitlines() if line.startswith("-T")]
    assert len(commands) == 10  # a question, files, their place, a question, facts, a trial, calls
    assert all("BatchMode=yes" in line and "-p 2222 -- me@web1" in line for line in commands)
    reach("me@web1:2222")
    assert "cat >" not in (tmp_path / "log").read_text().removeprefix(before)


def test_a_host_that_complains_without_end_is_an_error_and_fills_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, monkeypatch, before="exec yes >&2")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_oublock
    with pytest.raises(MachineError, match=r"ssh, or what it has started, was killed: it printed"):
        reach()
    blocks = resource.getrusage(resource.RUSAGE_SELF).ru_oublock - before
    assert blocks * 512 < 1 << 20


def test_a_damaged_copy_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = stand_in(tmp_path, monkeypatch)
    reach()
    (copy,) = copies(home)
    (copy / "hardcost-probe").write_bytes(b"damaged")
    reach()
    assert probe_command.hashes(copy) == probe_command.hashes()


def test_a_full_disk_is_an_error_that_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = tmp_path / "full"
    full.mkdir()
    (full / "cat").write_text(
        "#!/bin/sh\necho 'cat: write error: No space left on device' >&2; exit 1\n"
    )
    (full / "cat").chmod(0o755)
    home = stand_in(tmp_path, monkeypatch, f'PATH="{full}:$PATH"')
    with pytest.raises(MachineError, match=r"copying hardcost-probe failed.*No space left"):
        reach()
    assert copies(home) == []


def test_a_host_that_damages_what_arrives_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    liar = tmp_path / "liar"
    liar.mkdir()
    (liar / "sha256sum").write_text("#!/bin/sh\necho 0000 -\n")
    (liar / "sha256sum").chmod(0o755)
    stand_in(tmp_path, monkeypatch, f'PATH="{liar}:$PATH"')
    with pytest.raises(MachineError, match="did not arrive there as they were sent"):
        reach()


@pytest.mark.parametrize(
    ("before", "message"),
    [
        (
            "echo 'Host key verification failed.\033[2J' >&2; exit 255",
            r"can't be reached: Host key .*\?\[2J",
        ),
        ("exit 255", r"can't be reached: \(it said nothing\)"),
        ("yes", "wrote without end"),
    ],
)
def test_a_host_that_can_not_be_used_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str, message: str
) -> None:
    stand_in(tmp_path, monkeypatch, before)
    with pytest.raises(MachineError, match=message) as raised:
        reach("me@web1:2222")
    if "255" in before:
        assert raised.value.problems[0].hint == "try it by hand: ssh -p 2222 -- me@web1 true"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("web1", ("--", "web1")),
        ("me@web1", ("--", "me@web1")),
        ("me@web1:22", ("-p", "22", "--", "me@web1")),
        ("me@[::1]:2222", ("-p", "2222", "--", "me@::1")),
        ("[fe80::1%eth0]", ("--", "fe80::1%eth0")),
    ],
)
def test_an_address_is_user_host_and_port(text: str, words: tuple[str, ...]) -> None:
    assert ssh.address(text).words == words


@pytest.mark.parametrize(
    "text", ["", "-oProxyCommand=x", "a b", "a:99999", "a:", "@a", "a@-b", "a\n"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="names no host"):
        ssh.check(MachineOptions(address=text))


@given(st.text(max_size=30))
def test_no_address_becomes_an_option(text: str) -> None:
    try:
        words = ssh.address(text).words
    except InputError:
        return
    assert not words[-1].startswith("-")
    assert words[-2] == "--"


def test_a_real_server_is_measured_and_one_with_another_key_is_refused(
    server: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "our cache"
    client = str(shutil.which("ssh"))
    script = tmp_path / "bin" / "ssh"
    script.parent.mkdir()
    key = (tmp_path / "host.pub").read_text()
    known = tmp_path / "known"
    known.write_text(f"lab-one {key}")
    strict = f'-o "UserKnownHostsFile {known}" -o StrictHostKeyChecking=yes -o HostKeyAlias=lab-one'
    script.write_text(f'#!/bin/sh\nexec {client} {strict} -F {server} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(ssh, "_FOLDER", f'"{home}/probe-%s"')
    done = asyncio.run(reach("lab-one").execute(Boot(), [calls("null")], 60))
    assert only(done.answers, CallAnswer).uid == (os.getuid() or 1000)
    other = (tmp_path / "user.pub").read_text()
    known.write_text(f"lab-one {other}")
    with pytest.raises(
        MachineError, match=r"(?m)can't be reached: Host key verification failed\.$"
    ):
        reach("lab-one")
