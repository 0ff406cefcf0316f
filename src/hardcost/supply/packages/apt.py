"""The host's apt: queried for its packages and used to download them; nothing is installed."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from hardcost.errors import MachineError
from hardcost.host.process import run
from hardcost.supply.cache.cache import Cache
from hardcost.supply.packages.apt_sources import debian_sources
from hardcost.supply.packages.host_release import HostRelease
from hardcost.supply.packages.version import key

_REMEDY = "apt-get update, then try again; hardcost takes packages from apt's own sources"
OTHERS_REMEDY = (
    "check that apt's mirror has that release, too; its keys are in the package"
    " debian-archive-keyring: apt-get install debian-archive-keyring"
)
"""The remedy where packages of another release than the host's can't be had."""

_DEPENDS = re.compile(r"^\s*Depends:\s+(\S+)", re.MULTILINE)
_POLICY = re.compile(r"^(\S+):\n(?: .*\n)*?  Candidate: (?!\(none\))\S", re.MULTILINE)
_MADISON = re.compile(r"^ *(\S+) \| +(\S+) \| .* Packages$", re.MULTILINE)


class Apt:
    """The host's apt with its lists of packages, or with lists in the cache if those lack one.

    With `codename`, it is another release of Debian, from the same mirrors as the host's own,
    checked by the same keys. What is installed here, or preferred, has no part in that.
    """

    def __init__(self, cache: Cache, release: HostRelease, codename: str | None = None) -> None:
        self._release = release
        self._codename = codename
        self._own = cache.root / ("apt" if codename is None else f"apt-{codename}")

    def first_offered(self, names: Sequence[str]) -> str:
        """Return the first of `names` that apt could install, with fresh lists if necessary.

        apt treats an unknown name as a pattern, and would download whatever matches it.

        Raises:
            MachineError: It offers none of them, or its lists can't be fetched.
        """
        found = self._candidate(names)
        if found is None:
            self._fetch_lists()
            found = self._candidate(names)
        if found is None:
            raise MachineError(
                f"apt offers no package {' or '.join(names)} of {self.title}", hint=self._remedy
            )
        return found

    def matching_packages(self, pattern: str) -> tuple[str, ...]:
        """Return the packages whose names match a pattern of apt's, with fresh lists if none does.

        Raises:
            MachineError: Its lists can't be fetched.
        """
        found = self._search_names(pattern)
        if not found:
            self._fetch_lists()
            found = self._search_names(pattern)
        return found

    def depends(self, package: str) -> tuple[str, ...]:
        """Return the packages that an offered one depends on."""
        said = run(["apt-cache", *self._options(), "depends", "--", package])
        return tuple(_DEPENDS.findall(said))

    def download(self, package: str, folder: Path, version: str | None = None) -> Path:
        """Return the archive of an offered package, downloaded into `folder`.

        It has the given `version` if that is still offered.

        Raises:
            MachineError: It can't be fetched, even with fresh lists.
        """
        if version is not None:
            with contextlib.suppress(MachineError):
                self._download(f"{package}={version}", folder)
        if not list(folder.glob("*.deb")):
            self._download_anew(package, folder)
        archives = list(folder.glob("*.deb"))
        if len(archives) != 1:
            raise MachineError(f"apt downloaded nothing for {package}", hint=_REMEDY)
        return archives[0]

    def versions(self, names: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        """Return the versions of packages that its lists have, the newest first.

        What is installed has no part in that. A package that the lists lack is left out.
        """
        if self._codename is not None and not self._own.is_dir():
            return {}
        return offered_versions(run(["apt-cache", *self._options(), "madison", "--", *names]))

    def download_all(self, wanted: Mapping[str, str], folder: Path) -> None:
        """Download packages, each in the version given for its name, into `folder`.

        Each file's name is the package's and an underscore, and what apt adds.

        Raises:
            MachineError: One of them can't be fetched.
        """
        named = [f"{name}={version}" for name, version in wanted.items()]
        words = ["apt-get", *self._options(), "download", "--", *named]
        run(words, folder=folder, remedy=_REMEDY)

    def refresh(self) -> None:
        """Fetch the lists of packages.

        Raises:
            MachineError: They can't be fetched.
        """
        self._fetch_lists()

    @property
    def title(self) -> str:
        """The release of these packages."""
        return self._release.title if self._codename is None else f"Debian's {self._codename}"

    def _download_anew(self, package: str, folder: Path) -> None:
        try:
            self._download(package, folder)
        except MachineError:
            self._fetch_lists()
            self._download(package, folder)

    def _download(self, package: str, folder: Path) -> None:
        words = ["apt-get", *self._options(), "download", "--", package]
        run(words, folder=folder, remedy=_REMEDY)

    def _candidate(self, names: Sequence[str]) -> str | None:
        if self._codename is not None and not self._own.is_dir():
            return None
        for name in names:
            if name in candidates(run(["apt-cache", *self._options(), "policy", "--", name])):
                return name
        return None

    def _search_names(self, pattern: str) -> tuple[str, ...]:
        if self._codename is not None and not self._own.is_dir():
            return ()
        words = ["apt-cache", *self._options(), "search", "--names-only", "--", pattern]
        return tuple(sorted(line.split(" ")[0] for line in run(words).splitlines() if line))

    def _fetch_lists(self) -> None:
        for folder in ("lists/partial", "archives/partial"):
            (self._own / folder).mkdir(parents=True, exist_ok=True)
        if self._codename is not None:
            sources = debian_sources(self._release.codename, as_of=self._codename)
            (self._own / "debian.sources").write_text(sources, encoding="utf-8")
        run(["apt-get", *self._options(), "update"], remedy=self._remedy)

    @property
    def _remedy(self) -> str:
        return _REMEDY if self._codename is None else OTHERS_REMEDY

    def _options(self) -> list[str]:
        """Return apt's options: lists and sources in our cache, if we keep them there."""
        if not self._own.is_dir():
            return []
        own = [f"-oDir::State::Lists={self._own}/lists", f"-oDir::Cache={self._own}"]
        if self._codename is not None:
            own += [f"-oDir::Etc::SourceList={self._own}/debian.sources"]
            own += ["-oDir::Etc::SourceParts=/dev/null", "-oDir::State::Status=/dev/null"]
            own += ["-oDir::Etc::Preferences=/dev/null", "-oDir::Etc::PreferencesParts=/dev/null"]
        return [*own, "-oDebug::NoLocking=1"]


def candidates(policy: str) -> frozenset[str]:
    """Return the packages that apt could install, from the output of `apt-cache policy`."""
    return frozenset(_POLICY.findall(policy))


def offered_versions(madison: str) -> Mapping[str, tuple[str, ...]]:
    """Return the versions of each package, the newest first, from `apt-cache madison`."""
    found: dict[str, set[str]] = {}
    for name, version in _MADISON.findall(madison):
        found.setdefault(name, set()).add(version)
    return {name: tuple(sorted(each, key=key, reverse=True)) for name, each in found.items()}
