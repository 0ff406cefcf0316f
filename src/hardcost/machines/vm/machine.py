"""The machine `vm`: QEMU with guests small and whole, a snapshot for each kernel and boot line."""

from __future__ import annotations

import asyncio
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from weakref import WeakKeyDictionary

from hardcost.errors import MachineError, TrialError
from hardcost.machines.machine import Capabilities, Earlier, Execution
from hardcost.machines.vm import (
    argv,
    ask_kernel,
    boot_kernel,
    cold_boot,
    cpu_models,
    kernel_files,
    several_processors,
    snapshot,
)
from hardcost.machines.vm.boot_parameters import KernelParameters
from hardcost.machines.vm.content import initramfs
from hardcost.machines.vm.content.disks import DebianRoots, Roots
from hardcost.machines.vm.plugin import code_maps, counting, kernel_lines
from hardcost.machines.vm.repeat import SpotChecks, may_idle, repeat_until_equal, with_and_without
from hardcost.machines.vm.time_limit import twice_at_most
from hardcost.protocol.boot import Boot, BootAccount, Guest, KernelRecipe, Relations
from hardcost.protocol.plugin.lines import add_first_line
from hardcost.protocol.requests import Request
from hardcost.supply.cache import built_kernels, setup_times
from hardcost.supply.cache.cache import Cache, digest, file_digest
from hardcost.supply.emulators.emulator import HOST, Emulator, stated_version
from hardcost.supply.images.resize import grow_image
from hardcost.supply.images.root_image import RootImage
from hardcost.supply.kernels.builder import Kernels
from hardcost.supply.kernels.option_relations import relations
from hardcost.supply.packages import guest_release
from hardcost.supply.packages.debian import knows_current_kernel
from hardcost.supply.transfer import Builder, Order, supply_of

_SNAPSHOTS_BYTES = 10 << 30  # of all that are kept; those that no run uses any more go first
_DISK = "stop other programs that write to the cache, and check its disk (`dmesg`)"
_ACCOUNT = "account.json"
_SYMBOLS, _SYMBOLS_SECONDS = "kernel", 600.0  # a file, and what it may take to make it
_GUESTS: tuple[Guest, ...] = ("small", "compiler", "debian")


@dataclass(frozen=True)
class GuestParts:
    """The parts of a guest beside its files, as an order describes them.

    `kernel` and `initramfs` are what an identity says of these two; the disks' own paths mean
    nothing on another host.
    """

    hardware: argv.Hardware
    title: str
    kernel: str
    initramfs: str
    disks: tuple[RootImage, ...]


