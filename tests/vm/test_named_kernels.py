"""Kernels by name and as packages: booted, and counted exactly."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from hardcost.machines import debianpackages
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
JSON = ("--format", "json")
CONTROL = "Package: {}\nVersion: 1\nArchitecture: amd64\nMaintainer: A <a@b.c>\nDescription: x\n"


def test_debian_s_6_12_counts_the_same_by_its_version_and_as_a_package(
    hardcost: Command, tmp_path: Path
) -> None:
    study = hardcost.write("kernel.toml", STUDY)
    by_version = hardcost("run", study, *JSON, "--kernel", "debian:6.12")
    cache = Cache(hardcost.cache)
    package, _ = debianpackages.kernel_of(cache, "6.12")
    file = packed(debianpackages.unpacked(cache, package), tmp_path, package)
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
