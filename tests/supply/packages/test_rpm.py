"""RPM packages are unpacked as far as a kernel is concerned, and refused where they are damaged."""

from __future__ import annotations

import base64
import bz2
import gzip
import hashlib
import io
import lzma
import struct
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from hardcost.decompress import DamagedError
from hardcost.supply.packages.archive import members, write
from hardcost.supply.packages.mirror import own_keys
from hardcost.supply.packages.rpm import check_signed, content
from hardcost.supply.packages.unpack_child import KERNEL
from tests.supply.packages.signing_key import KEY, SIGNATURE

IMAGE, MODULE = "lib/modules/7.3/vmlinuz", "lib/modules/7.3/kernel/ext4.ko.zst"
REGULAR, DIRECTORY, LINK = 0o100644, 0o040755, 0o120777
FILES = {f"./{IMAGE}": b"a kernel" * 1000, f"./{MODULE}": b"a module"}
KINDS = {str: 6, int: 4, bytes: 7}
SIGNED, SIGNED_IN_TEXT = 268, 278
ARCHITECTURE, DIGEST, ALGORITHM = 1022, 5092, 5093
PACKINGS: Mapping[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "xz": lzma.compress,
    "lzma": lambda data: lzma.compress(data, lzma.FORMAT_ALONE),
    "bzip2": bz2.compress,
    "zstd": zstandard.compress,
}


def entry(name: str, data: bytes, mode: int = REGULAR, links: int = 1) -> bytes:
    """Return a file of a cpio archive."""
    named = name.encode() + b"\0"
    numbers = (1, mode, 0, 0, links, 0, len(data), 0, 0, 0, 0, len(named), 0)
    start = b"070701" + b"".join(b"%08X" % number for number in numbers) + named
    return start + bytes(-len(start) % 4) + data + bytes(-len(data) % 4)


def archive(files: Mapping[str, bytes]) -> bytes:
    return b"".join(entry(*one) for one in files.items()) + entry("TRAILER!!!", b"")


def header(values: Mapping[int, str | int | bytes]) -> bytes:
    """Return a header with a value for each tag."""
    entries, store = b"", b""
    for tag, value in values.items():
        kind = KINDS[type(value)]
        count = len(value) if isinstance(value, bytes) else 1
        entries += struct.pack(">IIII", tag, kind, len(store), count)
        if isinstance(value, bytes):
            store += value
        else:
            store += value.encode() + b"\0" if isinstance(value, str) else struct.pack(">I", value)
    start = b"\x8e\xad\xe8\x01\0\0\0\0" + struct.pack(">II", len(values), len(store))
    return start + entries + store


def package(
    payload: bytes,
    architecture: str = "x86_64",
    digest: str | None = None,
    signature: str | bytes | None = None,
) -> bytes:
    """Return a package, with the digest of its payload unless one is given."""
    signed: dict[int, str | int | bytes] = {1000: 7}
    if signature is not None:
        signed[SIGNED if isinstance(signature, bytes) else SIGNED_IN_TEXT] = signature
    signatures = header(signed)
    known: dict[int, str | int | bytes] = {ALGORITHM: 8, ARCHITECTURE: architecture}
    known[DIGEST] = digest or hashlib.sha256(payload).hexdigest()
    lead = b"\xed\xab\xee\xdb" + bytes(92)
    gap = bytes(-len(signatures) % 8)
    return lead + signatures + gap + header(known) + payload


def unpacked(folder: Path, data: bytes) -> dict[str, bytes]:
    into = folder / "files"
    write(members(content(io.BytesIO(data)), "cpio"), into, KERNEL)
    found = (path for path in into.rglob("*") if path.is_file())
    return {path.relative_to(into).as_posix(): path.read_bytes() for path in found}


@pytest.mark.parametrize("packing", PACKINGS)
def test_a_kernel_and_its_modules_come_out_however_they_are_packed(
    tmp_path: Path, packing: str
) -> None:
    found = unpacked(tmp_path, package(PACKINGS[packing](archive(FILES))))
    assert found == {IMAGE: b"a kernel" * 1000, MODULE: b"a module"}


