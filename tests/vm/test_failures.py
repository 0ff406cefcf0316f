"""What goes wrong is one clear error with the right exit status, and leaves no guest behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from hardcost.errors import TrialError
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.protocol.boot import Boot
from hardcost.protocol.requests import Write
from hardcost.supply.cache.cache import Cache
from tests.vm.conftest import RULES, Command

pytestmark = pytest.mark.vm

TWO = """
title = "two configurations"
workloads = ["command file=forever"]
baseline = "a"
[[configuration]]
name = "a"
[[configuration]]
name = "b"
sysctl = { "kernel.kptr_restrict" = 1 }
"""
FOREVER = "int main(void) { for (volatile int i = 0;; i++) {} }"
NULL = ("--workload", "syscalls calls=null")


def errors(text: str) -> list[str]:
    """Return the lines that report an error, without that word."""
    return [line.removeprefix("error: ") for line in text.splitlines() if "error: " in line]


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("-w /etc/passwd -p wa\n-a always,exit -S all -F uidd=1\n", 2, "there is no field 'uidd'"),
        ("\n-a always,exit -F arch=b33 -S open\n", 2, "there is no architecture 'b33'"),
        (b"-w /etc/\xff\n", 1, "not UTF-8"),
        (b"\x7fELF\2\1\1\0\0\0\0\n\xfe\n\0\n\x80", None, "NUL bytes"),
        ("", None, "there is no audit rule in it"),
        (None, None, "no such file"),
    ],
)
def test_rules_that_cannot_be_loaded_are_one_error_at_their_line(
    hardcost: Command, content: str | bytes | None, line: int | None, message: str
) -> None:
    if content is not None:
        hardcost.write("my.rules", content)
    (error,) = errors(hardcost("bill", "my.rules", *NULL, status=2).err)
    assert message in error
    assert "my.rules" in error
    assert line is None or error.startswith(f"my.rules:{line}:")


def test_a_study_with_five_mistakes_gives_five_errors_with_their_lines(hardcost: Command) -> None:
    study = """
title = "five mistakes"
workloads = ["syscals"]
baseline = "nothing"
instrument = "insm"
colour = "red"
[[configuration]]
name = "a"
sysctl = { "nodots" = 1 }
"""
    outcome = hardcost("run", hardcost.write("five.toml", study), status=2)
    lines = [int(error.split(":")[1]) for error in errors(outcome.err)]
    assert lines == [3, 4, 5, 6, 9]
    assert not outcome.out


def test_a_kernel_that_cannot_be_read_is_one_error_that_names_it(
    hardcost: Command, cache_root: Path
) -> None:
    study = hardcost.write("rules.toml", RULES)
    hardcost("run", study, "--dry-run")
    real = next(cache_root.glob("packages/*/files/boot/vmlinuz-*")).read_bytes()
    hardcost.write("text", "hello\n")
    hardcost.write("start", real[:520])
    hardcost.write("half", real[: len(real) // 2])
    (hardcost.folder / "folder").mkdir()
    for name in ("missing", "text", "folder", "start", "half"):
        outcome = hardcost("run", study, "--kernel", name, status=2)
        (error,) = errors(outcome.err)
        assert f" {name} " in f" {error} "


@pytest.mark.slow
def test_a_guest_that_panics_while_it_boots_is_reported_with_its_console(hardcost: Command) -> None:
    study = """
