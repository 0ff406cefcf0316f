"""A Debian guest boots off an image that no guest writes to, and counts the same each time."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from hardcost.errors import MachineError, TrialError
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.content.disks import DebianRoots
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.protocol import ask, requests
from hardcost.protocol.answers import Answer, RanAnswer, all_of, answer_named
from hardcost.protocol.boot import Boot, KernelRecipe
from hardcost.protocol.requests import Request
from hardcost.supply.cache.cache import Cache
from hardcost.supply.images import ext4
from hardcost.supply.images.root_image import GRAIN, RootImage
from tests.vm.conftest import Outcome

pytestmark = pytest.mark.vm

ICOUNT = Hardware("icount")
DEBIAN = Boot(guest="debian")
ENFORCING = Boot(("security=selinux", "selinux=1", "enforcing=1"), guest="debian")
LIMIT_SECONDS = 300  # of host time, for a job of seconds, on a host that is busy


@dataclass(frozen=True)
class OneRoot(DebianRoots):
    """The root that a test made."""

    image: RootImage

    def root(self, cache: Cache) -> RootImage:  # noqa: ARG002  (the protocol's)
        """Return it."""
        return self.image


def shell(name: str, script: str, **more: object) -> Request:
    return ask.run(name, ["/bin/sh", "-c", script]).model_copy(update=more)


def execute(
    cache_root: Path, job: list[Request], boot: Boot = DEBIAN, hardware: Hardware = ICOUNT
) -> tuple[Answer, ...]:
    machine = VirtualMachine(Cache(cache_root), hardware)
    return asyncio.run(machine.execute(boot, job, LIMIT_SECONDS)).answers


def said(answers: tuple[Answer, ...]) -> dict[str, str]:
    return {answer.name: answer.stdout for answer in all_of(answers, RanAnswer)}


WAITING = (
    "cut -d ' ' -f 2 /proc/uptime; for i in 1 2 3 4 5 6 7 8; do sleep 0.01; echo | cat | cat; done;"
    "cp -a /usr/share/doc /var/tmp/a; sync; rm -r /var/tmp/a; sleep 2; cut -d ' ' -f 2 /proc/uptime"
)


@pytest.mark.slow
@pytest.mark.parametrize("boot", [DEBIAN, Boot(guest="debian", fresh=True)], ids=["kept", "fresh"])
def test_programs_that_wait_for_each_other_and_for_the_clock_count_the_same_each_time(
    boot: Boot, cache_root: Path
) -> None:
    job: list[Request] = [
        requests.DropCaches(),
        ask.run("waiting", ["/bin/sh", "-c", WAITING], clock="tsc"),
    ]
    first, second = (execute(cache_root, job, boot) for _ in range(2))
    assert first == second
    assert (answer_named(first, RanAnswer, "waiting").ticks or 0) > 2e9
    idle_seconds = said(first)["waiting"].split()
    assert idle_seconds[0] == idle_seconds[-1]


def test_what_a_guest_writes_is_gone_with_it_and_the_image_untouched(cache_root: Path) -> None:
    image = DebianRoots().root(Cache(cache_root))
    before = image.path.stat().st_mtime_ns
    found = said(
        execute(
            cache_root,
            [
                shell("before", "ls /var/tmp"),
                shell("write", "dd if=/dev/zero of=/var/tmp/x bs=1M count=20; sync; ls /var/tmp"),
            ],
        )
    )
    assert found == {"before": "", "write": "x\n"}
    assert image.path.stat().st_mtime_ns == before
    assert ext4.content_digest(image.path) == image.digest


@pytest.mark.slow
@pytest.mark.lengthy
def test_the_source_tree_is_there_for_reading_only(cache_root: Path) -> None:
    boot = Boot(guest="debian", tree=100)
    job: list[Request] = [
        shell("files", "find /srv/tree -type f | wc -l"),
        shell("write", "touch /srv/tree/x", expect=1),
    ]
    answers = execute(cache_root, job, boot)
    assert int(said(answers)["files"]) == boot.tree
    assert "Read-only" in answer_named(answers, RanAnswer, "write").stderr


def test_a_guest_has_what_programs_expect(cache_root: Path) -> None:
    script = (
        "hostname; stat -f -c %T / /tmp /run /dev/shm /dev/pts /sys/fs/cgroup;"
        "stat -c %a /tmp /run/lock /dev/shm; ping=$(cat /sys/class/net/lo/carrier); echo $ping;"
        "echo hello > /dev/stdout; echo ${0##*/} | cat /dev/fd/0; stat -c '%U %G %a' /run/owned"
    )
    owned = ask.install("/run/owned", "x", 0o640, "daemon", "mail")
    found = said(execute(cache_root, [owned, shell("found", script)], hardware=Hardware("tcg")))
    assert found["found"].split("\n")[:-1] == [
        *("hardcost", "ext2/ext3", "tmpfs", "tmpfs", "tmpfs", "devpts", "cgroup2fs"),
        *("1777", "1777", "1777", "1", "hello", "sh", "daemon mail 640"),
    ]


@pytest.mark.slow
def test_under_enforcing_the_probe_is_init_and_programs_go_to_their_domains(
    cache_root: Path,
) -> None:
    job: list[Request] = [
        shell("mode", "cat /sys/fs/selinux/enforce"),
        shell("probe", "tr -d '\\0' < /proc/1/attr/current"),
        shell("service", "tr -d '\\0' < /proc/self/attr/current"),
        shell("user", "id -Z", context="unconfined_u:unconfined_r:unconfined_t:s0"),
        shell("labels", "ls -Zd /dev/null /run /tmp /run/hardcost | sed 's/.*:\\(.*\\):s0/\\1/'"),
    ]
    answers = execute(cache_root, job, ENFORCING)
    assert said(answers) == {
        "mode": "1",
        "probe": "system_u:system_r:init_t:s0",
        "service": "system_u:system_r:initrc_t:s0",
        "user": "unconfined_u:unconfined_r:unconfined_t:s0\n",
        "labels": "null_device_t /dev/null\nvar_run_t /run\nvar_run_t /run/hardcost\ntmp_t /tmp\n",
    }


@pytest.mark.slow
@pytest.mark.lengthy
def test_systemd_starts_the_system_but_for_what_jobs_start(cache_root: Path) -> None:
    script = (
        "cat /proc/1/comm; systemctl is-active multi-user.target systemd-journald apache2 postfix;"
        "hostname; systemctl is-enabled mariadb rsyslog auditd"
    )
    boot = Boot(guest="debian", init="systemd")
    answers = execute(cache_root, [shell("system", script, expect=None)], boot, Hardware("tcg"))
    assert said(answers)["system"].split() == [
        *("systemd", "active", "active", "inactive", "inactive", "hardcost"),
        *("masked-runtime", "masked-runtime", "masked-runtime"),
    ]


@pytest.mark.slow
@pytest.mark.lengthy
def test_a_kernel_that_was_built_finds_the_disk_too(lean: Outcome, cache_root: Path) -> None:
    assert lean.status == 0
    boot = replace(ENFORCING, kernel=KernelRecipe())
    script = "uname -r | sed s/.*-//; stat -f -c %T /; tr -d '\\0' < /proc/self/attr/current"
    found = said(execute(cache_root, [shell("kernel", script)], boot))
    assert found["kernel"].split() == ["hardcost", "ext2/ext3", "system_u:system_r:initrc_t:s0"]


@pytest.mark.slow
def test_an_image_that_is_no_root_is_refused_with_the_reason(
    cache_root: Path, tmp_path: Path
) -> None:
    rubbish = tmp_path / "rubbish"
    with rubbish.open("wb") as file:
        file.write(b"no file system")
        file.truncate(GRAIN)
    empty = tmp_path / "empty"
    ext4.make(empty, GRAIN)
    cache = Cache(cache_root)
    for path, reason in (
        (rubbish, "mounting /dev/pmem0 \\(ext4\\) on /new: Invalid argument"),
        (empty, "the image is not the root of a Linux system: no shell"),
    ):
        roots = OneRoot(RootImage(path, ext4.content_digest(path), path.name, GRAIN))
        machine = VirtualMachine(cache, ICOUNT, roots=roots)
        with pytest.raises(MachineError, match=reason):
            asyncio.run(machine.execute(DEBIAN, [], LIMIT_SECONDS))


@pytest.mark.slow
def test_a_panic_in_the_midst_of_a_job_fails_the_trial_and_shows_the_console(
    cache_root: Path,
) -> None:
    with pytest.raises(TrialError, match="Kernel panic - not syncing: sysrq") as raised:
        execute(cache_root, [shell("panic", "echo c > /proc/sysrq-trigger")])
    assert "sysrq_handle_crash" in raised.value.console


@pytest.mark.slow
def test_a_disk_that_is_full_fails_what_writes_to_it(cache_root: Path) -> None:
    with pytest.raises(TrialError, match="No space left on device"):
        execute(cache_root, [shell("fill", "fallocate -l 8G /var/tmp/x")])
