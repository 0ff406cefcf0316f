"""Which image and modules the names of kernels stand for."""

from __future__ import annotations

import gzip
import subprocess
from pathlib import Path

import pytest

from hardcost.errors import InputError
from hardcost.machines.vm import kernel_files
from hardcost.machines.vm.kernel_files import KernelFiles
from hardcost.supply.cache.cache import Cache
from tests.supply.packages.signing_key import KEY, SIGNATURE
from tests.supply.packages.test_rpm import FILES, IMAGE, archive, package

RELEASE = "7.3.4-x"


def holding(folder: Path, *files: str) -> Path:
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text("a kernel")
    return folder


@pytest.mark.parametrize(
    ("image", "modules"),
    [
        (f"boot/vmlinuz-{RELEASE}", "lib/modules"),
        (f"lib/modules/{RELEASE}/vmlinuz", "lib/modules"),
        (f"usr/lib/modules/{RELEASE}/vmlinuz", "usr/lib/modules"),
        ("vmlinux", "lib/modules"),
    ],
    ids=["Debian 12", "Red Hat", "Linux 7 of Debian", "one's own"],
)
def test_a_folder_is_searched_for_its_kernel(tmp_path: Path, image: str, modules: str) -> None:
    holding(tmp_path, image)
    found = kernel_files.kernel_named(Cache(tmp_path / "cache"), tmp_path)
    assert found == KernelFiles(tmp_path / image, tmp_path / modules)


def test_a_folder_with_no_kernel_or_several_is_refused(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    folder = holding(tmp_path / "none", "README")
    with pytest.raises(InputError, match="holds no kernel"):
        kernel_files.kernel_named(cache, folder)
    folder = holding(tmp_path / "two", "boot/vmlinuz-1", "boot/vmlinuz-2")
    with pytest.raises(InputError, match="several kernels: boot/vmlinuz-1, boot/vmlinuz-2"):
        kernel_files.kernel_named(cache, folder)


def test_an_image_is_itself_and_host_is_the_one_that_runs(tmp_path: Path) -> None:
    image = holding(tmp_path, "image") / "image"
    assert kernel_files.kernel_named(Cache(tmp_path / "cache"), image).image == image
    host = kernel_files.kernel_named(Cache(tmp_path / "cache"), Path("host"))
    assert host.image.name.startswith("vmlinuz-")
    assert host.modules == Path("/lib/modules")


def deb(folder: Path, architecture: str = "amd64") -> Path:
    """Make a package of Debian's kind that holds something instead of a kernel."""
    tree = holding(folder / "tree", f"boot/vmlinuz-{RELEASE}")
    (tree / "DEBIAN").mkdir()
    fields = {"Package": "linux-x", "Version": "1", "Architecture": architecture}
    fields |= {"Maintainer": "A <a@b.c>", "Description": "a kernel"}
    control = "".join(f"{key}: {value}\n" for key, value in fields.items())
    (tree / "DEBIAN" / "control").write_text(control)
    words = ["dpkg-deb", "--build", "-Znone", str(tree), str(folder / "x.deb")]
    subprocess.run(words, check=True, capture_output=True)
    return folder / "x.deb"


def test_a_package_is_unpacked_once(tmp_path: Path) -> None:
    cache, package = Cache(tmp_path / "cache"), deb(tmp_path)
    found = kernel_files.kernel_named(cache, package)
    assert found.image.name == f"vmlinuz-{RELEASE}"
    assert found.image.read_text() == "a kernel"
    assert kernel_files.kernel_named(cache, package) == found


def test_a_package_for_another_architecture_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is for arm64, and guests are amd64"):
        kernel_files.kernel_named(Cache(tmp_path / "cache"), deb(tmp_path, "arm64"))


@pytest.mark.parametrize("kept", [0, 10, 200, -1], ids=str)
def test_a_damaged_package_is_refused_and_leaves_nothing(tmp_path: Path, kept: int) -> None:
    package = deb(tmp_path)
    package.write_bytes(package.read_bytes()[:kept])
    cache = Cache(tmp_path / "cache")
    with pytest.raises(InputError, match=r"x\.deb can't be used: it"):
        kernel_files.kernel_named(cache, package)
    assert not list((tmp_path / "cache").glob("packages/[0-9a-f]*"))


def test_an_rpm_is_unpacked_too_and_refused_where_it_is_damaged(tmp_path: Path) -> None:
    cache, file = Cache(tmp_path / "cache"), tmp_path / "kernel-core.rpm"
    whole = package(gzip.compress(archive(FILES)))
    file.write_bytes(whole)
    found = kernel_files.kernel_named(cache, file)
    assert found.image.read_bytes() == FILES[f"./{IMAGE}"]
    assert (found.modules / "7.3" / "kernel" / "ext4.ko.zst").is_file()
    file.write_bytes(whole[:-20])
    with pytest.raises(InputError, match=r"kernel-core.rpm can't be used: its content does not"):
        kernel_files.kernel_named(cache, file)
    file.write_bytes(package(gzip.compress(archive({}))))
    with pytest.raises(InputError, match=r"the package .* holds no kernel"):
        kernel_files.kernel_named(cache, file)


def test_where_signatures_are_asked_for_an_unsigned_package_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys, cache = tmp_path / "keys.asc", Cache(tmp_path / "cache")
    keys.write_bytes(KEY)
    file = tmp_path / "kernel-core.rpm"
    file.write_bytes(package(gzip.compress(archive(FILES), mtime=0)))
    assert kernel_files.kernel_named(cache, file).image.is_file()
    monkeypatch.setenv(kernel_files.KEYS, str(keys))
    with pytest.raises(InputError, match=r"kernel-core.rpm can't be used: it is not signed"):
        kernel_files.kernel_named(cache, file)
    with pytest.raises(InputError, match=r"x.deb has no signature, and HARDCOST_PACKAGE_KEYS"):
        kernel_files.kernel_named(cache, deb(tmp_path))
    file.write_bytes(package(archive(FILES), signature=SIGNATURE))
    with pytest.raises(InputError, match="packed in a way"):  # so its signature was accepted
        kernel_files.kernel_named(cache, file)
    monkeypatch.setenv(kernel_files.KEYS, str(tmp_path / "none"))
    with pytest.raises(InputError, match="the file of HARDCOST_PACKAGE_KEYS"):
        kernel_files.kernel_named(cache, file)
