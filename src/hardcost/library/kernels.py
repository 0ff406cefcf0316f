"""Kernels built with hardening options, and kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from hardcost.errors import InputError, RequestError
from hardcost.library.interrupt import until_done
from hardcost.measure.monitor import Monitor
from hardcost.measure.workers.lab import Lab, need_dask
from hardcost.mechanisms.kconfig import KernelOption, recipe_of
from hardcost.profiles import catalogue
from hardcost.profiles.kernel.score import OptionScore, score_of
from hardcost.protocol.boot import KernelRecipe
from hardcost.supply.cache.built_kernels import Built, kept_kernels
from hardcost.supply.cache.cache import Cache
from hardcost.supply.kernels.builds import kernels
from hardcost.supply.kernels.config import file_text, read
from hardcost.supply.packages.debian import package_root

_FROZEN = ConfigDict(frozen=True)


class KernelScore(BaseModel):
    """How many of the hardening options that hardcost knows a configuration has."""

    model_config = _FROZEN

    met: int
    of: int

    def __str__(self) -> str:
        return f"{self.met} of {self.of}"


class LackedOption(BaseModel):
    """A hardening option that a configuration lacks."""

    model_config = _FROZEN

    option: str
    recommended: str
    found: str
    severity: str


class CheckedConfiguration(KernelScore):
    """A kernel configuration's score, and the options that it lacks."""

    options: tuple[LackedOption, ...]


class KeptKernel(BaseModel):
    """A kernel in the cache: its files, and how it was built."""

    model_config = _FROZEN

    name: str
    release: str
    image: Path
    symbols: Path
    config: Path
    score: KernelScore
    source: str
    base: str
    options: str
    patches: tuple[str, ...]
    tools: str
    seconds: str
    steps: str
    sha256: str

    @classmethod
    def of(cls, one: Built) -> KeptKernel:
        """Return the description of a kernel."""
        found = _score(read(one.config.read_text(), str(one.config)))
        files = {"image": one.image, "symbols": one.symbols, "config": one.config}
        own = {"name": one.name, "release": one.release, "patches": one.patches}
        return cls.model_validate({**one.about, **files, **own, "score": found})

    @property
    def row(self) -> tuple[str, ...]:
        """Its row of a table, with the columns `COLUMNS`."""
        set_here = len(self.options.split())
        named = self.options if set_here <= _NAMED else f"{set_here} options"
        about = (self.name, self.release, self.base, named, self._applied, str(self.score))
        return (*about, self.seconds, str(self.image))

    @property
    def _applied(self) -> str:
        """The patches for a reader: those of a folder by its name and number."""
        folders = Counter(name.partition("/")[0] for name in self.patches)
        return ", ".join(
            f"{name} ({count})" if count > 1 else name for name, count in folders.items()
        )


COLUMNS = ("name", "release", "base", "options", "patches", "score", "seconds", "image")
"""The columns of a table of kernels."""

_NAMED = 3
"""The most options that a table names."""


@dataclass(frozen=True, kw_only=True)
class KernelRequest:
    """A kernel to build: a profile's options, then those of fragments, then single ones.

    `base` is the configuration to start from, `source` the Linux source, `patches` are applied to
    it. `jobs` compilers run at a time. If `unconfined`, the build may run outside a sandbox. It
    runs on a worker of `lab`, if there is one.
    """

    base: str | None = None
    source: Path | None = None
    options: tuple[str, ...] = ()
    fragments: tuple[Path, ...] = ()
    patches: tuple[str, ...] = ()
    profile: str | None = None
    jobs: int | None = None
    unconfined: bool = False
    lab: Lab | None = None


def build(request: KernelRequest, monitor: Monitor) -> KeptKernel:
    """Build a kernel, unless it was built before.

    Raises:
        HardcostError: The request is wrong, an option was dropped, or the build failed.
    """
    made = kernels(Cache(), monitor, request.source, request.jobs, unconfined=request.unconfined)
    recipe, own = _recipe(request)
    made.announce(monitor.note)
    recipe = replace(recipe, patches=(*recipe.patches, *request.patches))
    monitor.note("asking Kconfig which options it accepts …")
    if recipe.tolerant:
        for unmet in made.unmet(recipe):
            if unmet.option not in own:
                said = f"{unmet.option}={unmet.wanted} is not what Kconfig sets: {unmet.why}"
                monitor.note(said)
    made.check(recipe, own if recipe.tolerant else None)
    if request.lab is not None and made.find(recipe) is None:
        need_dask()
        from hardcost.measure.workers.machine import builders  # noqa: PLC0415  (Dask)

        with builders("vm", request.lab, monitor.note, until_done) as builder:
            until_done(made.built_by(recipe, builder))
    return KeptKernel.of(until_done(made.build(recipe)))


def built_kernels() -> tuple[KeptKernel, ...]:
    """Return the kernels that were built."""
    return tuple(map(KeptKernel.of, kept_kernels(Cache())))


def check_configuration(file: Path) -> CheckedConfiguration:
    """Return which hardening options of the catalogue a kernel configuration lacks.

    Raises:
        InputError: The file can't be read, or is no kernel configuration.
    """
    score = score_of(read(file_text(file), str(file)))
    return CheckedConfiguration(
        met=score.met,
        of=score.total,
        options=tuple(
            LackedOption(
                option=lack.name,
                recommended=lack.wanted,
                found=lack.found,
                severity=lack.severity,
            )
            for lack in score.missing
        ),
    )


def _score(config: Mapping[str, str]) -> KernelScore:
    score: OptionScore = score_of(config)
    return KernelScore(met=score.met, of=score.total)


def _recipe(request: KernelRequest) -> tuple[KernelRecipe, frozenset[str]]:
    """Return the kernel to build: a profile's options, then fragments', then single ones.

    Also the names of the options that were asked for one by one.
    """
    recipe = KernelRecipe()
    if request.profile is not None:
        found = recipe_of(catalogue.load(request.profile, package_root).controls)
        if found is None or not (found.options or found.patches):
            raise InputError(f"the profile {request.profile} has no kernel options and no patches")
        recipe = found
    wanted: dict[str, str] = {}
    for path in request.fragments:
        wanted |= read(file_text(path), str(path))
    for text in request.options:
        try:
            option = KernelOption.of(text)
        except ValueError as error:
            raise RequestError(f"`options`: {error}") from None
        wanted[option.option] = option.value
    together = replace(
        recipe, base=request.base or recipe.base, options=(*recipe.options, *wanted.items())
    )
    return together, frozenset(wanted)
