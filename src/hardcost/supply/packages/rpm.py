"""RPM packages, without rpm, which Debian does not have: who signed one, and its archive.

The format is rpm's docs/manual/format.md: a lead, a header of signatures, the header, and a packed
cpio archive. libarchive reads the archive, but neither headers nor signatures. What a header says
of sizes is bounded.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from hardcost import decompress
from hardcost.decompress import DamagedError
from hardcost.supply.packages import signatures

# The format of RPM packages: a lead, then headers, each with an index of entries and a store.
_LEAD, _LEAD_SIZE = b"\xed\xab\xee\xdb", 96
_HEADER, _HEADER_START, _ENTRY_SIZE = b"\x8e\xad\xe8\x01", 16, 16
# Bounds: a header is read before its signature is checked.
_MOST_ENTRIES, _LARGEST_STORE = 1 << 16, 64 << 20
_ARCHITECTURE, _DIGEST, _ALGORITHM = 1022, 5092, 5093  # RPMTAG_ARCH, _PAYLOADSHA256, …ALGO
_SHA256 = 8  # OpenPGP's number of it
_SIGNED, _SIGNED_IN_TEXT = (267, 268), 278  # RPMSIGTAG_DSA, _RSA of the header; …_OPENPGP, base64
_MOST_SIGNATURES, _LARGEST_SIGNATURE = 16, 1 << 14
_ARCHITECTURES = frozenset({"x86_64", "noarch"})
_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class _Header:
    """A header: where its data lie by tag and how many, and all of its bytes."""

    entries: dict[int, tuple[int, int]]
    store: bytes
    whole: bytes

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

    `content` compares that digest. A signature is of the header as it lies in the file, which is
    what rpm's docs/manual/signatures_digests.md calls a header-only signature.

    Raises:
        InputError: The file, or a keyring, can't be read.
        MachineError: gpgv is missing.
        DamagedError: None of them did, the signature is wrong, or the package is damaged.
    """
    with package.open("rb") as file:
        signed, header = _headers(file)
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
            signatures.check(header.whole, one, keys)
        except signatures.UnsignedError as error:
            why = str(error)
        else:
            return
    raise DamagedError(why)


def content(package: BinaryIO) -> Iterator[bytes]:
    """Return the parts of the cpio archive in a package; they raise one of `decompress.ERRORS`.

    Raises:
        DamagedError: It is no package, is damaged, or is for another architecture.
    """
    _, header = _headers(package)
    architecture = header.text(_ARCHITECTURE)
    if architecture not in _ARCHITECTURES:
        raise DamagedError(f"it is for {architecture}, and guests are x86_64")
    begin = package.tell()
    digest = header.text(_DIGEST) if header.number(_ALGORITHM) == _SHA256 else None
    if digest is not None:
        total = hashlib.sha256()
        for piece in _pieces(package):
            total.update(piece)
        if total.hexdigest() != digest:
            raise DamagedError("its content does not have the digest that its header says")
        package.seek(begin)
    parts = decompress.parts(_pieces(package))
    if parts is None:
        raise DamagedError("it is packed in a way that hardcost can't unpack")
    return parts


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    return iter(lambda: file.read(_AT_ONCE), b"")


def _headers(file: BinaryIO) -> tuple[_Header, _Header]:
    """Return a package's signatures and its header; then the file is where its content begins."""
    lead = file.read(_LEAD_SIZE)
    if not lead.startswith(_LEAD):
        raise DamagedError("it is no RPM package")
    signed = _header(file)
    file.read(-file.tell() % 8)
    return signed, _header(file)


def _header(file: BinaryIO) -> _Header:
    start = file.tell()
    begin = file.read(_HEADER_START)
    if len(begin) < _HEADER_START:
        raise DamagedError(decompress.TOO_EARLY)
    if not begin.startswith(_HEADER):
        raise DamagedError(f"it has no header at byte {start}")
    count, size = struct.unpack_from(">II", begin, 8)
    if count > _MOST_ENTRIES or size > _LARGEST_STORE:
        raise DamagedError(f"its header is too large: {count} entries, {size} bytes")
    rest = file.read(count * _ENTRY_SIZE + size)
    if len(rest) < count * _ENTRY_SIZE + size:
        raise DamagedError(decompress.TOO_EARLY)
    entries = (struct.unpack_from(">IIII", rest, n * _ENTRY_SIZE) for n in range(count))
    places = {tag: (offset, number) for tag, _, offset, number in entries}
    return _Header(places, rest[count * _ENTRY_SIZE :], begin + rest)
