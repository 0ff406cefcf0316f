"""OpenPGP signatures, checked by gpgv against given keys; the user's own keyring is not read."""

from __future__ import annotations

import base64
import binascii
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from hardcost.errors import InputError
from hardcost.host.install_command import install
from hardcost.host.process import output

GPGV = "gpgv"
_ARMORED = re.compile(
    rb"-----BEGIN PGP PUBLIC KEY BLOCK-----[ \t\r]*\n(.*?)-----END PGP PUBLIC KEY BLOCK-----",
    re.DOTALL,
)
_STATUS = re.compile(rb"^\[GNUPG:\] (VALIDSIG|BADSIG|ERRSIG|NO_PUBKEY|NODATA)\b", re.MULTILINE)
_FINE = frozenset({0, 1, 2})  # gpgv's, of which 2 is also an unknown key beside a known one


class UnsignedError(Exception):
    """Nothing that is known signs the data; the message says why, without naming them."""


def signed_text(message: bytes, keys: Sequence[bytes]) -> bytes:
    """Return the signed text of a clear-signed message.

    `keys` are keyrings, each armored or binary.

    Raises:
        UnsignedError: None of the keys signed it, or a signature is wrong.
        MachineError: gpgv is missing.
        InputError: A keyring is damaged.
    """
    with tempfile.TemporaryDirectory(prefix="hardcost-signature-") as name:
        folder = Path(name)
        (folder / "message").write_bytes(message)
        _judge(_run_gpgv(folder, keys, ["--output", "text", "--", "message"]))
        return (folder / "text").read_bytes()


def check(data: bytes, signature: bytes, keys: Sequence[bytes]) -> None:
    """Check data against a signature of their own.

    Raises:
        UnsignedError: None of the keys made it, or it is wrong.
        MachineError: gpgv is missing.
        InputError: A keyring is damaged.
    """
    with tempfile.TemporaryDirectory(prefix="hardcost-signature-") as name:
        folder = Path(name)
        (folder / "data").write_bytes(data)
        (folder / "signature").write_bytes(signature)
        _judge(_run_gpgv(folder, keys, ["--", "signature", "data"]))


def _run_gpgv(folder: Path, keys: Sequence[bytes], words: Sequence[str]) -> bytes:
    """Return gpgv's verdict on the files in a folder."""
    rings = []
    for number, one in enumerate(keys):
        (folder / f"keys{number}.gpg").write_bytes(binary(one))
        rings += ["--keyring", f"./keys{number}.gpg"]
    options = ["--homedir", str(folder), "--status-fd", "1", "--weak-digest", "SHA1", *rings]
    return output([GPGV, *options, *words], folder=folder, remedy=install(GPGV), fine=_FINE)


def binary(keys: bytes) -> bytes:
    """Return a keyring as gpgv reads it, which takes no armor.

    Raises:
        InputError: Its armor is damaged.
    """
    blocks = _ARMORED.findall(keys)
    if not blocks:
        return keys
    try:
        return b"".join(map(_unwrap_armor, blocks))
    except binascii.Error as error:
        raise InputError(f"a keyring's armor is damaged: {error}") from error


def _unwrap_armor(block: bytes) -> bytes:
    """Return the bytes of a block of armor: after its headers, before its checksum."""
    body = block.replace(b"\r", b"").rpartition(b"\n\n")[2]
    lines = [line for line in body.split(b"\n") if not line.startswith(b"=")]
    return base64.b64decode(b"".join(lines), validate=True)


def _judge(said: bytes) -> None:
    found = {one.decode() for one in _STATUS.findall(said)}
    if "BADSIG" in found:
        raise UnsignedError("a signature of it is wrong")
    if "VALIDSIG" not in found:
        raise UnsignedError("no key that is known signed it")
