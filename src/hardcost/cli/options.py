"""Options that several verbs share, and the values that they become."""

from __future__ import annotations

import functools
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from hardcost.cli.console import build_progress, image_progress, note
from hardcost.cli.waiting import until_done
from hardcost.design.plan import Setup
from hardcost.errors import InputError
from hardcost.instruments.names import INSTRUMENTS, RIDING
from hardcost.machines import debian
from hardcost.machines.cache import Cache, default_root
from hardcost.machines.images.own import image_file, rootfs_dir
from hardcost.machines.kernels.build import Kernels
from hardcost.machines.qemu.argv import Hardware
from hardcost.machines.qemu.roots import DebianRoots, OwnRoots
from hardcost.machines.qemu.vm import VirtualMachine, kvm_works
from hardcost.store.store import default_path
from hardcost.study.read import workload
from hardcost.trial.trial import USUAL_LIMITS

if TYPE_CHECKING:
    from collections.abc import Callable

    from hardcost.design.plan import Workload
    from hardcost.machines.qemu.roots import Roots


@dataclass(frozen=True)
class Choices:
    """What the user chose of how to measure and where results go."""

    machine: str
    instrument: str | None
    workloads: tuple[Workload, ...] | None
    seeds: tuple[int, ...] | None
    repetitions: int | None
    kernel: Path | None
    source: Path | None
    image: Path | None
    rootfs: Path | None
    cpu: str
    jobs: int
    fresh: bool
    resume: bool
    timeout: float | None
    fresh_boot: bool | None
    init: Literal["probe", "systemd"] | None
    record: tuple[str, ...] | None
    store: Path
    report: Path | None
    format: str
    dry_run: bool

    @property
    def setup(self) -> Setup:
        """Return how guests come to their work where no study says."""
        return Setup(self.fresh_boot or False, self.init or "probe", self.record or ())


