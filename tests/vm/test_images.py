"""Roots of guests: the Debian that is made here, and one that a user brings."""

from __future__ import annotations

import asyncio
import re
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.content.disks import OwnRoots
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.protocol import ask
from hardcost.protocol.answers import RanAnswer, only
from hardcost.protocol.boot import Boot
from hardcost.supply.cache.cache import Cache
from hardcost.supply.images import ext4, ext4_contents
from hardcost.supply.images.debian import PACKAGES, debian_image
from hardcost.supply.images.user_root import image_file
from hardcost.supply.packages import debian
from tests.vm.conftest import Command, share

pytestmark = pytest.mark.vm

LIMIT_SECONDS = 300  # of host time
SHELL = '#include <stdio.h>\nint main(void) { puts("of the user"); return 0; }\n'
MIB = 1 << 20
MODULES = ("lib/modules", "usr/lib/modules")  # in packages of Debian 12, and since 13


def test_the_command_tells_what_is_in_the_image(hardcost: Command) -> None:
    said = hardcost("image", "build", "debian", "--format", "json").data()
    assert set(PACKAGES) <= set(said["packages"])
    assert Path(said["path"]).stat().st_size == said["bytes"] == 4 << 30
    listed = hardcost("image", "list", "--format", "json").data()
    assert said["path"] in {f"{entry['path']}/root.img" for entry in listed}


def test_the_image_is_sound_and_labelled_and_says_nothing_of_the_host(cache_root: Path) -> None:
    image = str(debian_image(Cache(cache_root)).path)
    subprocess.run(["e2fsck", "-f", "-n", image], check=True, capture_output=True)
    assert ext4.text_of(image, "/etc/hostname") == "hardcost\n"
    assert "myhostname = hardcost" in ext4.text_of(image, "/etc/postfix/main.cf")
    assert "http" not in ext4.text_of(image, "/etc/apt/sources.list")
    assert "/home/user" in ext4.text_of(image, "/etc/passwd")
    words = ["debugfs", "-R", "ea_list /usr/sbin/apache2", image]
    listed = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    assert "system_u:object_r:httpd_exec_t:s0" in listed


def test_the_image_trusts_what_fapolicyd_asks_about_and_no_plain_text(cache_root: Path) -> None:
    image = str(debian_image(Cache(cache_root)).path)
    trusted = ext4.text_of(image, "/etc/fapolicyd/trust.d/debian")
    assert re.search(r"^/usr/bin/bash \d+ [0-9a-f]{64}$", trusted, re.MULTILINE)
    listed = {line.split()[0] for line in trusted.splitlines()}
    assert any(path.endswith("/libc.so.6") for path in listed)  # a library
    assert "/usr/sbin/adduser" in listed  # a script that is executed
    assert "/usr/lib/python3/dist-packages/apparmor/aa.py" in listed  # one that is imported
    assert not any(path.endswith((".service", ".hwdb")) for path in listed)


def a_disk(folder: Path, shell: bytes, cache: Cache) -> Path:
    """Return a disk with a system of one program in its first partition, and a kernel of Debian."""
    tree = folder / "tree"
    package = debian.package_folder(cache, debian.current_kernel(cache))
    for name in ("bin", "etc", "boot", "dev", "proc", "sys", "run", "tmp"):
        (tree / name).mkdir(parents=True)
    (tree / "bin" / "sh").write_bytes(shell)
    (tree / "bin" / "sh").chmod(0o755)
    (tree / "etc" / "os-release").write_text("PRETTY_NAME='Tiny 1'\n")
    (tree / "etc" / "passwd").write_text("root:x:0:0:root:/:/bin/sh\n")
    (tree / "etc" / "group").write_text("root:x:0:\n")
    (kernel,) = (package / "boot").glob("vmlinuz-*")
    shutil.copy(kernel, tree / "boot")
    release = kernel.name.removeprefix("vmlinuz-")
    (modules,) = (folder for folder in map(package.joinpath, MODULES) if folder.is_dir())
    kernel_modules = modules / release / "kernel"
    (alone,) = kernel_modules.glob("fs/mbcache.ko*")  # compressed since Debian 13
    parts = ("fs/ext4", "fs/jbd2", "drivers/nvdimm", "lib", "crypto")
    for source in (*map(kernel_modules.joinpath, parts), alone):
        target = tree / "lib/modules" / release / "kernel" / source.relative_to(kernel_modules)
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
    system = folder / "system.img"
    ext4.make(system, 96 * MIB, ext4_contents.entries(tree, ext4.EPOCH))
    entry = struct.pack("<B3sB3sII", 0, b"", 0x83, b"", MIB // 512, 96 * MIB // 512)
    disk = folder / "disk.img"
    with disk.open("wb") as file:
        file.write(bytes(446) + entry + bytes(48) + b"\x55\xaa")
        file.seek(MIB)
        file.write(system.read_bytes())
    return disk


@pytest.mark.slow
def test_a_disk_of_the_users_boots_with_its_own_kernel(
    tmp_path: Path, apart_folder: Path, cache_root: Path, compiled: Callable[[str], bytes]
) -> None:
    disk = a_disk(tmp_path, compiled(SHELL), Cache(cache_root))
    cache = Cache(apart_folder / "cache")
    share(cache_root / "packages", cache.root / "packages", "modules", "linux-source-*")
    roots = OwnRoots(lambda cache: image_file(disk, cache))
    machine = VirtualMachine(cache, Hardware("tcg"), roots=roots)
    assert machine.kernel.image.is_relative_to(apart_folder)
    boot = Boot(guest="debian", fresh=True)
    job = [ask.run("it", ["/bin/sh"])]
    answers = asyncio.run(machine.execute(boot, job, LIMIT_SECONDS)).answers
    ran = only(answers, RanAnswer)
    assert ran.stdout == "of the user\n"
    assert machine.environment(boot)["image"].startswith("Tiny 1 of disk.img ")


def test_an_image_that_is_none_stops_a_study_before_anything_is_measured(
    hardcost: Command,
) -> None:
    hardcost.write("disk.img", b"\x1f\x8b\x08 of another kind")
    words = ("run", "cis-audit", "--dry-run", "--image", "disk.img")
    outcome = hardcost(*words, status=2)
    assert "disk.img is compressed by gzip; a guest can't boot it" in outcome.err
    assert "hint: hardcost takes a raw or qcow2 image" in outcome.err
