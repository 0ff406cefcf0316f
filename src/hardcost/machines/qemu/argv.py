"""QEMU's command line and the kernel's: pure functions, every word with its reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pathlib import Path

    from hardcost.machines.machine import Boot, Guest

QEMU = "qemu-system-x86_64"
MEMORY: dict[Guest, str] = {"small": "512M", "compiler": "512M"}

Acceleration = Literal["icount", "tcg", "kvm"]

# `rep` instructions count one for each repetition; with these two off the kernel uses few of them.
# The random sources of the processor would make runs differ.
_EXACT_CPU = "rdrand=off,rdseed=off,erms=off,fsrm=off"

_KERNEL_WORDS = (
    "console=ttyS0",
    "panic=-1",  # a panic reboots at once, and -no-reboot makes that the end
    "quiet",
    "cryptomgr.notests",  # half of a Debian kernel's boot otherwise
    "tsc=reliable",
    "reboot=t",  # ends the machine at once; by ACPI, which not all have, it hung now and then
)
_SNAPSHOT_WORDS = (
    "iomem=relaxed",  # lets the probe silence the processor's timer while the guest stops
    "hardcost.snapshot",  # makes the probe stop for the snapshot
)
_FRESH_WORDS = (
    "nolapic",  # its timer is calibrated in a loop that is long under the instruction counter
    # Where the firmware configuration is, which ACPI would tell: a kernel that refuses the ports
    # to the probe hands it the job as a file. Size and place of the ports, offsets of its three.
    "qemu_fw_cfg.ioport=12@0x510:0:1:4",
)
_STOP_WORDS = ("-device", "pvpanic", "-action", "panic=pause")  # how it stops for the snapshot
_FIXED_LAYOUT = ("nokaslr", "norandmaps")


@dataclass(frozen=True)
class Hardware:
    """The virtual machine's making: what runs the instructions, and which processor it shows."""

    acceleration: Acceleration
    cpu_model: str = "max"


@dataclass(frozen=True)
class Streams:
    """The files and descriptors through which a guest and hardcost talk.

    `memory` None is memory that goes with the guest. Answers come in `answers`, or in `serial` from
    a guest whose kernel refuses the ports to the probe.
    """

    memory: Path | None
    console: Path
    answers: Path
    serial: Path
    job: Path
    qmp_descriptor: int

    @property
    def places(self) -> tuple[Path, Path]:
        """Where answers may come."""
        return self.answers, self.serial


def boots_afresh(boot: Boot) -> bool:
    """Say whether each trial boots, instead of going on from a snapshot.

    A kernel that hardcost builds boots in about a second, and one that is hardened may forbid what
    a snapshot takes: /dev/mem, to silence the timers, or even the ports, to stop.
    """
    return boot.kernel is not None


def kernel_line(boot: Boot) -> str:
    """Return the kernel's command line.

    With a random layout the seed stands in the line, because the kernel mixes its command line into
    its random pool before all else.
    """
    if boot.layout_seed is None:
        layout: tuple[str, ...] = _FIXED_LAYOUT
    else:
        layout = (f"hardcost.seed={boot.layout_seed}",)
    way = _FRESH_WORDS if boots_afresh(boot) else _SNAPSHOT_WORDS
    return " ".join((*_KERNEL_WORDS, *way, *layout, *boot.parameters))


def machine_words(hardware: Hardware, boot: Boot) -> list[str]:
    """Return the words that define the machine: part of a result's identity, no paths in them."""
    seed = str(1 if boot.layout_seed is None else boot.layout_seed)
    processor = {
        # A virtual nanosecond for each instruction; idle time is skipped, not waited for.
        "icount": ["-accel", "tcg", "-icount", "shift=0,sleep=off"],
        "tcg": ["-accel", "tcg"],
        "kvm": ["-accel", "kvm"],
    }[hardware.acceleration]
    model = "host" if hardware.acceleration == "kvm" else f"{hardware.cpu_model},{_EXACT_CPU}"
    return [
        *processor,
        *("-cpu", model),
        *("-machine", "pc,memory-backend=pcram"),
        *("-m", MEMORY[boot.guest]),
        *("-smp", "1"),
        *("-nodefaults", "-no-user-config", "-no-reboot"),
        *("-display", "none"),
        *("-rtc", "base=2026-01-01,clock=vm"),  # what makes whole boots repeat bit for bit
        *("-seed", seed),
        *([] if boots_afresh(boot) else _STOP_WORDS),
        *("-device", "isa-debug-exit,iobase=0xf4"),  # how it ends
        *("-device", "isa-debugcon,iobase=0xe9,chardev=answers"),  # how it answers
        *("-device", "isa-serial,index=1,chardev=serial"),  # or so, where ports are forbidden
    ]


def boot_words(
    hardware: Hardware, boot: Boot, kernel: Path, initramfs: Path, streams: Streams
) -> list[str]:
    """Return the whole command that boots; a memory file is left behind for a snapshot."""
    return [
        QEMU,
        *machine_words(hardware, boot),
        *_memory_words(boot, streams, share="on"),
        *_stream_words(streams),
        *_kernel_words(boot, kernel, initramfs),
    ]


def restore_words(
    hardware: Hardware, boot: Boot, kernel: Path, initramfs: Path, streams: Streams
) -> list[str]:
    """Return the whole command that waits for a snapshot; writes to its memory are its own."""
    return [
        QEMU,
        *machine_words(hardware, boot),
        *_memory_words(boot, streams, share="off"),
        *_stream_words(streams),
        *_kernel_words(boot, kernel, initramfs),
        *("-S", "-incoming", "defer"),
    ]


def _kernel_words(boot: Boot, kernel: Path, initramfs: Path) -> list[str]:
    return [
        *("-kernel", str(kernel), "-initrd", str(initramfs)),
        *("-append", kernel_line(boot)),
    ]


def _memory_words(boot: Boot, streams: Streams, share: str) -> list[str]:
    what = f"id=pcram,size={MEMORY[boot.guest]}"
    if streams.memory is None:
        return ["-object", f"memory-backend-ram,{what}"]
    file = f"share={share},mem-path={_escaped(streams.memory)}"
    return ["-object", f"memory-backend-file,{what},{file}"]


def _stream_words(streams: Streams) -> list[str]:
    return [
        *("-chardev", f"file,id=console,path={_escaped(streams.console)}"),
        *("-serial", "chardev:console"),
        *("-chardev", f"file,id=answers,path={_escaped(streams.answers)}"),
        *("-chardev", f"file,id=serial,path={_escaped(streams.serial)}"),
        *("-fw_cfg", f"name=opt/hardcost/job,file={_escaped(streams.job)}"),
        *("-chardev", f"socket,id=qmp,fd={streams.qmp_descriptor}"),
        *("-mon", "chardev=qmp,mode=control"),
    ]


def _escaped(path: Path) -> str:
    """Return a path as QEMU's option lists want it: a comma is written twice."""
    return str(path).replace(",", ",,")
