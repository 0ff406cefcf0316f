"""Packages straight from Debian's archive, where the host has no apt of Debian's.

What a mirror hands over is believed where Debian signed it: each suite's `InRelease` is checked by
gpgv against the keys that come with hardcost (`debian_keys/`), the list of packages against the
digest there, and a package against the digest in the list.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib import resources
from pathlib import Path

from hardcost import decompress, files
from hardcost.errors import MachineError
from hardcost.supply.cache.built_kernels import read_sealed, write_sealed
from hardcost.supply.cache.cache import Cache
from hardcost.supply.packages import signatures
from hardcost.supply.packages.apt_sources import BACKPORTS, UNSTABLE
from hardcost.supply.packages.version import key

MIRROR = "HARDCOST_DEBIAN_MIRROR"
"""The variable that names a mirror of Debian's archive: its address, without `dists/`."""

PAST = "HARDCOST_DEBIAN_PAST"
"""The variable that allows lists which are no longer valid, as those of a past day are."""

_SECURITY = "-security"  # after a mirror's address, and after a suite's name
_LIST = "main/binary-{}/Packages.xz"
# Bytes. What a mirror sends is fetched whole before its signature or hash is checked.
_LARGEST_RELEASE, _LARGEST_LIST, _LARGEST_PACKAGE = 4 << 20, 64 << 20, 1 << 30
_MOST_UNPACKED, _MOST_KEPT = 1 << 30, 256 << 20
_SECONDS = 60.0
_AT_ONCE = 1 << 20
_FIELD = re.compile(r"^([A-Za-z0-9-]+): *(.*)$", re.MULTILINE)
_DIGESTS = re.compile(r"^SHA256:\n((?: .*\n)+)", re.MULTILINE)
_REMEDY = "check that this host reaches Debian's mirror, or name another in HARDCOST_DEBIAN_MIRROR"


@dataclass(frozen=True)
class _Offer:
    """A package that a mirror has: where, and what it must be."""

    version: str
    address: str
    size: int
    sha256: str
    depends: str


