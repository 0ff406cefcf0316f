"""Run the reproducers of the faults that the series `flat` fixes, each in a guest of its own.

    .venv/bin/python linux-audit/bench/reproducers.py
    .venv/bin/python linux-audit/bench/reproducers.py --source debian:7.3 --kernel flat
    .venv/bin/python linux-audit/bench/reproducers.py --plain --only 04 --only 07

Builds the programs in reproducers/, and the kernel with all checkers (checks.config) or, with
`--plain`, without them. Prints what each program says: the fault with the kernel's first
line about it, or that none was seen. Exits with 1 if any fault was seen.
"""

from __future__ import annotations

import argparse
import re
import time
from pathlib import Path

from hardcost.errors import MachineError
from hardcost.host.process import follow, run
from hardcost.machines.vm.content import cpio
from hardcost.supply.cache.cache import Cache
from hardcost.supply.emulators.emulator import QEMU
from hardcost.supply.kernels.builder import Kernels
from stress import built_kernel, note, policies

PROGRAMS = Path(__file__).resolve().parents[1] / "reproducers"
VERDICT = re.compile(r"(?:^|\] )(no fault seen|FAULT|not tried): (.*)")
REPORT = re.compile(r"(?:BUG:|KASAN:|Oops|general protection|Kernel panic).*")
_KERNEL_WORDS = (
    "console=ttyS0 panic=-1 reboot=t nokaslr tsc=reliable loglevel=3 oops=panic kasan_multi_shot"
    " audit=1 audit_backlog_limit=131072 security=selinux selinux=1 enforcing=0 hung_task_panic=0"
)
_FOLDERS = ("dev", "proc", "sys")


def main() -> int:
    """Run the requested reproducers, and return the exit status."""
    chosen = _arguments()
    cache = Cache()
    kernel = built_kernel(Kernels(cache, chosen.source), chosen.kernel, plain=chosen.plain)
    note(f"kernel {kernel.name}: {kernel.image}")
    faults = 0
    with cache.scratch() as scratch:
        policy, _ = policies(cache, scratch)
        for source in sorted(PROGRAMS.glob("*.c")):
            if chosen.only and not source.name.startswith(tuple(chosen.only)):
                continue
            archive = scratch / f"{source.stem}.cpio"
            archive.write_bytes(cpio.archive(_files(source, policy, scratch)))
            started = time.monotonic()
            verdict, said = _verdict(kernel.image, archive, chosen.minutes)
            faults += verdict == "FAULT"
            seconds = time.monotonic() - started
            print(f"{source.stem:22} {verdict:13} {seconds:4.0f} s  {said}", flush=True)
    return int(bool(faults))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="The faults that the series flat mends.")
    parser.add_argument("--kernel", default="stock", help="'stock', or patches: 'flat', a file")
    parser.add_argument("--source", type=Path, help="a folder, or debian:7.3")
    parser.add_argument("--plain", action="store_true", help="the base lean, without checkers")
    parser.add_argument("--only", action="append", help="the programs whose names begin so")
    parser.add_argument("--minutes", type=float, default=5, help="the limit of each")
    return parser.parse_args()


def _files(source: Path, policy: Path, scratch: Path) -> list[cpio.ArchiveFile]:
    """Return a guest's files: the program as process 1, and SELinux's policy."""
    made = scratch / source.stem
    run(["cc", "-static", "-O2", "-o", made, source], remedy="apt-get install gcc libc6-dev")
    return [
        cpio.regular("init", made.read_bytes(), 0o755),
        cpio.regular("policy", policy.read_bytes()),
        *(cpio.ArchiveFile(folder, 0o040755) for folder in _FOLDERS),
    ]


def _verdict(image: Path, archive: Path, minutes: float) -> tuple[str, str]:
    """Boot on two processors, and return what the program says, or how its guest ended."""
    words = [
        *(QEMU, "-accel", "tcg,thread=multi", "-smp", "2,sockets=2", "-cpu", "max", "-m", "2048M"),
        *("-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-serial", "stdio"),
        *("-kernel", str(image), "-initrd", str(archive), "-append", _KERNEL_WORDS),
    ]
    lines: list[str] = []
    until = time.monotonic() + 60 * minutes

    def on_line(line: str | None) -> None:
        lines.extend([] if line is None else [line.rstrip()])
        if time.monotonic() > until:
            raise MachineError(f"the guest was still running after {minutes} minutes")

    ended = "the guest ended without a word"
    try:
        follow(words, on_line, remedy="apt-get install qemu-system-x86")
    except MachineError as error:
        ended = str(error)
    for line in lines:
        if found := VERDICT.search(line):
            return found[1], found[2]
    # A kernel that panics takes the program along.
    for line in lines:
        if found := REPORT.search(line):
            return "FAULT", found[0]
    return "not tried", f"{ended}: {' '.join(lines[-2:])}"


if __name__ == "__main__":
    raise SystemExit(main())
