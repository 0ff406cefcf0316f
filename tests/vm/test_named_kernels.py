"""Kernels by name and as packages: booted, and counted exactly."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from hardcost.supply.cache.cache import Cache
from hardcost.supply.packages import debian, host_release
from tests.vm.conftest import Command
from tests.vm.rpm_packages import rpm, sign

pytestmark = [pytest.mark.vm, pytest.mark.slow]

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
KERNELS = ("6.1", "6.12")
ROW = """\
title = "Kernels in a row"
workloads = ["syscalls calls=null+open"]
baseline = "audit=off kernel=6.1"
[[axis]]
name = "audit"
[axis.levels.off]
boot = ["audit=0"]
[axis.levels.on]
audit.enabled = true
[[axis]]
name = "kernel"
successive = true
values = ["6.1", "6.12"]
kernel = "debian:{value}"
"""
OTHER = "6.1" if host_release.release().codename == "trixie" else "6.12"
"""A kernel that is not the one that guests boot by default here."""
JSON = ("--format", "json")
CONTROL = "Package: {}\nVersion: 1\nArchitecture: amd64\nMaintainer: A <a@b.c>\nDescription: x\n"


@pytest.mark.lengthy
def test_another_kernel_of_debian_s_counts_the_same_by_its_version_and_as_a_package(
    hardcost: Command, tmp_path: Path
) -> None:
    study = hardcost.write("kernel.toml", STUDY)
    by_version = hardcost("run", study, *JSON, "--kernel", f"debian:{OTHER}")
    cache = Cache(hardcost.cache)
    package, release = debian.kernel_of(cache, OTHER)
    file = packed(debian.package_folder(cache, package, elsewhere=release), tmp_path, package)
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


def test_a_study_compares_kernels_each_exactly_and_with_the_one_before(hardcost: Command) -> None:
    study = hardcost.write("row.toml", ROW)
    first, again = (hardcost("run", study, *JSON, "--fresh") for _ in range(2))
    assert again.raw_cells() == first.raw_cells()
    cells = {(one["configuration"], one["metric"]): one for one in first.data()["cells"]}
    assert cells["audit=on kernel=6.12", "null"]["baseline"] == "audit=off kernel=6.12"
    values = {kernel: cells[f"audit=off kernel={kernel}", "open"]["value"] for kernel in KERNELS}
    (change,) = (
        one
        for one in first.data()["changes"]
        if (one["state"], one["metric"]) == ("audit=off", "open")
    )
    assert change["difference"] == values["6.12"] - values["6.1"] != 0


@pytest.mark.lengthy
def test_an_rpm_made_of_a_kernel_of_debian_s_counts_as_that_kernel_does(
    hardcost: Command, tmp_path: Path
) -> None:
    cache = Cache(hardcost.cache)
    package, release = debian.kernel_of(cache, OTHER)
    files = debian.package_folder(cache, package, elsewhere=release)
    (image,) = files.glob("boot/vmlinuz-*")
    own = tmp_path / "tree" / "lib/modules" / image.name.removeprefix("vmlinuz-")
    own.mkdir(parents=True)
    (own / "vmlinuz").write_bytes(image.read_bytes())
    file = rpm(cache, tmp_path / "tree", tmp_path)
    study = hardcost.write("kernel.toml", STUDY)
    own_kernel = STUDY.replace('name = "none"', f'name = "none"\nkernel = "{file}"')
    named = hardcost.write("rpm.toml", own_kernel)
    wanted = hardcost("run", study, *JSON, "--kernel", f"debian:{OTHER}")
    as_rpm = hardcost("run", study, *JSON, "--kernel", str(file), "--fresh")
    assert as_rpm.raw_cells() == wanted.raw_cells()
    assert hardcost("run", named, *JSON).values("null")["none"] == wanted.values("null")["none"]
    keys = tmp_path / "packager.asc"
    careful = replace(hardcost, extra={"HARDCOST_PACKAGE_KEYS": str(keys)})
    unsigned = file.read_bytes()
    sign(cache, file, keys)
    signed = careful("run", study, *JSON, "--kernel", str(file), "--fresh")
    assert signed.raw_cells() == wanted.raw_cells()
    file.write_bytes(unsigned)
    refused = careful("run", study, "--kernel", str(file), status=2)
    assert "kernel-core-1-1.x86_64.rpm can't be used: it is not signed" in refused.err
    file.write_bytes(file.read_bytes()[:-1000])
    refused = hardcost("run", study, "--kernel", str(file), status=2)
    assert "kernel-core-1-1.x86_64.rpm can't be used: its content does not have" in refused.err
    elsewhere = rpm(cache, tmp_path / "tree", tmp_path, target="aarch64")
    refused = hardcost("run", study, "--kernel", str(elsewhere), status=2)
    assert "it is for aarch64, and guests are x86_64" in refused.err
