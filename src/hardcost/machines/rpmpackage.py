"""RPM packages: a kernel and its modules out of one, without rpm, which Debian does not have.

The format is rpm's docs/manual/format.md: a lead, a header of signatures, the header, and a packed
cpio archive. Nothing of a package is run, and what it says of sizes is bounded.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hardcost import files
from hardcost.machines import signatures, unpacking

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

LARGEST = 1 << 30
"""Bytes of a package; a distribution's kernel has some 60 million."""

_LEAD, _LEAD_SIZE = b"\xed\xab\xee\xdb", 96
_HEADER, _HEADER_START, _ENTRY_SIZE = b"\x8e\xad\xe8\x01", 16, 16
_MOST_ENTRIES, _LARGEST_STORE = 1 << 16, 64 << 20
_ARCHITECTURE, _DIGEST, _ALGORITHM = 1022, 5092, 5093  # RPMTAG_ARCH, _PAYLOADSHA256, …ALGO
_SHA256 = 8
_SIGNED, _SIGNED_IN_TEXT = (267, 268), 278  # RPMSIGTAG_DSA, _RSA of the header; …_OPENPGP, base64
_MOST_SIGNATURES, _LARGEST_SIGNATURE = 16, 1 << 14
_ARCHITECTURES = frozenset({"x86_64", "noarch"})
_CPIO, _CPIO_START = b"070701", 110
_TRAILER = "TRAILER!!!"
_REGULAR, _KIND = 0o100000, 0o170000
_WANTED = ("boot/", "lib/modules/", "usr/lib/modules/")
_LONGEST_NAME = 4096
_MOST_UNPACKED = 4 << 30  # bytes; of a kernel with all modules and debug data, half as many
_TOO_EARLY = "it ends too early"


class DamagedError(Exception):
    """A package can't be used; the message says why, without naming it."""


@dataclass(frozen=True)
class _Header:
    """A header: where its data lie by tag and how many, and where it is in the package."""

    entries: dict[int, tuple[int, int]]
    store: bytes
    begin: int
    end: int

    def text(self, tag: int) -> str | None:
        """Return the first text of a tag, None if it has none."""
        found = next(self.texts(tag), None)
        return None if found is None else found.decode(errors="replace")

    def texts(self, tag: int) -> Iterator[bytes]:
        """Yield the texts of a tag."""
        at, count = self.entries.get(tag, (0, 0))
        for _ in range(min(count, _MOST_SIGNATURES)):
            end = self.store.find(b"\0", at, at + _LARGEST_SIGNATURE)
            if end < 0:
                return
            yield self.store[at:end]
            at = end + 1

    def data(self, tag: int) -> bytes | None:
        """Return the bytes of a tag, None if it has none."""
        if tag not in self.entries:
            return None
        at, count = self.entries[tag]
        return self.store[at : at + min(count, _LARGEST_SIGNATURE)]

    def number(self, tag: int) -> int | None:
        """Return the first number of a tag, None if it has none."""
        at, count = self.entries.get(tag, (0, 0))
        if not count or at + 4 > len(self.store):
            return None
        return int(struct.unpack_from(">I", self.store, at)[0])


def check_signed(package: Path, keys: Sequence[bytes]) -> None:
    """Check that one of the keys signed a package's header, which has the digest of the content.

    `unpack` compares that digest. A signature is of the header as it lies in the file, which is
    what rpm's docs/manual/signatures_digests.md calls a header-only signature.

    Raises:
        InputError: The file, or a keyring, can't be read.
        MachineError: gpgv is missing.
        DamagedError: None of them did, the signature is wrong, or the package is damaged.
    """
    content = files.content(package, "the package", LARGEST)
    signed, header = _headers(content)
    if header.text(_DIGEST) is None or header.number(_ALGORITHM) != _SHA256:
        raise DamagedError("its header has no digest of its content, so a signature says nothing")
    found = [data for tag in _SIGNED if (data := signed.data(tag))]
    try:
        found += [base64.b64decode(one, validate=True) for one in signed.texts(_SIGNED_IN_TEXT)]
    except binascii.Error:
        raise DamagedError("a signature of it is damaged") from None
    if not found:
        raise DamagedError("it is not signed")
    why = ""
    for one in found:
        try:
            signatures.check(content[header.begin : header.end], one, keys)
        except signatures.UnsignedError as error:
            why = str(error)
        else:
            return
    raise DamagedError(why)


