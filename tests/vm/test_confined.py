"""What a QEMU of ours may do on the host, as the kernel tells it."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.studies import of_rules

from hardcost.machines import confined

if TYPE_CHECKING:
    from tests.vm.conftest import Command

pytestmark = pytest.mark.vm

STUDY = of_rules("a guest that stays a while", "null+open", range(4))


def status_of_qemu(command: Command, process: subprocess.Popen[str]) -> tuple[int, dict[str, str]]:
    """Return the process id of a QEMU that has begun to filter, and what the kernel says of it."""
    while True:
        folder = Path("/proc", str(command.await_guest(process)))
        try:
            lines = (folder / "status").read_text().splitlines()
        except OSError:
            continue
        found = {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}
        if found["Name"].startswith("qemu") and found["Seccomp"] == "2":
            return int(folder.name), found
        assert process.poll() is None, "no QEMU ran with its system calls filtered"
        time.sleep(0.005)


def test_qemu_has_no_privilege_no_environment_and_few_calls(
    hardcost: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "s3cret")
    process = hardcost.start("run", hardcost.write("study.toml", STUDY), "--jobs", "1")
    pid, found = status_of_qemu(hardcost, process)
    names = {
        line.partition("=")[0] for line in Path(f"/proc/{pid}/environ").read_text().split("\0")
    }
    outcome = hardcost.end(process)
    assert outcome.status == 0, outcome.err
    assert names - {""} <= {"PATH", "LC_ALL", "PWD", "OLDPWD", "SHLVL", "_"}
    assert found["NoNewPrivs"] == "1"
    assert set(found["CapEff"] + found["CapPrm"] + found["CapInh"]) == {"0"}
    if os.geteuid() == 0 and confined.is_other_user(uses_kvm=False):
        assert found["Uid"].split() == found["Gid"].split() == [str(confined.NOBODY)] * 4
        assert not found["Groups"]
        assert set(found["CapBnd"]) == {"0"}


def test_another_user_reads_nothing_of_the_cache(tmp_path: Path) -> None:
    """What is given to QEMU lies in a folder that only its descriptors lead into."""
    if not confined.is_other_user(uses_kvm=False):
        pytest.skip("only root can become another user")
    folder = tmp_path / "entry"
    folder.mkdir(mode=0o700)
    (folder / "ram").write_text("secret")
    (folder / "ram").chmod(0o600)
    files = confined.Files(other_user=True)
    path = files.write(folder / "ram")
    by_path = ["setpriv", *confined.guard(uses_kvm=False), "--", "cat", str(folder / "ram")]
    by_descriptor = [*by_path[:-1], str(path)]
    said = [run_with(words, list(files)) for words in (by_path, by_descriptor)]
    files.close()
    assert said == ["", "secret"]


def run_with(words: list[str], descriptors: list[int]) -> str:
    """Return what a program prints that inherits descriptors."""
    done = subprocess.run(words, pass_fds=descriptors, capture_output=True, text=True, check=False)
    return done.stdout