title = "no init"
workloads = ["syscalls calls=null"]
baseline = "a"
[[configuration]]
name = "a"
boot = ["rdinit=/none"]
[[configuration]]
name = "b"
boot = ["rdinit=/none", "quiet"]
"""
    outcome = hardcost("run", hardcost.write("panic.toml", study), status=3)
    (error,) = errors(outcome.err)
    assert error.startswith("the guest died while it booted (Kernel panic - not syncing")
    assert "rdinit=/none" in error
    assert "  | " in outcome.err
    assert "Unknown child" not in outcome.err


def test_a_guest_that_panics_in_its_job_is_reported_with_its_console(cache_root: Path) -> None:
    machine = VirtualMachine(Cache(cache_root), Hardware("icount"))
    crash = Write(path="/proc/sysrq-trigger", value="c")
    with pytest.raises(TrialError, match="Kernel panic - not syncing: sysrq") as error:
        asyncio.run(machine.execute(Boot(), (crash,), 60))
    assert "sysrq_handle_crash" in error.value.console


def test_a_guest_that_hangs_is_ended_at_its_time_limit(
    hardcost: Command, compiled: Callable[[str], bytes]
) -> None:
    hardcost.write("forever", compiled(FOREVER))
    process = hardcost.start("run", hardcost.write("two.toml", TWO), "--timeout", "3")
    outcome = hardcost.end(process)
    assert outcome.status == 3
    (error,) = errors(outcome.err)
    assert "command file=forever: the guest was still running after 3 s" in error
    assert "--timeout" in outcome.err
    assert not hardcost.outlived(process)


@pytest.mark.slow
def test_a_guest_killed_from_outside_is_a_failed_trial(
    hardcost: Command, compiled: Callable[[str], bytes]
) -> None:
    hardcost.write("forever", compiled(FOREVER))
    words = ("--jobs", "1", "--timeout", "10")
    process = hardcost.start("run", hardcost.write("two.toml", TWO), *words)
    os.kill(hardcost.await_guest(process), signal.SIGKILL)
    outcome = hardcost.end(process)
    assert outcome.status == 3
    (error,) = errors(outcome.err)
    assert "QEMU was killed by SIGKILL" in error
    assert not hardcost.outlived(process)


@pytest.mark.slow
@pytest.mark.lengthy
def test_a_trial_that_fails_is_reported_and_the_others_go_on(hardcost: Command) -> None:
    study = """
title = "one of three can't boot"
workloads = ["syscalls calls=null"]
baseline = "plain"
[[configuration]]
name = "plain"
[[configuration]]
name = "broken"
boot = ["rdinit=/none"]
[[configuration]]
name = "other"
boot = ["audit=0"]
"""
    file = hardcost.write("three.toml", study)
    outcome = hardcost("run", file, "--format", "json", status=3)
    assert [cell["configuration"] for cell in outcome.data()["cells"]] == ["plain", "other"]
    (failure,) = outcome.data()["failures"]
    assert failure["configuration"] == "broken"
    assert "Kernel panic - not syncing" in failure["reason"]
    assert "rdinit=/none" in failure["reason"]
    assert "VFS: Unable to mount root fs" in failure["log"]
    again = hardcost("run", file, status=3)
    assert "6 of 11 trials were measured earlier and are reused" in again.err
    assert "broken" in again.out


@pytest.mark.slow
def test_a_failed_baseline_leaves_ratios_unknown(hardcost: Command) -> None:
    study = """
title = "the baseline can't boot"
workloads = ["syscalls calls=null"]
baseline = "broken"
[[configuration]]
name = "broken"
boot = ["rdinit=/none"]
[[configuration]]
name = "plain"
"""
    words = (hardcost.write("base.toml", study), "--format", "json")
    (cell,) = hardcost("run", *words, status=3).data()["cells"]
    assert cell["value"] > 0
    assert cell["ratio"] is None


@pytest.mark.slow
def test_a_full_disk_loses_nothing_that_was_saved(hardcost: Command) -> None:
    """The store lies on a file system of 160 KiB, which grows before the run goes on."""
    script = """
set -u
folder=$1; shift
mount -t tmpfs -o size=160k none "$folder" || exit 77
"$@" --fresh; echo "first: $?" >&2
mount -o remount,size=64m "$folder"
"$@" --resume
"""
    apart = mount_namespace()
    hardcost.store.parent.mkdir()
    words = ("run", hardcost.write("rules.toml", RULES), *NULL, "--format", "json")
    under = (*apart, "sh", "-c", script, "sh", str(hardcost.store.parent))
    outcome = hardcost.end(hardcost.start(*words, under=under))
    before, _, after = outcome.err.partition("first: 3\n")
    (error,) = errors(before)
    assert "the disk is full" in error
    assert "--resume" in before
    assert "continuing rules-" in after
    assert "of 27 trials were measured earlier and are reused" in after
    assert outcome.status == 0
    assert len(outcome.cells()) == 19


def mount_namespace() -> tuple[str, ...]:
    """Return the command under which a process may mount; skip the test where there is none."""
    mount = ("sh", "-c", "mount -t tmpfs none /mnt")
    for words in (("unshare", "-m"), ("unshare", "-rm")):
        if subprocess.run([*words, *mount], check=False, capture_output=True).returncode == 0:
            return words
    pytest.skip("this user may not mount a file system, not even in a namespace of its own")