def unpack(package: Path, folder: Path) -> None:
    """Write the kernel and the modules of a package below a folder, by their paths in it.

    Raises:
        InputError: The file can't be read.
        DamagedError: It is no package, is damaged, or is for another architecture.
    """
    content = files.content(package, "the package", LARGEST)
    header = _headers(content)[1]
    architecture = header.text(_ARCHITECTURE)
    if architecture not in _ARCHITECTURES:
        raise DamagedError(f"it is for {architecture}, and guests are x86_64")
    payload = content[header.end :]
    digest = header.text(_DIGEST) if header.number(_ALGORITHM) == _SHA256 else None
    if digest is not None and hashlib.sha256(payload).hexdigest() != digest:
        raise DamagedError("its content does not have the digest that its header says")
    parts = unpacking.parts(payload)
    if parts is None:
        raise DamagedError("it is packed in a way that hardcost can't unpack")
    _write(_Stream(parts), folder)


def _headers(content: bytes) -> tuple[_Header, _Header]:
    """Return a package's signatures and its header."""
    if not content.startswith(_LEAD):
        raise DamagedError("it is no RPM package")
    signed = _header(content, _LEAD_SIZE)
    return signed, _header(content, -(-signed.end // 8) * 8)


def _header(content: bytes, start: int) -> _Header:
    begin = content[start : start + _HEADER_START]
    if len(begin) < _HEADER_START:
        raise DamagedError(_TOO_EARLY)
    if not begin.startswith(_HEADER):
        raise DamagedError(f"it has no header at byte {start}")
    count, size = struct.unpack_from(">II", begin, 8)
    if count > _MOST_ENTRIES or size > _LARGEST_STORE:
        raise DamagedError(f"its header is too large: {count} entries, {size} bytes")
    at = start + _HEADER_START
    store = at + count * _ENTRY_SIZE
    if store + size > len(content):
        raise DamagedError(_TOO_EARLY)
    entries = (struct.unpack_from(">IIII", content, at + n * _ENTRY_SIZE) for n in range(count))
    places = {tag: (offset, number) for tag, _, offset, number in entries}
    return _Header(places, content[store : store + size], start, store + size)


class _Stream:
    """Unpacked data that are read from begin to end, up to a bound."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts = parts
        self._held = b""
        self._left = _MOST_UNPACKED

    def take(self, count: int) -> Iterator[bytes]:
        """Yield the next `count` bytes in parts.

        Raises:
            DamagedError: There are fewer, or more than any package has.
        """
        while count:
            if not self._held:
                self._held = self._next()
                continue
            part, self._held = self._held[:count], self._held[count:]
            count -= len(part)
            yield part

    def whole(self, count: int) -> bytes:
        """Return the next `count` bytes."""
        return b"".join(self.take(count))

    def _next(self) -> bytes:
        try:
            part = next(self._parts)
        except StopIteration:
            raise DamagedError(_TOO_EARLY) from None
        except unpacking.ERRORS as error:
            raise DamagedError(str(error) or _TOO_EARLY) from error
        self._left -= len(part)
        if self._left < 0:
            raise DamagedError(f"unpacked it is larger than {_MOST_UNPACKED >> 30} GiB")
        return part


def _write(stream: _Stream, folder: Path) -> None:
    """Write the files of a cpio archive that are wanted."""
    while True:
        start = stream.whole(_CPIO_START)
        if not start.startswith(_CPIO):
            raise DamagedError("its content is no cpio archive that hardcost can read")
        try:
            fields = [int(start[at : at + 8], 16) for at in range(6, _CPIO_START, 8)]
        except ValueError:
            raise DamagedError("its archive is damaged") from None
        mode, size, length = fields[1], fields[6], fields[11]
        if not 0 < length <= _LONGEST_NAME:
            raise DamagedError(f"a name in its archive has {length} bytes")
        name = stream.whole(length)[:-1].decode(errors="replace").removeprefix("./")
        stream.whole(-(_CPIO_START + length) % 4)
        if name == _TRAILER:
            return
        data = stream.take(size)
        if mode & _KIND == _REGULAR and _is_wanted(name):
            _file(folder / name, data)
        else:
            for _ in data:
                pass
        stream.whole(-size % 4)


def _is_wanted(name: str) -> bool:
    parts = name.split("/")
    return name.startswith(_WANTED) and not {"", ".", ".."} & set(parts) and "\0" not in name


def _file(path: Path, data: Iterable[bytes]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("wb")
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        raise DamagedError("a path in its archive is both a file and a directory") from None
    with file:
        for part in data:
            file.write(part)
