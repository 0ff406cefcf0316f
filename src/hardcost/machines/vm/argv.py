"""QEMU's command line and the kernel's: pure functions, every word with its reason."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hardcost.errors import InputError
from hardcost.machines.vm.confinement import GuestOutput
from hardcost.protocol.boot import Boot, Guest
from hardcost.supply.emulators.emulator import HOST, Emulator
from hardcost.supply.images.root_image import RootImage

MEMORY: dict[Guest, str] = {"small": "512M", "compiler": "512M", "debian": "2048M"}

# A disk is memory that keeps its content, behind the guest's own. The kernel learns of it by its
# command line, so that one without ACPI finds it too.
_DISKS_AT_GIB = 4  # where physical addresses of the first disk begin
_ROOM_GIB = 64  # most that guest memory and disks may take
_MIB, _GIB = 1 << 20, 1 << 30
_FILE = "memory-backend-file"
_DISK_KEYS = ("hardcost.root", "hardcost.tree")

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
    # Room in the kernel's cache of names: in the small one of a small machine, one name in twenty
    # shares its place with another by chance, and calls on it cost some instructions more.
    "dhash_entries=1048576",
)
_PAD = "hardcost.pad="
_PADDED_TO = 512
_SNAPSHOT_WORDS = (
    "iomem=relaxed",  # lets the probe silence the processor's timer while the guest stops
    "hardcost.snapshot",  # makes the probe stop for the snapshot
)
_FRESH_WORDS = (
    "nolapic",  # its timer is calibrated in a loop that is long under the instruction counter
    # Where the firmware configuration is, which ACPI would say: a kernel that refuses the ports
    # to the probe hands it the job as a file. Size and place of the ports, offsets of its three.
    "qemu_fw_cfg.ioport=12@0x510:0:1:4",
)
_COLD_WORDS = ("iomem=relaxed",)  # as where it stops, so that costs are of the same machine
# Lockdown refuses the probe what the stop takes. Without the processor's own timer the kernel's
# tick comes from one that can't be silenced, and whether a stop is clean is luck.
_NO_SNAPSHOT = re.compile(r"lockdown=(integrity|confidentiality)|nolapic|nolapic_timer|disableapic")
_SPIN_WORD = "hardcost.spin"  # has the probe keep the processor from being idle, once it works
_SYSTEMD_WORDS = ("hardcost.init=systemd", "systemd.hostname=hardcost")
_STOP_WORDS = ("-device", "pvpanic", "-action", "panic=pause")  # how it stops for the snapshot
# Beside the measured processors: one with the clock, one that is kept free.
_OTHER_PROCESSORS = 2
PROCESSORS_IN_TURN = 64
"""Processors among which QEMU divides the time until the next timer, when it restores several."""

_FIXED_LAYOUT = ("nokaslr", "norandmaps")


@dataclass(frozen=True)
class Hardware:
    """The virtual machine's making: what runs the instructions, and which processor it shows.

    `processors` are those that are measured. Where instructions are counted on several, there are
    more: one has the clock, one is kept free, and the others never start. They make turns short,
    since QEMU gives each its part (docs/processors.md). `cpu_features` are set of the model, after
    its name and before what the user sets, so that it is one processor under each QEMU.
    """

    acceleration: Acceleration
    cpu_model: str = "max"
    processors: int = 1
    cpu_features: str = ""

    @property
    def takes_turns(self) -> bool:
        """Say whether instructions are counted on several processors."""
        return self.acceleration == "icount" and self.processors > 1

    @property
    def started(self) -> int:
        """How many processors a guest starts, those that are not measured among them."""
        return self.processors + (_OTHER_PROCESSORS if self.takes_turns else 0)


LONGEST_LINE = 2047
"""Bytes of a command line: COMMAND_LINE_SIZE of Linux on x86, less the byte that ends it."""


@dataclass(frozen=True)
class Recipe:
    """All that a guest is made of; `disks` are root and source tree of a Debian guest.

    `symbols` is a file with the kernel's symbols if the guest is counted by function, `programs`
    says where the code of processes lies, `qemu` is QEMU's version. They have no part in what the
    guest is. `emulator` is the QEMU that runs it.
    """

    hardware: Hardware
    boot: Boot
    kernel: Path
    initramfs: Path
    disks: tuple[RootImage, ...] = ()
    symbols: Path | None = None
    programs: str = ""
    qemu: str = ""
    emulator: Emulator = HOST


@dataclass(frozen=True)
class Streams:
    """The files and descriptors through which a guest and hardcost talk.

    `memory` None is memory that goes with the guest. Answers come in `answers`, or in `serial` from
    a guest whose kernel refuses the ports to the probe. `memory` and `job` are the paths under
    which QEMU has these files. What hardcost has of the trial lies in `folder`, which QEMU can't
    enter. `sandbox` are the words that filter QEMU's system calls, `plugin` those of the plugin,
    if there is one.
    """

    folder: Path
    memory: Path | None
    console: GuestOutput
    answers: GuestOutput
    serial: GuestOutput
    job: Path
    qmp_descriptor: int
    sandbox: tuple[str, ...] = ()
    plugin: tuple[str, ...] = ()

    @property
    def places(self) -> tuple[Path, Path]:
        """Where answers may come."""
        return self.answers.path, self.serial.path


def boots_afresh(boot: Boot) -> bool:
    """Say whether each trial boots, instead of going on from a snapshot.

    A kernel that hardcost builds boots in about a second, and one that is hardened may forbid what
    a snapshot takes: /dev/mem, to silence the timers, or even the ports, to stop. So do some boot
    parameters.
    """
    return _boots_quickly(boot) or prevents_snapshots(boot)


def _boots_quickly(boot: Boot) -> bool:
    return boot.kernel is not None or boot.fresh or boot.init == "systemd"


def prevents_snapshots(boot: Boot) -> bool:
    """Say whether a boot's parameters keep snapshots from being clean.

    Lockdown also has the kernel refuse the ports to the probe. So the job comes in the initramfs:
    Debian's kernel has the firmware configuration's driver as a module. A kernel that is built has
    it built in.
    """
    return boot.kernel is None and any(map(_NO_SNAPSHOT.fullmatch, boot.parameters))


def kernel_line(hardware: Hardware, boot: Boot, disks: Sequence[RootImage] = ()) -> str:
    """Return the kernel's command line; `disks` are root and source tree of a Debian guest.

    With a random layout the seed is in the line, because the kernel mixes its command line into
    its random pool before all else.

    Raises:
        InputError: It is longer than the kernel takes.
    """
    if boot.layout_seed is None:
        layout: tuple[str, ...] = _FIXED_LAYOUT
    else:
        layout = (f"hardcost.seed={boot.layout_seed}",)
    way: tuple[str, ...]
    if _boots_quickly(boot):
        way = _FRESH_WORDS
    else:
        way = _COLD_WORDS if prevents_snapshots(boot) else _SNAPSHOT_WORDS
    disk_words = _disk_kernel_words(disks)
    spin = [_SPIN_WORD] if hardware.acceleration == "icount" else []  # so that no time is skipped
    init = _SYSTEMD_WORDS if boot.init == "systemd" else ()
    several = _several_words(hardware)
    words = (*_KERNEL_WORDS, *way, *layout, *disk_words, *spin, *several, *init, *boot.parameters)
    line = " ".join(words)
    if len(line.encode()) > LONGEST_LINE:
        own = len(" ".join(boot.parameters).encode())
        raise InputError(
            f"the kernel's command line would have {len(line.encode())} bytes, {own} of them boot"
            f" parameters; the kernel takes {LONGEST_LINE}",
            hint="leave boot parameters out",
        )
    return _pad_line(line)


def _several_words(hardware: Hardware) -> list[str]:
    """Return the words that say which processors are measured, where there are several."""
    if not hardware.takes_turns:
        return []
    return [f"nr_cpus={hardware.started}", f"hardcost.processors={hardware.processors}"]


def _pad_line(line: str) -> str:
    """Return a command line with a word in front that makes its length a multiple of 512.

    Nothing reads that word. The kernel keeps copies of its line in memory. The padding keeps what
    follows them at the same address, whatever a configuration adds. A line that the kernel would
    cut off stays as it is.
    """
    room = -(len(line) + len(_PAD) + 1) % _PADDED_TO
    padded = f"{_PAD}{'x' * room} {line}"
    return padded if len(padded) <= LONGEST_LINE else line


def _disk_kernel_words(disks: Sequence[RootImage]) -> list[str]:
    """Return the words that name disks to the kernel, and what is on them to the probe."""
    words = []
    for number, (key, disk, start) in enumerate(
        zip(_DISK_KEYS, disks, _starts(disks), strict=False)
    ):
        part = "" if disk.partition is None else f"p{disk.partition}"
        words += [
            f"memmap={disk.size // _MIB}M!{start // _MIB}M",
            f"{key}=/dev/pmem{number}{part},{disk.file_system}",
        ]
    return words


def _starts(disks: Sequence[RootImage]) -> list[int]:
    """Return the physical address at which each disk begins, in bytes."""
    starts, start = [], _DISKS_AT_GIB << 30
    for disk in disks:
        starts.append(start)
        start += -(-disk.size // _GIB) * _GIB
    return starts


def machine_words(
    hardware: Hardware, boot: Boot, disks: Sequence[RootImage] = (), *, booting: bool = False
) -> list[str]:
    """Return the words that define the machine: part of a result's identity, no paths in them.

    A machine of several processors boots with few, since many take minutes, and is restored with
    many: those that its snapshot does not name stay as they are after a reset.
    """
    seed = str(1 if boot.layout_seed is None else boot.layout_seed)
    processor = {
        # A virtual nanosecond for each instruction; idle time is skipped, not waited for.
        "icount": ["-accel", "tcg", "-icount", "shift=0,sleep=off"],
        "tcg": ["-accel", "tcg"],
        "kvm": ["-accel", "kvm"],
    }[hardware.acceleration]
    return [
        *processor,
        *("-cpu", _processor_model(hardware)),
        *("-machine", "pc,memory-backend=pcram" + (",nvdimm=on" if disks else "")),
        *("-m", MEMORY[boot.guest] + (f",slots={len(disks)},maxmem={_ROOM_GIB}G" if disks else "")),
        *("-smp", _processors(hardware, booting=booting)),
        *("-nodefaults", "-no-user-config", "-no-reboot"),
        *("-display", "none"),
        *("-rtc", "base=2026-01-01,clock=vm"),  # what makes whole boots repeat bit for bit
        *("-seed", seed),
        *([] if boots_afresh(boot) else _STOP_WORDS),
        *("-device", "isa-debug-exit,iobase=0xf4"),  # how it ends
        *("-device", "isa-debugcon,iobase=0xe9,chardev=answers"),  # how it answers
        *("-device", "isa-serial,index=1,chardev=serial"),  # or so, where ports are forbidden
        *(
            word
            for number, start in enumerate(_starts(disks))
            for word in ("-device", f"nvdimm,memdev=disk{number},addr={start:#x}")
        ),
    ]


def _processor_model(hardware: Hardware) -> str:
    if hardware.acceleration == "kvm":
        return "host"
    name, _, chosen = hardware.cpu_model.partition(",")
    return ",".join(filter(None, (name, hardware.cpu_features, chosen, _EXACT_CPU)))


def _processors(hardware: Hardware, *, booting: bool) -> str:
    if not hardware.takes_turns:
        return str(hardware.processors)
    there = hardware.started if booting else PROCESSORS_IN_TURN
    return f"{there},maxcpus={PROCESSORS_IN_TURN}"


def boot_words(recipe: Recipe, streams: Streams) -> list[str]:
    """Return the whole command that boots; a memory file is left behind for a snapshot."""
    keeps = not boots_afresh(recipe.boot)
    return [
        *recipe.emulator.words(),
        *machine_words(recipe.hardware, recipe.boot, recipe.disks, booting=True),
        *_memory_words(recipe.boot, streams, share="on"),
        *_disk_words(recipe.disks, keeps=keeps),
        *_stream_words(streams),
        *_kernel_words(recipe),
    ]


def restore_words(recipe: Recipe, streams: Streams) -> list[str]:
    """Return the whole command that waits for a snapshot; writes to its memory are its own."""
    return [
        *recipe.emulator.words(),
        *machine_words(recipe.hardware, recipe.boot, recipe.disks),
        *_memory_words(recipe.boot, streams, share="off"),
        *_disk_words(recipe.disks, keeps=False),
        *_stream_words(streams),
        *_kernel_words(recipe),
        *("-S", "-incoming", "defer"),
    ]


def _kernel_words(recipe: Recipe) -> list[str]:
    return [
        *("-kernel", str(recipe.kernel), "-initrd", str(recipe.initramfs)),
        *("-append", kernel_line(recipe.hardware, recipe.boot, recipe.disks)),
    ]


def _disk_words(disks: Sequence[RootImage], *, keeps: bool) -> list[str]:
    """Return where the disks' content comes from; what the guest writes is its own and is lost.

    A machine that is to be saved can't write at all (`keeps`): content that is shared with a file
    is left out of a snapshot, and so it is that of the file when the machine goes on.
    """
    way = "share=on,readonly=on" if keeps else "share=off"
    # QEMU wants it said to the guest too, by ACPI, which this guest does not ask about disks.
    said = ["-global", "nvdimm.unarmed=on"] if keeps and disks else []
    return said + [
        word
        for number, disk in enumerate(disks)
        for word in (
            "-object",
            f"{_FILE},id=disk{number},size={disk.size},{way},mem-path={_escape_commas(disk.path)}",
        )
    ]


def _memory_words(boot: Boot, streams: Streams, share: str) -> list[str]:
    what = f"id=pcram,size={MEMORY[boot.guest]}"
    if streams.memory is None:
        return ["-object", f"memory-backend-ram,{what}"]
    file = f"share={share},mem-path={_escape_commas(streams.memory)}"
    return ["-object", f"memory-backend-file,{what},{file}"]


def _stream_words(streams: Streams) -> list[str]:
    return [
        *streams.sandbox,
        *streams.plugin,
        *("-name", f"guest={_escape_commas(streams.folder)}"),  # for who looks at the processes
        *_output_words("console", 1, streams.console),
        *("-serial", "chardev:console"),
        *_output_words("answers", 2, streams.answers),
        *_output_words("serial", 3, streams.serial),
        *("-fw_cfg", f"name=opt/hardcost/job,file={_escape_commas(streams.job)}"),
        *("-chardev", f"socket,id=qmp,fd={streams.qmp_descriptor}"),
        *("-mon", "chardev=qmp,mode=control"),
    ]


def _output_words(name: str, number: int, output: GuestOutput) -> list[str]:
    """Return the words for an output of QEMU's: an inherited descriptor needs no permission."""
    return [
        *("-add-fd", f"fd={output.descriptor},set={number}"),
        *("-chardev", f"file,id={name},path=/dev/fdset/{number}"),
    ]


def _escape_commas(path: Path) -> str:
    """Return a path as QEMU's option lists want it: a comma is written twice."""
    return str(path).replace(",", ",,")