class VirtualMachine:
    """Guests under QEMU; `hardware` says whether instructions are counted or time is read."""

    name = "vm"

    def __init__(  # noqa: PLR0913  (what a guest is made of, and what to say of it)
        self,
        cache: Cache,
        hardware: argv.Hardware,
        image: Path | None = None,
        kernels: Kernels | None = None,
        roots: Roots | None = None,
        *,
        remarks: tuple[str, ...] = (),
        emulator: Emulator = HOST,
        release: str | None = None,
    ) -> None:
        """Boot the kernel in `image`, else the root's own, else Debian's; or what `kernels` builds.

        `roots` says what Debian guests have for a root: by default Debian, made here.
        `remarks` are what a reader has to know of all numbers. `emulator` is the QEMU that runs
        the guests. `release` is the release of Debian that they are made of, by default the host's.
        """
        self.remarks = remarks
        self.cache = cache
        self.hardware = hardware
        self.emulator = emulator
        self.release = release
        self.kernels = kernels or Kernels(cache)
        self.roots = roots or DebianRoots(release=release)
        self._image = image
        self._shipped = boot_kernel.Shipped(cache, image, self.roots.kernel, release)
        self._making: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Lock]] = (
            WeakKeyDictionary()
        )
        self._initramfses: dict[tuple[str, str | None], Path] = {}
        self._initramfs_digests: dict[Path, str] = {}
        self._built = kernel_lines.BuiltHere(cache, self.kernels, self._kernel)
        self._checks = SpotChecks()

    @cached_property
    def _pinned(self) -> argv.Hardware:
        """The hardware, whose processor model is the same one under each QEMU."""
        return cpu_models.pin_model(self.hardware, self.emulator)

    @property
    def kernel(self) -> boot_kernel.BootKernel:
        """The kernel that the guests boot if nothing else is asked for."""
        return self._shipped.kernel(None)

    @cached_property
    def qemu_version(self) -> str:
        """QEMU's version as it states it, with the distribution's own part."""
        return stated_version(self.emulator)

    @property
    def capabilities(self) -> Capabilities:
        """It boots anything, and reads what its hardware shows: instructions, or the clock."""
        several = self.hardware.takes_turns
        exact = self.hardware.acceleration == "icount"
        instrument = "parallel" if several else "insn" if exact else "time"
        return Capabilities(
            instruments=frozenset({instrument}),
            by_function=exact,
            processors=self.hardware.processors,
            in_turn=argv.PROCESSORS_IN_TURN if several else 1,
        )

    def fetch(self, boots: Sequence[Boot], note: Callable[[str], None]) -> None:
        """Fetch packages and Linux's source, and make the root of guests with services."""
        if self.hardware.takes_turns:
            several_processors.check(boots)
        if not (self.cache.root / "kernels").is_dir():
            note("fetching a kernel and the audit package; this happens once …")
        elif (
            self.release is not None
            and self._image is None
            and not knows_current_kernel(self.cache, self.release)
        ):
            of = guest_release.title(self.release)
            note(f"fetching the kernel and the audit package of {of}; this happens once …")
        for name in dict.fromkeys(boot.shipped for boot in boots if boot.shipped is not None):
            if not kernel_files.is_here(self.cache, name):
                note(f"fetching the kernel {name}; this happens once …")
            self._shipped.kernel(name)
        if any(boot.kernel is not None or boot.lines for boot in boots):
            self.kernels.announce(note)
        if any(boot.lines and self.builds(boot) for boot in boots):
            note("--lines: the kernel is built once more, with debug data; this happens once …")
        if any(boot.guest == "debian" for boot in boots):
            self.roots.root(self.cache)  # takes minutes, once, with a progress of its own

    def environment(self, boot: Boot) -> dict[str, str]:
        """Return versions and models, for a reader."""
        image = {"image": ", ".join(f"{disk.title} {disk.digest}" for disk in self.disks(boot))}
        return {
            "qemu": self.qemu_version,
            "kernel": self._kernel_title(boot),
            "cpu_model": self.hardware.cpu_model,
            "host": f"{platform.system()} {platform.release()} {platform.machine()}",
            "acceleration": self.hardware.acceleration,
            **({"processors": str(self.hardware.processors)} if self.hardware.takes_turns else {}),
            **(image if boot.guest == "debian" else self._named_release()),
        }

    def _named_release(self) -> dict[str, str]:
        """Return what a guest without a root is made of, where that is not the host's release."""
        if self.release is None:
            return {}
        versions = initramfs.audit_versions(self.cache, self.release)
        return {"guest": f"{guest_release.title(self.release)}, auditd {versions['auditd']}"}

    def packages(self, boot: Boot) -> dict[str, str]:
        """Return the versions of a Debian guest's packages, as far as they are known."""
        return {
            name: version for disk in self.disks(boot) for name, version in disk.packages.items()
        }

    def identity(self, boot: Boot) -> dict[str, str]:
        """Return all that defines a trial's machine; the host has no part in an exact count."""
        exact = self.hardware.acceleration == "icount"
        disks = self.disks(boot)
        images = {"images": " ".join(disk.digest for disk in disks)} if disks else {}
        plugin = {"plugin": file_digest(counting.plugin())} if boot.by_function else {}
        plugin |= {"traced": "yes"} if boot.traced else {}
        plugin |= {"lines": boot.lines} if boot.lines else {}
        brought = {"emulator": self.emulator.identity} if self.emulator.identity else {}
        return {
            "machine": self.name,
            "qemu": self.qemu_version,
            "hardware": " ".join(argv.machine_words(self._pinned, boot, disks)),
            "kernel": self.kernel_name(boot),
            "kernel_line": argv.kernel_line(self.hardware, boot, disks),
            "initramfs": self._initramfs_digest(boot),
            "host": "" if exact else platform.node(),
            **images,
            **plugin,
            **brought,
        }

    def kernel_identity(self) -> dict[str, str]:
        """Return the facts that decide what its own kernel executes, without the probe's code."""
        whole = self.identity(Boot())
        names = ("qemu", "emulator", "hardware", "kernel", "kernel_line")
        return {key: whole[key] for key in names if key in whole}

    def disks(self, boot: Boot) -> tuple[RootImage, ...]:
        """Return a Debian guest's root, and Linux's source where it is wanted; made on first use.

        Raises:
            MachineError: They can't be made.
        """
        if boot.guest != "debian":
            return ()
        root = grow_image(self.cache, self.roots.root(self.cache), boot.disk)
        return (root, self.roots.tree(self.cache, boot.tree)) if boot.tree else (root,)

    def notes(self, boot: Boot) -> tuple[str, ...]:
        """Return which of a kernel's parts run on this machine, and which options don't come out.

        Options that don't come out are refused, unless the recipe is tolerant.
        """
        kernel_lines.check(boot, self._built.recipe_for(boot))
        if boot.kernel is None:
            return ()
        remarks = self.kernels.remarks(boot.kernel)
        if not boot.kernel.tolerant:
            self.kernels.check(boot.kernel)
            return remarks
        return remarks + tuple(
            f"{unmet.option}={unmet.wanted} is not what Kconfig sets: {unmet.why}"
            for unmet in self.kernels.unmet(boot.kernel)
        )

    def configuration(self, boot: Boot) -> Mapping[str, str] | None:
        """Return the options of the kernel that is built for a boot."""
        return None if boot.kernel is None else self.kernels.configuration(boot.kernel)

    def relations(self, recipe: KernelRecipe) -> Relations:
        """Return the effects of a recipe's options on its base, by asking Kconfig."""
        return relations(self.kernels, recipe)

    def earlier(self) -> Earlier:
        """Return how long boots and builds took, by what the cache has noted of them."""
        known = setup_times.past_seconds(self.cache)
        return Earlier(
            boots={guest: known.get(self._boot_work(guest), []) for guest in _GUESTS},
            builds=[
                (float(one.about["seconds"]), int(one.about["steps"]))
                for one in built_kernels.kept_kernels(self.cache, (built_kernels.ABOUT,))
            ],
            begun=any((self.cache.root / "builds").glob("*/whole")),
        )

    async def account(self, boot: Boot) -> BootAccount | None:
        """Return the kernel's verdicts on a boot's parameters, asked once and kept."""
        if boot.kernel is not None and self.kernels.find(boot.kernel) is None:
            return None
        asked = ask_kernel.talking_guest(boot)
        machine = self._with(ask_kernel.without_counter(self.hardware))
        parts = {**machine.identity(asked), "init": boot.init, "recipe": ask_kernel.RECIPE}
        place = self.cache.root / "boots" / digest(parts)
        title = f"what a kernel says of: {' '.join(snapshot.shown_parameters(boot.parameters))}"
        if await asyncio.to_thread(self.cache.find, "boots", place.name) is None:
            async with self.cache.building_beside("boots", place.name, title) as folder:
                if folder is not None:
                    recipe = machine.recipe(asked)
                    modules = None if boot.kernel is not None else self._kernel(boot).modules
                    known = KernelParameters(recipe.kernel, modules)
                    account = await ask_kernel.ask(recipe, self.cache, known, boot)
                    (folder / _ACCOUNT).write_text(ask_kernel.account_to_json(account))
        return ask_kernel.account_from_json((place / _ACCOUNT).read_text())

    def _with(self, hardware: argv.Hardware) -> VirtualMachine:
        """Return the same machine with other hardware."""
        return VirtualMachine(
            self.cache,
            hardware,
            self._image,
            self.kernels,
            self.roots,
            remarks=self.remarks,
            emulator=self.emulator,
            release=self.release,
        )

    def builds(self, boot: Boot) -> tuple[str, ...]:
        """Return the names of the kernels that are not built yet: its own, and that with lines."""
        lacking = (
            one for one in self._built.kernels_to_build(boot) if self.kernels.find(one) is None
        )
        return tuple(map(self.kernels.name, lacking))

    def is_ready(self, boot: Boot) -> bool:
        """Say whether what `boot` needs is in the cache: its kernel if built, or its snapshot."""
        if self.builds(boot):
            return False
        if boot.kernel is not None:
            return True
        return argv.boots_afresh(boot) or self.cache.is_there("snapshots", self._name(boot))

    async def make_ready(self, boot: Boot) -> None:
        """Build the kernel, or boot and take the snapshot, unless it is in the cache."""
        for recipe in self._built.kernels_to_build(boot):
            await self.kernels.build(recipe)
        if boot.kernel is None and not argv.boots_afresh(boot):
            await self._snapshot(boot)

    async def built_by(self, boot: Boot, builder: Builder) -> None:
        """Have another host build the kernel of a boot, unless it is in the cache."""
        if boot.kernel is not None:
            await self.kernels.built_by(boot.kernel, builder)

    def order(self, boot: Boot) -> Order:
        """Return the order by which another host boots so: a guest's files, and their facts.

        Raises:
            MachineError: The kernel that it needs is not built.
        """
        recipe, root = self.recipe(boot), self.cache.root
        disks = tuple(supply_of(disk.path, disk.title, root) for disk in recipe.disks)
        about = GuestParts(
            recipe.hardware,
            snapshot.title(self._kernel_title(boot), self.hardware, boot),
            self.kernel_name(boot),
            self._initramfs_digest(boot),
            recipe.disks,
        )
        return Order(
            self.name,
            boot,
            tuple(self.identity(boot).items()),
            about,
            (
                supply_of(recipe.kernel, "a kernel", root),
                supply_of(recipe.initramfs, f"what a {boot.guest} guest starts from", root),
                *disks,
            ),
        )

    async def execute(self, boot: Boot, job: Sequence[Request], limit_seconds: float) -> Execution:
        """Carry out `job` in a guest of its own; where idle time may spoil exact counts, twice.

        A few of the other trials are executed twice to check that counts repeat. Where it takes
        too long and the host or QEMU was stopped meanwhile, it is tried once more.

        The guest goes on from the snapshot. One whose kernel was built boots for it, which takes a
        second: what hardens a kernel may forbid what the snapshot needs (/dev/mem, I/O ports).

        One that is counted by function is carried out without the plugin, too.
        """
        if argv.boots_afresh(boot):
            await self.make_ready(boot)
        recipe = self.recipe(boot)

        # Of several processors none is ever idle.
        idles = may_idle(job) and not self.hardware.takes_turns

        async def each() -> Execution:
            return await twice_at_most(lambda: self._once(recipe, job, limit_seconds))

        if boot.by_function:
            symbols = await self._symbols(recipe)
            watched = replace(recipe, symbols=symbols, qemu=self.qemu_version)
            of = self._built.recipe_for(boot)
            lines = await kernel_lines.lines_of(recipe, of, symbols, self.kernels)

            async def once(asked: Sequence[Request], programs: str | None) -> Execution:
                one = (
                    recipe
                    if programs is None
                    else replace(watched, programs=lines.pieces + programs)
                )
                return await twice_at_most(lambda: self._once(one, asked, limit_seconds))

            if boot.guest == "debian":
                seen = await code_maps.count_by_maps(once, job)
            else:
                seen = await with_and_without(each, lambda: once(job, ""), idles=idles)
            return replace(seen, stacks=add_first_line(seen.stacks, lines), source=lines.source)
        if self.hardware.acceleration != "icount" or boot.guest == "debian":
            return await each()
        return await (repeat_until_equal(each) if idles else self._checks.execute(each))

    async def _once(
        self, recipe: argv.Recipe, job: Sequence[Request], limit_seconds: float
    ) -> Execution:
        """Carry out `job` in one guest."""
        if argv.boots_afresh(recipe.boot):
            return await self._execute_cold(recipe, job, limit_seconds)
        folder = await self._snapshot(recipe.boot)
        self.cache.note_use("snapshots", folder.name)
        return await snapshot.restore(recipe, folder, self.cache, job, limit_seconds)

    async def _symbols(self, recipe: argv.Recipe) -> Path:
        """Return a file with the symbols of a guest's kernel: it is asked once."""
        name = digest({"guest": self._name(recipe.boot), "recipe": counting.RECIPE})
        async with self._lock(f"symbols {name}"):
            place = await asyncio.to_thread(self.cache.find, "symbols", name)
            if place is None:
                title = f"symbols of {self._kernel_title(recipe.boot)}"
                async with self.cache.building_beside("symbols", name, title) as folder:
                    if folder is not None:
                        asked = await self._once(
                            recipe, counting.symbol_requests(), _SYMBOLS_SECONDS
                        )
                        text = counting.kernel_symbols(asked.answers)
                        (folder / _SYMBOLS).write_text(text)
                place = self.cache.root / "symbols" / name
        return place / _SYMBOLS

    async def _execute_cold(
        self, recipe: argv.Recipe, job: Sequence[Request], limit_seconds: float
    ) -> Execution:
        """Carry out `job` in a guest that boots for it."""
        try:
            return await cold_boot.execute(recipe, self.cache, job, limit_seconds)
        except TrialError:
            raise
        except MachineError as error:
            raise snapshot.error_with_parameters(error, recipe.boot) from error

    def recipe(self, boot: Boot) -> argv.Recipe:
        """Return all that a guest is made of.

        Raises:
            MachineError: The kernel that it needs is not built.
        """
        if boot.kernel is None:
            image = self._kernel(boot).image
        else:
            found = self.kernels.find(boot.kernel)
            if found is None:
                raise MachineError("the kernel has gone from the cache since it was built")
            image = found.image
        return argv.Recipe(
            self._pinned,
            boot,
            image,
            self._initramfs(boot),
            disks=self.disks(boot),
            emulator=self.emulator,
        )

    def _initramfs(self, boot: Boot) -> Path:
        """Return a guest's initramfs; a guest with a disk needs modules of Debian's kernel.

        It stays the same when the probe is rebuilt meanwhile: a run's trials bear its name.
        """
        kernel = self._kernel(boot) if boot.guest == "debian" and boot.kernel is None else None
        kind = (boot.guest, kernel.digest if kernel is not None else None)
        if kind not in self._initramfses or not self._initramfses[kind].exists():
            self._initramfses[kind] = initramfs.initramfs(
                self.cache, boot.guest, kernel, self.release
            )
        return self._initramfses[kind]

    def kernel_name(self, boot: Boot) -> str:
        """Return the kernel's name: the hash of its image, or of all that it will be built of."""
        if boot.kernel is None:
            return self._kernel(boot).digest
        return self.kernels.name(boot.kernel)

    def _kernel_title(self, boot: Boot) -> str:
        if boot.kernel is None:
            return self._kernel(boot).release
        return self.kernels.family(boot.kernel)

    def _kernel(self, boot: Boot) -> boot_kernel.BootKernel:
        """Return the kernel of a boot for which none is built."""
        return self._shipped.kernel(boot.shipped)

    def _initramfs_digest(self, boot: Boot) -> str:
        path = self._initramfs(boot)
        if path not in self._initramfs_digests:
            self._initramfs_digests[path] = file_digest(path)
        return self._initramfs_digests[path]

    def _name(self, boot: Boot) -> str:
        """Return the name of a snapshot in the cache."""
        return digest(self.identity(replace(boot, by_function=False, traced=False, lines="")))

    async def _snapshot(self, boot: Boot) -> Path:
        """Return the folder of a snapshot that is what it was when it was taken."""
        name = self._name(boot)
        async with self._lock(name):
            # Twice at most: another run may have made it meanwhile, or damaged it.
            for _ in range(2):
                place = await asyncio.to_thread(self.cache.find, "snapshots", name)
                if place is not None:
                    return place
                await self._take(boot, name)
            place = self.cache.find("snapshots", name)
        if place is None:
            raise MachineError("the snapshot was damaged as soon as it was made", hint=_DISK)
        return place

    def _lock(self, name: str) -> asyncio.Lock:
        """Return a snapshot's lock in this event loop; a run that measures more has another."""
        locks = self._making.setdefault(asyncio.get_running_loop(), {})
        return locks.setdefault(name, asyncio.Lock())

    async def _take(self, boot: Boot, name: str) -> None:
        self.cache.make_room("snapshots", _SNAPSHOTS_BYTES)
        title = snapshot.title(self._kernel_title(boot), self.hardware, boot)
        async with self.cache.building_beside("snapshots", name, title) as folder:
            if folder is not None:
                started = time.monotonic()
                try:
                    recipe = self.recipe(boot)
                    await twice_at_most(lambda: snapshot.take(recipe, folder, self.cache))
                except MachineError as error:
                    raise snapshot.error_with_parameters(error, boot) from error
                took = time.monotonic() - started
                setup_times.remember(self.cache, self._boot_work(boot.guest), took)

    def _boot_work(self, guest: Guest) -> str:
        """Return what the time of a boot is remembered by: several processors take much longer."""
        several = f" on {self.hardware.processors}" if self.hardware.takes_turns else ""
        return f"boot {guest}{several}"
