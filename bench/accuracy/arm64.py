"""Boot Debian's arm64 kernel twice under the instruction counter, and compare all that it says.

    .venv/bin/python -m bench.accuracy.arm64

Fetches Debian's current arm64 kernel straight from its archive, compiles a process 1 of a few
kilobytes for it (bench/accuracy/arm64_init.c), and boots both under qemu-system-aarch64, twice with
audit off and twice with it on. Each pair has to say the same, time stamps of the kernel's log
included. Prints what `getppid` and `open` with `close` cost in instructions; exits with 1 if a pair
differs.

It takes the packages qemu-system-arm and gcc-aarch64-linux-gnu.
"""

from __future__ import annotations

import hashlib
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from hardcost.errors import MachineError
from hardcost.host.process import follow, run
from hardcost.machines.vm.content import cpio
from hardcost.supply.cache.cache import Cache
from hardcost.supply.packages import unpack
from hardcost.supply.packages.mirror import DebianArchive

SOURCE = Path(__file__).with_name("arm64_init.c")
QEMU = "qemu-system-aarch64"
COMPILER = "aarch64-linux-gnu-gcc"
RELEASE = "bookworm"
CALLS = 10
"""Calls in a window of the guest's program."""

_KERNEL = re.compile(r"linux-image-\d[0-9.-]*-arm64")
_SAID = re.compile(r"^hardcost: (\S+) (\d+)$", re.MULTILINE)
_WORDS = "console=ttyAMA0 panic=-1 nokaslr norandmaps cryptomgr.notests loglevel=7 printk.time=1"
_NANO = 1_000_000_000


def main() -> int:
    """Boot, compare, print, and return the exit status."""
    cache = Cache()
    bad = 0
    with cache.scratch() as scratch:
        package, image = _kernel(cache, scratch)
        archive = _initramfs(scratch)
        print(f"{run([QEMU, '--version']).splitlines()[0]}; {package}; cortex-a57, one instruction"
              " a nanosecond")  # fmt: skip
        for audit in ("audit=0", "audit=1"):
            started = time.monotonic()
            first, again = (_console(image, archive, audit) for _ in range(2))
            seconds = (time.monotonic() - started) / 2
            alike = first == again
            bad += not alike
            digest = hashlib.sha256(first.encode()).hexdigest()[:16]
            costs = ", ".join(f"{name} {cost:,.1f}" for name, cost in _costs(first).items())
            lines = f"{len(first.splitlines())} lines of console {'alike' if alike else 'DIFFER'}"
            print(f"{audit}: {costs} insn/op; {lines} ({digest}), {seconds:.0f} s a boot")
    return int(bool(bad))


def _kernel(cache: Cache, scratch: Path) -> tuple[str, Path]:
    """Return the name and the image of Debian's kernel."""
    packages = DebianArchive(cache, RELEASE, "arm64")
    packages.first_offered(("linux-image-arm64",))
    name = next(filter(_KERNEL.fullmatch, packages.depends("linux-image-arm64")), None)
    if name is None:
        raise MachineError("linux-image-arm64 depends on no kernel")
    unpack.unpack(packages.download(name, scratch), scratch / "kernel")
    (image,) = (scratch / "kernel" / "boot").glob("vmlinuz-*")
    return name, image


def _initramfs(scratch: Path) -> Path:
    made = scratch / "init"
    words = [COMPILER, "-O2", "-static", "-nostdlib", "-ffreestanding", "-fno-builtin"]
    run([*words, "-o", made, SOURCE], remedy="apt-get install gcc-aarch64-linux-gnu")
    files = [
        cpio.regular("init", made.read_bytes(), 0o755),
        cpio.ArchiveFile("dev", 0o040755),
    ]
    (scratch / "initrd").write_bytes(cpio.archive(files))
    return scratch / "initrd"


def _console(image: Path, archive: Path, audit: str) -> str:
    """Boot, and return all that the guest says."""
    words = [
        *(QEMU, "-M", "virt", "-cpu", "cortex-a57", "-smp", "1", "-m", "512M", "-accel", "tcg"),
        *("-icount", "shift=0,sleep=off", "-rtc", "base=2026-01-01,clock=vm", "-seed", "1"),
        *("-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-serial", "stdio"),
        *("-kernel", str(image), "-initrd", str(archive), "-append", f"{_WORDS} {audit}"),
    ]
    lines: list[str] = []

    def heard(line: str | None) -> None:
        lines.extend([] if line is None else [line.rstrip()])

    follow(words, heard, remedy="apt-get install qemu-system-arm", limit_seconds=600)
    if "hardcost: end" not in lines:
        raise MachineError(f"the guest did not come to its end: {' '.join(lines[-3:])}")
    return "\n".join(lines)


def _costs(console: str) -> dict[str, float]:
    """Return instructions for each call: the clock's ticks, each of so many nanoseconds."""
    said: Sequence[tuple[str, str]] = _SAID.findall(console)
    found = {name: int(number) for name, number in said}
    each = _NANO / found.pop("hertz")
    return {name: ticks * each / CALLS for name, ticks in found.items()}


if __name__ == "__main__":
    sys.exit(main())
