"""A machine over ssh that is rebooted with further words boots its own entry after that.

The machine is a Debian guest with GRUB and sshd (`ssh_guest.py`). Each reboot takes most of a
minute under emulation, so these are slow tests.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.robustness.interrupted_changes import BOOT, differences, settled, start, wait_for
from hardcost.supply.cache.cache import Cache
from hardcost.supply.packages import debian
from tests.vm.ssh_guest import SshGuest, ssh_guest

pytestmark = [pytest.mark.vm, pytest.mark.slow, pytest.mark.lengthy]

FALLS_BACK_SECONDS = 400.0
"""A minute of silence, thrice at first, and a boot."""

KERNELS = """\
title = "the kernel before"
baseline = "as it is"
workloads = ["syscalls calls=null"]
instrument = "time"
[[configuration]]
name = "as it is"
[[configuration]]
name = "before"
kernel = "installed:{release}"
"""
MODULES = "arch crypto drivers/block drivers/net/[nv]* drivers/virtio fs lib net/core"
"""What a guest needs of a kernel's modules, and more."""
INSTALL = "tar -x -C / && depmod {0} && update-initramfs -c -k {0} && update-grub"


@pytest.fixture(scope="module")
def guest(cache_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshGuest]:
    with ssh_guest(Cache(cache_root), tmp_path_factory.mktemp("guest")) as found:
        yield found


def test_parameters_rules_and_settings_are_compared_and_all_is_as_it_was_after_it(
    guest: SshGuest,
) -> None:
    before = guest.state()
    process = start(guest, 1, "--format", "json", "--progress", "none", study=BOOT)
    assert process.wait() == 0, guest.said_by_hardcost()
    found = json.loads(guest.said_by_hardcost())
    assert {cell["configuration"] for cell in found["cells"]} == {"as it is", "booted"}
    assert any("is rebooted before and after each trial" in note for note in found["notes"])
    assert not differences(before, guest.state())
    assert not guest.journals()
    left = guest.said("ls /var/lib/hardcost").split()
    assert left == ["last-boot-journal", "last-journal", "ledger", "lock"]
    assert "hardcost" not in guest.said("ls -R /etc/systemd/system")
    assert "nothing to undo" in guest.restore()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        (["panic=3", "init=/bin/false"], "left nothing in the machine's journal"),
        (["systemd.mask=ssh.service"], "Journal stopped"),
    ],
)
def test_a_machine_that_does_not_come_up_so_comes_back_with_its_own_entry(
    guest: SshGuest, parameters: list[str], words: str
) -> None:
    before = guest.state()
    study = BOOT.replace('"mitigations=auto", "nosmt"', json.dumps(parameters)[1:-1])
    process = start(guest, 1, "--format", "json", "--progress", "none", study=study)
    assert process.wait() == 3
    said = guest.said_by_hardcost()
    assert f"did not come up with {' '.join(parameters)}, and is back with its own boot" in said
    assert words in said
    assert not differences(before, settled(guest, before))
    assert not guest.journals()


@pytest.mark.parametrize("by", ["guard", "restore"])
def test_a_boot_that_nobody_wants_any_more_ends(guest: SshGuest, by: str) -> None:
    before = guest.state()
    process = start(guest, 9, study=BOOT)
    wait_for(guest, "made", process)  # it goes down
    until = time.monotonic() + FALLS_BACK_SECONDS
    while "hardcost.boot=" not in guest.reached("cat /proc/cmdline"):
        assert time.monotonic() < until
    process.kill()
    process.wait()
    if by == "restore":
        assert "rebooted as it was configured before" in guest.restore()
    assert not differences(before, settled(guest, before, FALLS_BACK_SECONDS))
    guest.restore()
    assert not guest.journals()


def test_parameters_that_a_boot_loader_would_read_are_refused_and_nothing_is_changed(
    guest: SshGuest,
) -> None:
    before = guest.state()
    study = BOOT.replace('"mitigations=auto", "nosmt"', '"a=$(reboot)"')
    process = start(guest, 1, study=study)
    assert process.wait() != 0
    assert "can't be given to a boot loader" in guest.said_by_hardcost()
    assert not differences(before, guest.state())


def test_a_kernel_that_is_installed_beside_the_running_one_is_booted_once(
    guest: SshGuest, cache_root: Path
) -> None:
    release = guest.said("uname -r").strip()
    newer = install_kernel(guest, Cache(cache_root), "6.12")
    guest.said("systemctl reboot", may_fail=True)
    until = time.monotonic() + FALLS_BACK_SECONDS
    while guest.reached("uname -r").strip() != newer:
        assert time.monotonic() < until
    before = guest.state()
    study = KERNELS.format(release=release)
    process = start(guest, 1, "--format", "json", "--progress", "none", study=study)
    assert process.wait() == 0, guest.said_by_hardcost()
    found = json.loads(guest.said_by_hardcost())
    assert {cell["configuration"] for cell in found["cells"]} == {"as it is", "before"}
    assert not differences(before, settled(guest, before))
    study = KERNELS.format(release="6.1.0-0-amd64")
    assert start(guest, 1, study=study).wait() != 0
    said = " ".join(guest.said_by_hardcost().split())  # which has lines of a terminal's width
    assert "no entry that boots the kernel 6.1.0-0-amd64: is it installed?" in said, said
    assert not differences(before, settled(guest, before))


def install_kernel(guest: SshGuest, cache: Cache, version: str) -> str:
    """Install one of Debian's kernels in the guest, as its first entry; return its release."""
    package, elsewhere = debian.kernel_of(cache, version)
    files = debian.package_folder(cache, package, elsewhere=elsewhere)
    release = package.removeprefix("linux-image-")
    pack = f"tar -c boot lib/modules/{release}/modules.* "
    pack += " ".join(f"lib/modules/{release}/kernel/{part}" for part in MODULES.split())
    with subprocess.Popen(["sh", "-c", pack], cwd=files, stdout=subprocess.PIPE) as packed:
        words = ["ssh", "-T", "root@guest", INSTALL.format(release)]
        subprocess.run(words, check=True, env=guest.environment(), stdin=packed.stdout)
    assert not packed.returncode
    return release