def test_nothing_else_comes_out_and_nothing_outside(tmp_path: Path) -> None:
    names = (*("./etc/passwd", "/lib/modules/x", "./usr/bin/x", "../lib/modules/x"),)
    data = b"".join(entry(name, b"x") for name in names)
    data += entry("./lib/modules/link", b"/etc", LINK) + entry("./lib/modules/d", b"", DIRECTORY)
    assert unpacked(tmp_path, package(gzip.compress(data + archive(FILES)))).keys() == {
        IMAGE,
        MODULE,
    }
    with pytest.raises(DamagedError, match="leads outside"):
        unpacked(tmp_path, package(gzip.compress(archive({"lib/modules/../../../x": b"x"}))))
    assert {path.name for path in tmp_path.iterdir()} == {"files"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no RPM package"),
        (b"!<arch>\n", "no RPM package"),
        (package(b"")[:96], "ends too early"),
        (package(b"")[:110], "ends too early"),
        (package(b"x"), "packed in a way"),
        (package(gzip.compress(b"070702" + bytes(200))), "archive is damaged"),
        (package(gzip.compress(b"070701" + b"x" * 200)), "archive is damaged"),
        (package(gzip.compress(b"070701" + b"0" * 200)), "a name in its archive has 0 bytes"),
        (package(gzip.compress(entry("a", b"abc") + b"junk" * 30 + archive(FILES))), "Skipped 120"),
        (package(gzip.compress(archive(FILES)[:-200])), "ends too early"),
        (package(gzip.compress(archive(FILES)), "aarch64"), "for aarch64, and guests are x86_64"),
        (package(gzip.compress(archive(FILES)), digest="0" * 64), "does not have the digest"),
        (
            package(gzip.compress(archive({"lib/modules/a": b"", "lib/modules/a/b": b""}))),
            "'lib/modules/a/b' lies below a file",
        ),
        (
            b"\xed\xab\xee\xdb" + bytes(92) + b"\x8e\xad\xe8\x01\0\0\0\0" + b"\xff" * 8,
            "header is too large",
        ),
    ],
    ids=lambda value: None if isinstance(value, bytes) else value,
)
def test_a_package_that_is_wrong_or_damaged_is_refused(
    tmp_path: Path, content: bytes, message: str
) -> None:
    with pytest.raises(DamagedError, match=message):
        unpacked(tmp_path, content)


def test_a_package_that_ends_too_early_is_refused_wherever_it_ends(tmp_path: Path) -> None:
    whole = package(zstandard.compress(archive(FILES)))
    for end in range(0, len(whole), 17):
        with pytest.raises(DamagedError):
            unpacked(tmp_path, whole[:end])


@settings(deadline=None, max_examples=2 * settings().max_examples)
@given(st.data())
def test_whatever_is_changed_it_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    whole = bytearray(package(gzip.compress(archive(FILES))))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        found = unpacked(tmp_path_factory.mktemp("changed"), bytes(whole))
    except DamagedError:
        return
    assert all(name.startswith("lib/modules/") for name in found)


@pytest.mark.parametrize("as_text", [False, True], ids=["bytes", "text, as rpm 6 writes it"])
def test_a_package_that_a_known_key_signed_is_accepted(tmp_path: Path, *, as_text: bool) -> None:
    signature = base64.b64encode(SIGNATURE).decode() if as_text else SIGNATURE
    (tmp_path / "x.rpm").write_bytes(package(archive(FILES), signature=signature))
    check_signed(tmp_path / "x.rpm", (*own_keys(), KEY))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (package(archive(FILES)), "it is not signed"),
        (package(archive(FILES), signature="no base64"), "a signature of it is damaged"),
        (package(archive(FILES), signature=b"x"), "no key that is known signed it"),
        (package(archive({}), signature=SIGNATURE), "a signature of it is wrong"),
        (package(archive(FILES), "noarch", signature=SIGNATURE), "a signature of it is wrong"),
        (package(archive(FILES), signature=SIGNATURE)[:100], "it ends too early"),
    ],
    ids=["unsigned", "damaged", "none", "another content", "another architecture", "cut"],
)
def test_a_package_that_is_not_signed_as_it_is_is_refused(
    tmp_path: Path, content: bytes, message: str
) -> None:
    (tmp_path / "x.rpm").write_bytes(content)
    with pytest.raises(DamagedError, match=message):
        check_signed(tmp_path / "x.rpm", (KEY,))


def test_a_signature_of_somebody_else_s_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.rpm").write_bytes(package(archive(FILES), signature=SIGNATURE))
    with pytest.raises(DamagedError, match="no key that is known signed it"):
        check_signed(tmp_path / "x.rpm", own_keys())


def test_a_signed_header_without_a_digest_of_the_content_says_nothing(tmp_path: Path) -> None:
    lead = b"\xed\xab\xee\xdb" + bytes(92)
    signed = header({1000: 7, SIGNED: SIGNATURE})
    content = lead + signed + bytes(-len(signed) % 8) + header({ARCHITECTURE: "x86_64"})
    (tmp_path / "x.rpm").write_bytes(content)
    with pytest.raises(DamagedError, match="no digest of its content"):
        check_signed(tmp_path / "x.rpm", (KEY,))
