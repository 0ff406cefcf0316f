"""Debian's packages are unpacked as dpkg does, and what is damaged or leads outside is refused."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import subprocess
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import zstandard

import hardcost.supply.packages.deb
from hardcost.decompress import DamagedError

TINY = Path(__file__).parent / "mirror" / "pool" / "tiny_1_amd64.deb"


def unpack(package: Path, folder: Path) -> Mapping[str, str]:
    folder.mkdir()
    with package.open("rb") as file:
        return hardcost.supply.packages.deb.unpack(file, folder, None)


def built(folder: Path, packing: str) -> Path:
    """Return a package of some files and links, made by dpkg-deb."""
    tree = folder / "tree"
    (tree / "DEBIAN").mkdir(parents=True)
    said = "Package: x\nVersion: 1\nArchitecture: amd64\nMaintainer: A <a@b.c>\n"
    (tree / "DEBIAN" / "control").write_text(f"{said}Description: x\n more\n")
    (tree / "usr" / "lib").mkdir(parents=True)
    (tree / "usr" / "lib" / "large").write_bytes(os.urandom(3 << 20))
    (tree / "usr" / "lib" / "program").write_text("#!/bin/sh\n")
    (tree / "usr" / "lib" / "program").chmod(0o755)
    (tree / "usr" / "lib" / "hard").hardlink_to(tree / "usr" / "lib" / "program")
    (tree / "usr" / "lib" / "soft").symlink_to("program")
    (tree / "usr" / "lib" / "away").symlink_to("/etc/passwd")
    words = ["dpkg-deb", "--build", f"-Z{packing}", str(tree), str(folder / "x.deb")]
    subprocess.run(words, check=True, capture_output=True)
    return folder / "x.deb"


def listed(folder: Path) -> dict[str, object]:
    return {
        str(path.relative_to(folder)): str(path.readlink())
        if path.is_symlink()
        else (path.stat().st_mode, path.read_bytes() if path.is_file() else b"")
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize("packing", ["none", "gzip", "xz", "zstd"])
def test_a_package_is_unpacked_as_dpkg_does(tmp_path: Path, packing: str) -> None:
    package = built(tmp_path, packing)
    said = unpack(package, tmp_path / "ours")
    words = ["dpkg-deb", "-x", str(package), str(tmp_path / "theirs")]
    subprocess.run(words, check=True)
    assert listed(tmp_path / "ours") == listed(tmp_path / "theirs")
    assert said["Version"] == "1"
    assert said["Description"] == "x"


def test_a_package_that_ends_too_early_is_refused_wherever_it_ends(tmp_path: Path) -> None:
    whole, file = TINY.read_bytes(), tmp_path / "x.deb"
    for end in range(0, len(whole) - 1, 7):
        file.write_bytes(whole[:end])
        with pytest.raises(DamagedError):
            unpack(file, tmp_path / str(end))


def part(name: str, data: bytes) -> bytes:
    start = f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n".encode()
    return start + data + b"\n" * (len(data) % 2)


def holding(folder: Path, *members: tarfile.TarInfo) -> Path:
    """Return a package with these members, each a file with its own name in it, or a link."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for one in members:
            one.size = len(one.name) if one.isreg() else 0
            archive.addfile(one, io.BytesIO(one.name.encode()))
    (folder / "x.deb").write_bytes(deb(made.getvalue()))
    return folder / "x.deb"


def deb(data: bytes, pack: Callable[[bytes], bytes] = zstandard.compress) -> bytes:
    """Return a package with this tar of files, packed."""
    made = io.BytesIO()
    said = b"Package: x\nVersion: 1\nArchitecture: amd64\n"
    with tarfile.open(fileobj=made, mode="w") as archive:
        one = tarfile.TarInfo("./control")
        one.size = len(said)
        archive.addfile(one, io.BytesIO(said))
    parts = part("debian-binary", b"2.0\n") + part("control.tar", made.getvalue())
    return b"!<arch>\n" + parts + part("data.tar.zst", pack(data))


def member(name: str, kind: bytes = tarfile.REGTYPE, to: str = "") -> tarfile.TarInfo:
    one = tarfile.TarInfo(name)
    one.type, one.linkname = kind, to
    return one


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ((member("/etc/x"),), "leads outside"),
        ((member("./../x"),), "leads outside"),
        ((member("a/../../x"),), "leads outside"),
        ((member("a", tarfile.SYMTYPE, "/etc"), member("a/x")), "leads through a link"),
        ((member("a", tarfile.SYMTYPE, ".."), member("a", tarfile.REGTYPE)), "is in it twice"),
        ((member("a"), member("a")), "is in it twice"),
        ((member("a"), member("a/b")), "'a/b' lies below a file"),
        ((member("a", tarfile.LNKTYPE, "../../etc/passwd"),), "leads outside"),
        ((member("a", tarfile.LNKTYPE, "none"),), "none"),
    ],
)
def test_what_leads_outside_or_is_there_twice_is_refused(
    tmp_path: Path, members: tuple[tarfile.TarInfo, ...], message: str
) -> None:
    with pytest.raises(DamagedError, match=message):
        unpack(holding(tmp_path, *members), tmp_path / "files")
    assert {one.name for one in tmp_path.iterdir()} == {"x.deb", "files"}


def test_a_hard_link_to_a_link_copies_nothing_from_outside(tmp_path: Path) -> None:
    links = member("a", tarfile.SYMTYPE, "/etc/passwd"), member("b", tarfile.LNKTYPE, "a")
    unpack(holding(tmp_path, *links), tmp_path / "files")
    assert (tmp_path / "files" / "b").is_symlink()


def test_devices_and_rights_of_others_are_left_out(tmp_path: Path) -> None:
    suid = member("su")
    suid.mode = 0o6777
    unpack(holding(tmp_path, member("null", tarfile.CHRTYPE), suid), tmp_path / "files")
    assert [one.name for one in (tmp_path / "files").iterdir()] == ["su"]
    assert (tmp_path / "files" / "su").stat().st_mode & 0o7777 == 0o755


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no package of Debian's"),
        (b"\xed\xab\xee\xdb", "no package of Debian's"),
        (b"!<arch>\n", "has no control.tar"),
        (b"!<arch>\n" + b"x" * 60, "its archive is damaged"),
        (b"!<arch>\n" + part("data.tar", b"x" * 600), "has no control.tar"),
        (b"!<arch>\n" + part("control.tar.xz", b"x" * 600), "Unrecognized archive format"),
        (deb(b"x" * 600), "Unrecognized archive format"),
        (deb(bytes(1024))[:-80], "has no data.tar"),
        (deb(b"x" * 600, lambda data: b"\xfd7zXZ\0" + data), "unsupported or corrupt|nput"),
    ],
)
def test_what_is_no_package_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "x.deb").write_bytes(content)
    with pytest.raises(DamagedError, match=message):
        unpack(tmp_path / "x.deb", tmp_path / "files")


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstandard.compress])
def test_a_package_packed_as_several_streams_is_written_whole(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name in "abc":
            one = member(name)
            one.size = 1
            archive.addfile(one, io.BytesIO(name.encode()))
    tar = made.getvalue()
    package = tmp_path / "x.deb"
    package.write_bytes(deb(tar, lambda data: pack(data[:1024]) + pack(data[1024:])))
    unpack(package, tmp_path / "files")
    assert {one.name for one in (tmp_path / "files").iterdir()} == {"a", "b", "c"}
    package.write_bytes(deb(tar, lambda data: pack(data[:1024]) + b"no stream" * 9))
    with pytest.raises(DamagedError):
        unpack(package, tmp_path / "refused")