class DebianArchive:
    """A release of Debian as its mirrors have it; its lists are kept in the cache."""

    def __init__(self, cache: Cache, codename: str, architecture: str = "amd64") -> None:
        self._codename = codename
        self._architecture = architecture
        self._own = cache.root / f"archive-{codename}-{architecture}"
        self._offers: Mapping[str, _Offer] | None = None

    @property
    def title(self) -> str:
        """The release of these packages."""
        return f"Debian's {self._codename}"

    def first_offered(self, names: Sequence[str]) -> str:
        """Return the first of `names` that there is, with fresh lists if necessary.

        Raises:
            MachineError: There is none of them, or the lists can't be fetched or are not Debian's.
        """
        for offers in (self._known_offers, self._fetch_offers):
            known = offers()
            found = next((name for name in names if name in known), None)
            if found is not None:
                return found
        raise MachineError(f"there is no package {' or '.join(names)} in {self.title}")

    def matching_packages(self, pattern: str) -> tuple[str, ...]:
        """Return the packages whose names match a pattern, with fresh lists if none does.

        Raises:
            MachineError: The lists can't be fetched, or are not Debian's.
        """
        wanted = re.compile(pattern)
        found = tuple(sorted(filter(wanted.search, self._known_offers())))
        return found or tuple(sorted(filter(wanted.search, self._fetch_offers())))

    def depends(self, package: str) -> tuple[str, ...]:
        """Return the packages that an offered one depends on, the first of each alternative."""
        parts = self._known_offers()[package].depends.split(",")
        return tuple(word.split()[0] for word in parts if word.strip())

    def download(self, package: str, folder: Path, version: str | None = None) -> Path:
        """Return the archive of an offered package, downloaded into `folder`.

        A mirror has one version of each, so `version` is not asked for.

        Raises:
            MachineError: It can't be fetched, even with fresh lists, or is not what it must be.
        """
        del version
        offer = self._known_offers().get(package)
        try:
            content = _package(offer)
        except MachineError:
            again = self._fetch_offers().get(package)
            if again in {offer, None}:
                raise
            content = _package(again)
        path = folder / f"{package}.deb"
        path.write_bytes(content)
        return path

    def versions(self, names: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        """Return the version of each package that the lists in the cache have.

        A package that they lack is left out.
        """
        known = self._known_offers()
        return {name: (known[name].version,) for name in names if name in known}

    def download_all(self, wanted: Mapping[str, str], folder: Path) -> None:
        """Download packages, each in the version given for its name, into `folder`.

        Each file's name is the package's and an underscore, and the version's.

        Raises:
            MachineError: One can't be fetched, is not what it must be, or has another version.
        """
        for name, version in wanted.items():
            offer = self._known_offers().get(name)
            if offer is None or offer.version != version:
                raise MachineError(f"{self.title} has no {name} {version}", hint=_REMEDY)
            (folder / f"{name}_{version}.deb").write_bytes(_package(offer))

    def refresh(self) -> None:
        """Fetch the lists of packages.

        Raises:
            MachineError: They can't be fetched, or are not Debian's.
        """
        self._fetch_offers()

    def _known_offers(self) -> Mapping[str, _Offer]:
        """Return the packages of the lists in the cache; none where they are missing or damaged."""
        if self._offers is None:
            try:
                kept = files.json_value(read_sealed(self._own / "packages.json", _MOST_KEPT) or "")
                self._offers = {name: _Offer(*one) for name, one in kept.items()}
            except (OSError, ValueError, TypeError, AttributeError):
                return {}
        return self._offers

    def _fetch_offers(self) -> Mapping[str, _Offer]:
        """Fetch the lists, and return what they offer: of each package the newest version."""
        found: dict[str, _Offer] = {}
        for mirror, suite in _suites(self._codename):
            for name, offer in _offers_of_suite(mirror, suite, _LIST.format(self._architecture)):
                before = found.get(name)
                if before is None or key(before.version) < key(offer.version):
                    found[name] = offer
        self._own.mkdir(parents=True, exist_ok=True)
        kept = {name: list(vars(one).values()) for name, one in found.items()}
        write_sealed(self._own / "packages.json", json.dumps(kept))
        self._offers = found
        return found


def _suites(codename: str) -> Iterator[tuple[str, str]]:
    """Yield the suites of a release, each with the address of its mirror."""
    mirror = os.environ.get(MIRROR, "").rstrip("/")
    if not mirror:
        raise MachineError(
            "this host has no apt of Debian's, and no mirror of Debian's archive is named",
            hint=f"set {MIRROR} to the address of one near you, the part before dists/",
        )
    yield mirror, codename
    if codename != UNSTABLE and not codename.endswith(BACKPORTS):
        yield mirror, f"{codename}-updates"
        yield f"{mirror}{_SECURITY}", f"{codename}{_SECURITY}"


def _offers_of_suite(mirror: str, suite: str, wanted: str) -> Iterator[tuple[str, _Offer]]:
    """Yield a suite's packages, checked down to Debian's signature."""
    digest, place = _list_of(mirror, suite, wanted)
    packed = _fetch(f"{mirror}/{place}", _LARGEST_LIST)
    if hashlib.sha256(packed).hexdigest() != digest:
        raise MachineError(
            f"{mirror} hands over a list of packages of {suite} that is not the one Debian signed",
            hint="the mirror may be changing: try again; else name another one",
        )
    for paragraph in _unpack_list(packed, suite).split("\n\n"):
        fields = dict(_FIELD.findall(paragraph))
        try:
            yield (
                fields["Package"],
                _Offer(
                    fields["Version"],
                    f"{mirror}/{fields['Filename']}",
                    int(fields["Size"]),
                    fields["SHA256"],
                    fields.get("Depends", ""),
                ),
            )
        except (KeyError, ValueError):
            continue


def _list_of(mirror: str, suite: str, wanted: str) -> tuple[str, str]:
    """Return the digest of a suite's list of packages, and its place on the mirror."""
    address = f"{mirror}/dists/{suite}/InRelease"
    try:
        said = signatures.signed_text(_fetch(address, _LARGEST_RELEASE), own_keys()).decode()
    except (signatures.UnsignedError, OSError, UnicodeError) as error:
        raise MachineError(f"{address} is not Debian's: {error}", hint=_REMEDY) from error
    fields = dict(_FIELD.findall(said))
    if fields.get("Codename") != suite:
        raise MachineError(f"{address} is signed, but for {fields.get('Codename')}", hint=_REMEDY)
    if _is_past(fields.get("Valid-Until")) and not os.environ.get(PAST):
        raise MachineError(
            f"{address} was valid until {fields['Valid-Until']}",
            hint="the mirror is out of date, or this host's clock is wrong; where the mirror is of"
            f" a past day on purpose, set {PAST}=1",
        )
    listed = _DIGESTS.search(said)
    lines = (line.split() for line in (listed[1] if listed else "").splitlines())
    digests = {line[2]: line[0] for line in lines if len(line) == 3}  # noqa: PLR2004  (its columns)
    digest = digests.get(wanted)
    if digest is None:
        raise MachineError(f"{address} names no {wanted}", hint=_REMEDY)
    by_hash = fields.get("Acquire-By-Hash") == "yes"
    folder = wanted.rpartition("/")[0]
    return digest, f"dists/{suite}/{f'{folder}/by-hash/SHA256/{digest}' if by_hash else wanted}"


def _is_past(time: str | None) -> bool:
    if time is None:
        return False
    try:
        return parsedate_to_datetime(time).replace(tzinfo=UTC) < datetime.now(UTC)
    except ValueError as error:
        raise MachineError(f"Debian's archive gives an invalid time: {time}") from error


def _unpack_list(packed: bytes, suite: str) -> str:
    try:
        return decompress.unpack_whole(packed, _MOST_UNPACKED).decode()
    except (decompress.DamagedError, UnicodeError) as error:
        raise MachineError(f"the list of packages of {suite} is damaged: {error}") from error


def _package(offer: _Offer | None) -> bytes:
    if offer is None:
        raise MachineError("the lists of packages don't have it any more")
    content = _fetch(offer.address, min(offer.size, _LARGEST_PACKAGE))
    if hashlib.sha256(content).hexdigest() != offer.sha256:
        raise MachineError(
            f"{offer.address} is not the package that Debian's list names",
            hint="the mirror is damaged: name another one in HARDCOST_DEBIAN_MIRROR",
        )
    return content


def own_keys() -> tuple[bytes, ...]:
    """Return the keys of Debian's archive that come with hardcost."""
    folder = resources.files("hardcost.supply.packages") / "debian_keys"
    found = sorted(folder.iterdir(), key=lambda one: one.name)
    return tuple(one.read_bytes() for one in found if one.name.endswith(".asc"))


def _fetch(address: str, most: int) -> bytes:
    """Return the bytes at an address, through the proxy that the environment names."""
    if not address.startswith(("http://", "https://")):
        raise MachineError(f"{address} is no address of a mirror", hint=_REMEDY)
    try:
        with urllib.request.urlopen(address, timeout=_SECONDS) as answer:  # noqa: S310  (checked)
            found = []
            size = 0
            while part := answer.read(_AT_ONCE):
                size += len(part)
                if size > most:
                    raise MachineError(f"{address} has more than the {most} bytes it should have")
                found.append(part)
    except (OSError, ValueError, urllib.error.URLError) as error:
        why = getattr(error, "reason", None) or error
        raise MachineError(f"{address} can't be fetched: {why}", hint=_REMEDY) from error
    return b"".join(found)
