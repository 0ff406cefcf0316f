"""Kernels by name and as packages: booted, and counted exactly."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from hardcost.machines import debianpackages, host
from hardcost.machines.cache import Cache

if TYPE_CHECKING:
    from pathlib import Path

    from tests.vm.conftest import Command

pytestmark = pytest.mark.vm

STUDY = """\
title = "A kernel"
workloads = ["syscalls calls=null+open"]
baseline = "none"
[[configuration]]
name = "none"
[[configuration]]
name = "audit-off"
boot = ["audit=0"]
"""
OTHER = "6.1" if host.release().codename == "trixie" else "6.12"
"""A kernel that is not the one that guests boot by default here."""
JSON = ("--format", "json")
CONTROL = "Package: {}\nVersion: 1\nArchitecture: amd64\nMaintainer: A <a@b.c>\nDescription: x\n"


def test_another_kernel_of_debian_s_counts_the_same_by_its_version_and_as_a_package(
    hardcost: Command, tmp_path: Path
) -> None:
    study = hardcost.write("kernel.toml", STUDY)
    by_version = hardcost("run", study, *JSON, "--kernel", f"debian:{OTHER}")
    cache = Cache(hardcost.cache)
    package, release = debianpackages.kernel_of(cache, OTHER)
    file = packed(debianpackages.unpacked(cache, package, elsewhere=release), tmp_path, package)
    as_package = hardcost("run", study, *JSON, "--kernel", str(file), "--fresh")
    debians_own = hardcost("run", study, *JSON)
    assert as_package.raw_cells() == by_version.raw_cells()
    assert by_version.raw_cells() != debians_own.raw_cells()


def packed(files: Path, folder: Path, name: str) -> Path:
    """Return the kernel's image of a package in a package of its own, without the modules."""
    image = next(files.glob("boot/vmlinuz-*"))
    (folder / "tree" / "boot").mkdir(parents=True)
    (folder / "tree" / "DEBIAN").mkdir()
    (folder / "tree" / "boot" / image.name).write_bytes(image.read_bytes())
    (folder / "tree" / "DEBIAN" / "control").write_text(CONTROL.format(name))
    words = ["dpkg-deb", "--build", "-Znone", str(folder / "tree"), str(folder / "kernel.deb")]
    subprocess.run(words, check=True, capture_output=True)
    return folder / "kernel.deb"