def measuring(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a verb that measures."""
    cores = len(os.sched_getaffinity(0))
    for option in reversed(
        (
            click.option(
                "--machine", type=click.Choice(["vm"]), default="vm", help="Where trials run."
            ),
            click.option(
                "--instrument",
                type=click.Choice(list(INSTRUMENTS)),
                help="insn counts instructions exactly; time reads the clock.",
            ),
            click.option(
                "--workload",
                metavar="'NAME [KEY=VALUE …],…'",
                help="What to run, such as syscalls or 'syscalls calls=null+open'.",
            ),
            click.option(
                "--seeds",
                type=click.IntRange(1, 1000),
                help="Measure N random layouts of programs' memory (default: one that is fixed).",
            ),
            click.option(
                "--repetitions",
                type=click.IntRange(1, 1000),
                help="Trials of each configuration (default: 1 for insn, 5 for time).",
            ),
            click.option(
                "--kernel",
                type=click.Path(path_type=Path),
                help="A bzImage, a vmlinux, or 'host' (default: Debian's kernel).",
            ),
            click.option(
                "--source",
                type=click.Path(path_type=Path),
                help="The Linux source that kernels with options are built from (default: Debian's"
                " package linux-source-6.1).",
            ),
            click.option(
                "--image",
                type=click.Path(path_type=Path),
                help="A root of your own for guests with services: a disk, raw or qcow2, with Linux"
                " on ext4. Its newest kernel is booted, unless --kernel names one.",
            ),
            click.option(
                "--rootfs",
                type=click.Path(path_type=Path),
                help="The same out of a folder that holds a whole system.",
            ),
            click.option("--cpu", default="max", show_default=True, help="QEMU's processor model."),
            click.option(
                "--scheduler",
                type=click.Choice(["processes", "serial"]),
                default="processes",
                show_default=True,
                help="Guests side by side, or one after another.",
            ),
            click.option(
                "--jobs",
                type=click.IntRange(1, 256),
                default=cores,
                show_default="one for each core",
                help="Guests at a time.",
            ),
            click.option(
                "--timeout",
                type=click.FloatRange(1, 86400),
                help="Seconds that a trial may take before it has failed (default: the study's,"
                f" else {USUAL_LIMITS['small']:.0f}, in a Debian guest"
                f" {USUAL_LIMITS['debian']:.0f}).",
            ),
            click.option(
                "--boot",
                type=click.Choice(["snapshot", "fresh"]),
                help="Trials go on from a snapshot, or each boots afresh (default: the study's).",
            ),
            click.option(
                "--init",
                type=click.Choice(["probe", "systemd"]),
                help="What starts a Debian guest's services: the probe, just those that a trial"
                " needs, or systemd, all (default: the study's).",
            ),
            click.option(
                "--record",
                metavar="NAME,…",
                help=f"Instruments that ride along: {', '.join(RIDING)}.",
            ),
            click.option("--fresh", is_flag=True, help="Measure again what was measured before."),
            click.option(
                "--resume", is_flag=True, help="Go on with the run that was interrupted or failed."
            ),
            click.option("--dry-run", is_flag=True, help="Print the plan and the expected time."),
            click.option(
                "--report",
                type=click.Path(path_type=Path, dir_okay=False),
                help="Where the HTML report goes (default: beside the store).",
            ),
            _store_option(),
            format_option(),
        )
    ):
        command = option(command)
    return command


def _store_option() -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option(
        "--store",
        type=click.Path(path_type=Path, dir_okay=False),
        default=default_path,
        show_default=False,
        help="The SQLite file that keeps runs and trials (default: $HARDCOST_STORE, else"
        " ~/.local/share/hardcost/hardcost.sqlite).",
    )


def format_option() -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option `--format`."""
    return click.option(
        "--format",
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
        help="How the result is printed.",
    )


store_option = _store_option


def choices(words: dict[str, Any]) -> Choices:
    """Return the values of the options that `measuring` added.

    Raises:
        InputError: A workload is misspelt, or two options contradict each other.
    """
    if words["fresh"] and words["resume"]:
        raise InputError(
            "--fresh starts a run anew and --resume goes on with one: take one of them"
        )
    if words["image"] and words["rootfs"]:
        raise InputError("--image and --rootfs each name the guest's root: take one of them")
    if words["timeout"] is not None and math.isnan(words["timeout"]):
        raise InputError("--timeout: nan is no number of seconds")  # no range refuses it
    seeds = words["seeds"]
    return Choices(
        machine=words["machine"],
        instrument=words["instrument"],
        workloads=None if words["workload"] is None else workloads(words["workload"]),
        seeds=None if seeds is None else tuple(range(1, seeds + 1)),
        repetitions=words["repetitions"],
        kernel=words["kernel"],
        source=words["source"],
        image=words["image"],
        rootfs=words["rootfs"],
        cpu=words["cpu"],
        jobs=1 if words["scheduler"] == "serial" else words["jobs"],
        fresh=words["fresh"],
        resume=words["resume"],
        timeout=words["timeout"],
        fresh_boot=None if words["boot"] is None else words["boot"] == "fresh",
        init=words["init"],
        record=None if words["record"] is None else _riding(words["record"]),
        store=words["store"],
        report=words["report"],
        format=words["format"],
        dry_run=words["dry_run"],
    )


def _riding(text: str) -> tuple[str, ...]:
    """Return the instruments in text such as `cpu,avc`; none if it is empty.

    Raises:
        InputError: There is none of a name.
    """
    names = tuple(dict.fromkeys(filter(None, text.split(","))))
    for name in names:
        if name not in RIDING:
            raise InputError(
                f"--record: there is no instrument '{name}' that rides along",
                hint=f"there are {', '.join(RIDING)}",
            )
    return names


def workloads(text: str) -> tuple[Workload, ...]:
    """Return the workloads in text such as `build,syscalls calls=null+open`.

    Raises:
        InputError: There is no such workload or parameter, or a word is not KEY=VALUE.
    """
    return tuple(dict.fromkeys(map(workload, text.split(","))))


def machine(chosen: Choices, instrument: str) -> tuple[VirtualMachine, tuple[str, ...]]:
    """Return the machine for an instrument, and notes on what its numbers are."""
    cache = Cache()
    own = roots(chosen.image, chosen.rootfs)

    def of(hardware: Hardware) -> VirtualMachine:
        return VirtualMachine(cache, hardware, chosen.kernel, kernels(cache, chosen.source), own)

    if INSTRUMENTS[instrument].exact:
        return of(Hardware("icount", chosen.cpu)), ()
    note("trying a guest under KVM …")
    why_not = until_done(kvm_works(cache, chosen.kernel))
    if why_not is None:
        return of(Hardware("kvm", "host")), ()
    emulated = (
        f"these times are an emulator's, not a processor's: KVM is not usable here ({why_not})"
    )
    return of(Hardware("tcg", chosen.cpu)), (emulated,)


def roots(image: Path | None, rootfs: Path | None) -> Roots:
    """Return what guests with services have for a root: one of the user's, else our Debian."""
    if image is not None:
        return OwnRoots(lambda cache: image_file(image, cache))
    if rootfs is not None:
        return OwnRoots(lambda cache: rootfs_dir(rootfs, cache))
    return DebianRoots(image_progress())


def kernels(cache: Cache, source: Path | None, jobs: int | None = None) -> Kernels:
    """Return what builds kernels, which tells of its progress on stderr."""
    return Kernels(cache, source, jobs=jobs, told=build_progress())


def package_root(package: str) -> Path:
    """Return the folder in which a Debian package lies unpacked."""
    return debian.unpacked(_packages(default_root()), package)


@functools.cache
def _packages(root: Path) -> Cache:
    """Return a cache that looks at each package once a run, however many profiles read it."""
    return Cache(root)
