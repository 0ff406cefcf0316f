"""Building kernels: configured, checked, compiled, kept by content; never built twice.

All kernels of one source are built in one folder, one after another, so that only what an option
or a patch affects is compiled again; ccache, which checks what it keeps, provides the rest. A
successful build is sealed. Whatever a failed or interrupted build leaves, or anything changed
since, is cleared before the next, so that nothing incomplete or damaged is ever linked. A kernel
enters the cache complete, by renaming.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import functools
import json
import os
import shutil
import time
from collections.abc import AsyncIterator, Callable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from hardcost.errors import InputError, MachineError, Problem
from hardcost.host import compiler
from hardcost.host.output import BoundedOutput
from hardcost.host.process import follow, running
from hardcost.protocol.boot import Boot, KernelRecipe, Unmet
from hardcost.supply.cache import folders
from hardcost.supply.cache.built_kernels import (
    Built,
    is_known,
    kernel_in_folder,
    read_sealed,
    write_sealed,
)
from hardcost.supply.cache.cache import Cache, digest, file_digest
from hardcost.supply.kernels import (
    build_log,
    config,
    kconfig_reasons,
    patch_overlay,
    patches,
    source,
)
from hardcost.supply.kernels.build_tree import Tree
from hardcost.supply.kernels.identity import KernelParts, Patched
from hardcost.supply.kernels.make import BuildOutput, KernelMake, Trust
from hardcost.supply.kernels.patch_overlay import PatchedFile
from hardcost.supply.kernels.source import KernelSource, SourceParts
from hardcost.supply.progress import BuildProgress
from hardcost.supply.transfer import Builder, Order, supply_of

_RECIPE = "1"  # increase it when the same parts yield a different kernel
_SEED = "68617264636f7374" * 4  # of structure layouts (RANDSTRUCT): the same for every kernel
_USUAL_STEPS = 1700  # of the lean kernel from nothing
_POLL_SECONDS = 0.5
_MACHINE = "vm"  # whose kernels these are
_KEPT = {"vmlinux": "vmlinux", "System.map": "System.map", ".config": "config"}
FILES = (*_KEPT.values(), "release", "log", "about.json")
"""The files of a kernel in the cache."""

_CONFIGURING_SECONDS = 600.0  # Kconfig of a patched source may run any program, in the sandbox
_RESOLVED = "2"  # increase it when the same parts yield a different configuration
_RESOLVED_BY_KCONFIG = "# Automatically generated file"
# The state of a git tree must not affect a kernel.
_ALWAYS = "# CONFIG_LOCALVERSION_AUTO is not set\n"


class Kernels:
    """Kernels built from one source; `report` receives progress twice a second, finally None."""

    def __init__(
        self,
        cache: Cache,
        folder: Path | None = None,
        *,
        jobs: int | None = None,
        report: Callable[[BuildProgress | None], None] | None = None,
        trust: Trust = Trust(),  # noqa: B008  (frozen)
    ) -> None:
        """Build from the source in `folder`, with `jobs` parallel compilers.

        Instead of a folder it may be the name of one of Debian's sources (`source.named`). `trust`
        says what to do about code of the user's that runs on this machine.
        """
        self._cache = cache
        self._debians = source.named_debian_source(cache, folder)
        self._folder = folder if self._debians is None else None
        self._jobs = jobs or len(os.sched_getaffinity(0))
        self._report = report or (lambda _: None)
        self._patched: dict[tuple[str, ...], Patched] = {}
        self._depends: dict[Path, kconfig_reasons.Kconfig] = {}
        self._maker = KernelMake(cache, self._folder, trust)

    @cached_property
    def source(self) -> KernelSource:
        """The source; Debian's is fetched and unpacked on first use.

        Raises:
            InputError: make can't work in the cache or the source's folder.
        """
        source.fit_for_cache(self._cache)
        if self._folder is not None:
            return source.from_folder(self._folder)
        return source.debian_source(self._cache, self._debians or source.DebianSource())

    def announce(self, note: Callable[[str], None]) -> None:
        """Have `note` hear that Debian's source is fetched, where that is still to come."""
        if self._debians is not None and not source.is_unpacked(self._cache, self._debians):
            series = self._debians.series
            note(f"fetching and unpacking the source of Linux {series}; this happens once …")

    def depends(self, recipe: KernelRecipe) -> kconfig_reasons.Kconfig:
        """Return the dependencies of the options of a recipe's source."""
        folder = self._configured_source(recipe).folder
        if folder not in self._depends:
            self._depends[folder] = kconfig_reasons.read(folder)
        return self._depends[folder]

    def _patches(self, recipe: KernelRecipe) -> Patched:
        """Return the result of a recipe's patches on the source, as they were when first read."""
        if recipe.patches not in self._patched:
            self._patched[recipe.patches] = self._read_patches(recipe)
            for remark in self._patched[recipe.patches].remarks:
                self._maker.warn(remark)
        return self._patched[recipe.patches]

    def _read_patches(self, recipe: KernelRecipe) -> Patched:
        read = patches.read(recipe.patches, self.source.version)
        files = patch_overlay.overlay_of(read, self.source.folder)
        remarks = self._maker.remarks(read)
        names = tuple(patch.name for patch in read)
        return Patched(names, bool(remarks), remarks, files, *self._source_for_kconfig(files))

    def remarks(self, recipe: KernelRecipe) -> tuple[str, ...]:
        """Return which code of the user's runs on this machine during the build, and how."""
        return self._patches(recipe).remarks

    def _source_for_kconfig(self, files: patch_overlay.Overlay) -> tuple[KernelSource, bool]:
        """Return the source that Kconfig reads, and whether a tree of it is compiled.

        A tree is linked to its source; a folder of the user's can't be, since it may be edited.
        """
        if not files.files:
            return self.source, self._folder is None
        origin = (
            self.source if self._folder is None else source.copy_source(self._cache, self.source)
        )
        if files.is_plain(origin.folder):
            return origin, True
        return source.patch_source(self._cache, origin, files), False

    def _configured_source(self, recipe: KernelRecipe) -> KernelSource:
        """Return the source that Kconfig reads: patched if the patches may affect it."""
        return self._patches(recipe).configured

    @cached_property
    def _tools(self) -> compiler.Tools:
        return compiler.find()

    def configuration(self, recipe: KernelRecipe) -> dict[str, str]:
        """Return the configuration that a recipe yields, dependencies applied by Kconfig."""
        return config.read(self._resolved_config(recipe), "the resolved configuration")

    def unmet(self, recipe: KernelRecipe) -> tuple[Unmet, ...]:
        """Return the options of a recipe that don't come out as requested, with the reasons."""
        found, depends = self.configuration(recipe), self.depends(recipe)
        return tuple(
            Unmet(name, wanted, got, depends.why(name, wanted, found))
            for name, wanted in dict(recipe.options).items()
            if (got := config.value(found, name)) != wanted
        )

    def check(self, recipe: KernelRecipe, only: AbstractSet[str] | None = None) -> None:
        """Check that every option comes out as requested, or those named in `only`.

        Raises:
            InputError: Some do not; each is reported, with the dependency that dropped it.
        """
        problems = tuple(
            Problem(
                f"{unmet.option}={unmet.wanted} is not what Kconfig sets: {unmet.why}",
                hint=compiler.hint_for(unmet.why) or "set its dependencies too, or leave it out",
            )
            for unmet in self.unmet(recipe)
            if only is None or unmet.option in only
        )
        if problems:
            raise InputError.of(problems)

    def name(self, recipe: KernelRecipe) -> str:
        """Return the name of a recipe's kernel: the hash of all that it is made from."""
        parts = {
            "source": self.source.digest,
            "tools": self._tools.versions,
            "config": self._resolved_config(recipe),
            "recipe": _RECIPE,
        }
        changed = self._patches(recipe).overlay.digest
        return digest({**parts, "patches": changed} if changed else parts)

    def find(self, recipe: KernelRecipe) -> Built | None:
        """Return the kernel if it is in the cache, complete."""
        folder = self._cache.find("kernels", self.name(recipe), known=is_known)
        return None if folder is None else self._with_names_of(recipe, folder)

    def _with_names_of(self, recipe: KernelRecipe, folder: Path) -> Built:
        """Return a kernel with this recipe's names: another recipe may have built it first."""
        found = kernel_in_folder(folder)
        return replace(found, about={**found.about, **self._request_record(recipe)})

    def _request_record(self, recipe: KernelRecipe) -> dict[str, str]:
        """Return a recipe's requests, as recorded with a kernel."""
        return {
            "base": recipe.base,
            "options": " ".join(f"{option}={value}" for option, value in recipe.options),
            "patches": "\n".join(self._patches(recipe).names),
        }

    async def build(self, recipe: KernelRecipe) -> Built:
        """Return the kernel, built unless it is in the cache.

        Raises:
            MachineError: A tool is missing, or the build fails; the log is kept and named.
        """
        known = self.find(recipe)
        if known is not None:
            return known
        name, title = self.name(recipe), self.title(recipe)
        waiting = functools.partial(self._wait, title)
        try:
            async with self._cache.building_beside("kernels", name, title, waiting) as folder:
                if folder is not None:
                    await self._fill(folder, recipe, name)
        finally:
            self._report(None)
        return self._with_names_of(recipe, self._cache.root / "kernels" / name)

    def order(self, recipe: KernelRecipe) -> Order:
        """Return the order by which another host builds a recipe's kernel."""
        patched, of = self._patches(recipe), self.source
        parts = KernelParts(
            name=self.name(recipe),
            title=self.title(recipe),
            source=SourceParts(of.digest, of.title, of.version, self._folder is None),
            config=self._resolved_config(recipe),
            names=patched.names,
            asked=tuple(self._request_record(recipe).items()),
            overlay=patched.overlay,
            foreign=patched.foreign,
        )
        if self._debians is not None:
            archive = source.debian_package(self._cache, self._debians).archive
        else:
            archive = source.archive_source(self._cache, of)
        supply = supply_of(archive, f"the source {of.title}", self._cache.root)
        identity = (("kernel", parts.name),)
        return Order(_MACHINE, Boot(kernel=recipe), identity, parts, (supply,))

    async def built_by(self, recipe: KernelRecipe, builder: Builder) -> None:
        """Have another host build the kernel, unless it is in the cache, and keep it.

        Raises:
            MachineError: The build fails, or what comes is not that kernel.
        """
        if self.find(recipe) is not None:
            return
        name, title = self.name(recipe), self.title(recipe)
        waiting = functools.partial(self._wait, title)
        try:
            async with self._cache.building_beside("kernels", name, title, waiting) as folder:
                if folder is not None:
                    await builder(self.order(recipe), folder)
                    self._check_sent(folder, recipe)
        finally:
            self._report(None)

    def _check_sent(self, folder: Path, recipe: KernelRecipe) -> None:
        """Check that the files of another host's build are those of a recipe's kernel."""
        found = {path.name for path in folder.iterdir()}
        if found != set(FILES):
            differs = f"it has {', '.join(sorted(found)) or 'no files'}"
        elif (folder / "config").read_text() != self._resolved_config(recipe):
            differs = "its configuration is another"
        elif kernel_in_folder(folder).about["sha256"] != file_digest(folder / "vmlinux"):
            differs = "its image is another than the one that was built"
        else:
            return
        raise MachineError(
            f"{self.title(recipe)}: the kernel that came is not the one asked for: {differs}"
        )

    def _wait(self, title: str, seconds: float) -> None:
        """Report that a build waits for another."""
        self._report(BuildProgress(title, 0, None, seconds, waiting=True))

    async def _fill(self, folder: Path, recipe: KernelRecipe, name: str) -> None:
        """Build a kernel and leave it in `folder`."""
        self._tools.need_all()
        log = self._log(name)
        self._cache.check(self._configured_source(recipe).folder)
        async with self._workplace(recipe) as (place, lock):
            started = time.monotonic()
            folder_of_source, resolved = (
                self._lay_out_source(place, recipe),
                self._resolved_config(recipe),
            )
            with self._output(place, recipe) as output:
                output.put(".config", resolved)
                steps = await self._make(output, folder_of_source, lock, log, recipe)
                output.check(folder_of_source)
                # Of a source that was edited meanwhile, the kernel's name would not be true.
                self._configured_source(recipe).check_unchanged()
                release = output.file("include/config/kernel.release").read_text().strip()
                for made, kept in _KEPT.items():
                    shutil.copy(output.file(made), folder / kept)
        (folder / "release").write_text(release)
        shutil.copy(log, folder / "log")
        about = {
            "source": self.source.title,
            **self._request_record(recipe),
            "tools": self._tools.versions,
            "seconds": f"{time.monotonic() - started:.0f}",
            "steps": str(steps),
            "sha256": file_digest(folder / "vmlinux"),
        }
        (folder / "about.json").write_text(json.dumps(about, indent=1))

    def _lay_out_source(self, place: Path, recipe: KernelRecipe) -> Path:
        """Return the folder to compile: the source's own, or its patched tree in `place`."""
        patched = self._patches(recipe)
        if not patched.in_tree:
            return patched.configured.folder
        tree = Tree(place, patched.configured.folder)
        if tree.make():  # earlier objects belong to another folder
            shutil.rmtree(place / "o")
            (place / "o").mkdir()
        tree.set(patched.overlay)
        return tree.folder

    @contextlib.contextmanager
    def _output(self, place: Path, recipe: KernelRecipe) -> Iterator[BuildOutput]:
        """Give the folder for the build's output.

        A foreign patch's code that runs there could change objects of other kernels, so such a
        build gets a temporary copy.
        """
        patched = self._patches(recipe)
        confined = self._maker.is_confined(foreign=patched.foreign)
        with self._cache.scratch() as scratch:
            (scratch / "root").mkdir()
            output = BuildOutput(place / "o", root=scratch / "root")
            if confined and patched.foreign and patched.in_tree and self._folder is None:
                output = replace(output, elsewhere=scratch / "o")
                shutil.copytree(output.at, output.real, symlinks=True)
            yield output

    async def _make(
        self, output: BuildOutput, folder: Path, lock: int, log: Path, recipe: KernelRecipe
    ) -> int:
        """Compile the configuration in `output` from the source in `folder`; return the steps.

        The programs inherit `lock`, so that no other build begins before the last of them has
        ended.
        """
        place, foreign = output.at.parent, self._patches(recipe).foreign
        ccache, more = self._maker.ccache(foreign=foreign)
        confined = self._maker.is_confined(foreign=foreign)
        argv = [
            *self._maker.words(folder, output, more, confined=confined),
            f"gen-randstruct-seed={place / 'seed'}",
            f"CC={self._tools.compiler}",
            f"-j{self._jobs}",
            "vmlinux",
        ]
        if confined:
            kept = {} if "CCACHE_READONLY" in more else {ccache: ccache}
            argv = self._maker.words_in_sandbox(argv, output, (folder, ccache), kept)
        title = self.title(recipe)
        usual = _USUAL_STEPS if recipe.base in config.bases() else None
        async with running(
            argv, said=BoundedOutput("the kernel build", log), keep=[lock]
        ) as process:
            ended = asyncio.ensure_future(process.wait())
            started = time.monotonic()
            while not (await asyncio.wait({ended}, timeout=_POLL_SECONDS))[0]:
                self._report(
                    BuildProgress(title, build_log.steps(log), usual, time.monotonic() - started)
                )
            if process.returncode:
                raise build_log.build_error(log, process.returncode)
        return build_log.steps(log)

    @contextlib.asynccontextmanager
    async def _workplace(self, recipe: KernelRecipe) -> AsyncIterator[tuple[Path, int]]:
        """Give the build folder of this source, exclusively, and its lock."""
        place = self._place(self._configured_source(recipe))
        waiting = functools.partial(self._wait, self.title(recipe))
        async with self._cache.hold_lock("builds", place.name, waiting) as lock:
            objects, entry = BuildOutput(place / "o"), f"builds/{place.name}"
            objects.open(entry)
            yield place, lock
            objects.seal(entry)

    def _place(self, of: KernelSource) -> Path:
        """Return the folder of a source's builds, with the script that fixes the seed."""
        name = digest({"source": of.digest, "recipe": _RECIPE})
        hashed = f'#define RANDSTRUCT_HASHED_SEED "{_SEED}"'
        script = PatchedFile(
            f'#!/bin/sh\necho {_SEED} >"$1"\necho \'{hashed}\' >"$2"\n'.encode(), runs=True
        )
        place = self._cache.make("builds", name, f"builds of {of.title}", lambda _: None)
        if PatchedFile.at(place / "seed") != script:
            script.write(place / "seed")
        return place

    def _log(self, name: str) -> Path:
        log = self._cache.root / "logs" / f"kernel-{name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.unlink(missing_ok=True)  # it may be a link, which is not written through
        return log

    def _resolved_config(self, recipe: KernelRecipe) -> str:
        """Return the whole configuration of a recipe, as completed by Kconfig; kept."""
        own = dict(recipe.options)
        base = config.base_text(recipe.base).rstrip("\n") + "\n"
        config.check_fit(config.read(base, recipe.base) | own)
        wanted = base + _ALWAYS + config.lines(sorted(own.items()))
        tiny = recipe.base in config.bases()
        parts = {
            "wanted": wanted,
            "start": "tinyconfig" if tiny else "nothing",
            "tools": self._tools.versions,
            "recipe": _RESOLVED,
        }
        origin = self._configured_source(recipe)
        kept = self._place(origin) / "resolved" / digest(parts)
        known = read_sealed(kept)
        if known is not None:
            return known
        self._tools.need_all()
        text = self._run_kconfig(
            origin, "olddefconfig", (self._tiny(origin) if tiny else "") + wanted
        )
        # Kconfig begins each file that it writes with this comment, after a bare #.
        if not text.lstrip("#\n").startswith(_RESOLVED_BY_KCONFIG[1:]):
            raise MachineError(
                "Kconfig left the configuration unchanged",
                hint="name the folder of a kernel's source",
            )
        kept.parent.mkdir(exist_ok=True)
        write_sealed(kept, text)
        return text

    def _tiny(self, origin: KernelSource) -> str:
        """Return the source's own smallest configuration, the basis of the bases; kept."""
        kept = self._place(origin) / f"tiny.{digest({'tools': self._tools.versions})}"
        known = read_sealed(kept)
        if known is not None:
            return known
        text = self._run_kconfig(origin, "tinyconfig", "")
        write_sealed(kept, text)
        return text

    def _run_kconfig(self, origin: KernelSource, target: str, text: str) -> str:
        """Return Kconfig's version of a configuration, in a folder that keeps its objects."""
        place, entry = self._place(origin), f"builds/{self._place(origin).name}"
        foreign = self._folder is not None or origin != self.source
        self._cache.check(origin.folder)
        with folders.open_lock(place / "kconfig.lock") as lock, self._cache.scratch() as root:
            fcntl.flock(lock, fcntl.LOCK_EX)
            output = BuildOutput(place / "kconfig", root=root)
            output.open(entry)
            output.put(".config", text)
            confined = self._maker.is_confined(foreign=foreign)
            argv = self._maker.words(origin.folder, output, {}, confined=confined)
            argv += [f"CC={self._tools.plain_compiler}", target]
            inside = (
                self._maker.words_in_sandbox(argv, output, (origin.folder,), {})
                if confined
                else argv
            )
            follow(
                inside,
                lambda _: None,
                remedy="unpack the whole source again",
                limit_seconds=_CONFIGURING_SECONDS,
                shown=argv,
            )
            output.check(origin.folder)
            completed = output.file(".config").read_text()
            output.seal(entry)
            return completed

    def text(self, recipe: KernelRecipe, name: str) -> str | None:
        """Return a file of a recipe's source, with its patches; None if there is none."""
        changed = self._patches(recipe).overlay.files
        path = self.source.folder / name
        is_inside = path.resolve().is_relative_to(self.source.folder.resolve())
        found = changed[name] if name in changed else PatchedFile.at(path) if is_inside else None
        return None if found is None else found.content.decode(errors="replace")

    def family(self, recipe: KernelRecipe) -> str:
        """Return the common name of kernels of one source and base, for a reader."""
        return f"{self.source.version} (built on {recipe.base})"

    def title(self, recipe: KernelRecipe) -> str:
        """Return the kernel's name for a reader."""
        options = dict(recipe.options)
        what = f"{len(options)} options" if len(options) != 1 else next(iter(options)) + " set"
        words = [f"Linux {self.source.version}, {recipe.base}", *[what] * bool(options)]
        words += [f"{patches.patch_names(recipe.patches)} applied"] * bool(recipe.patches)
        return " and ".join(words)
