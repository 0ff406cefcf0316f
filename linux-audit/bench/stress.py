"""Try to break the kernel's audit filter while the kernel's own checkers watch.

    .venv/bin/python linux-audit/bench/stress.py --rounds 20 --seed 1
    .venv/bin/python linux-audit/bench/stress.py --kernel stock
    .venv/bin/python linux-audit/bench/stress.py --source debian:7.3

Builds the kernel with all checkers (checks.config) from Linux 6.1 or `--source`, the guest (storm/)
and its policies for SELinux, and boots on two processors, once for each way in which memory may
fail when the very first rule is added. In each round rules are added and deleted, the
files that they watch are removed and the policy changes while calls are made, first with enough
memory and then with failing allocations. After each, the decisions about a fixed set of calls are
compared with those of the same rules loaded again.

Prints each report of the kernel's checkers and each fault that the guest finds, and then how often
everything was done. Exits with 1 if there is any that is not known of the stock kernel alone.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from hardcost.protocol.boot import KernelRecipe

# Conformance is no package that could be installed.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from conformance.program import built
from hardcost.errors import MachineError
from hardcost.host.process import follow, run
from hardcost.machines.vm.content import cpio
from hardcost.supply.cache.built_kernels import Built
from hardcost.supply.cache.cache import Cache
from hardcost.supply.emulators.emulator import QEMU
from hardcost.supply.kernels import config
from hardcost.supply.kernels.builder import Kernels
from hardcost.supply.kernels.patches import of_release
from hardcost.supply.packages import debian

TOP = Path(__file__).resolve().parents[1]
FRAGMENT = TOP / "checks.config"
CHECKS = TOP / "checks"
"""Patches without which a kernel with checkers does not boot; they touch nothing else.

Each release has its own. The folder `flat` in it has the patch that makes a flat kernel check its
index against the list after each change of a rule.
"""

POLICY = TOP / "storm" / "policy.conf"
SECOND_POLICY_LACKS = "storm_t"
_POLICY_VERSION = "33"  # the newest that Linux 6.1 reads

WAYS = ("plenty", "one", "all")
"""How memory fails when the very first rule is added."""

COUNTERS = {"rules": "audit_n_rules", "signals": "audit_signals", "missing": "audit_index_missing"}
"""The kernel's variables that the guest reads, by the boot words that pass their addresses."""

REPORT = re.compile(
    r"BUG:|WARNING:|KASAN|UBSAN|INFO: task .* blocked|INFO: rcu|rcu: INFO|ODEBUG:"
    r"|circular locking|suspicious RCU|inconsistent lock state|possible recursive locking"
    r"|invalid wait context|list_(add|del) corruption|general protection|Oops|Kernel panic"
    r"|Unable to handle|refcount_t:|kmemleak: (Cannot|Kernel memory leak)|soft lockup|hard LOCKUP"
    r"|sleeping function called|scheduling while atomic|bad: scheduling"
)
"""The beginning of a report of the kernel's, in a line of its console."""

KNOWN_OF_STOCK = {
    r"FAULT: audit_(n_rules|signals) is \d+ with no rule loaded": "the counters are not counted "
    "down where a rule goes with its directory or its file",
    r"use-after-free in audit_(find|compare)_rule": "a rule copied for a new policy points at the "
    "fields of the original",
    r"use-after-free in audit_mark_compare": "a rule's mark is freed while filters read it",
    r"(double-free|use-after-free)[^\0]* audit_free_rule_rcu": "a copy that fails frees what is "
    "the original's",
}
"""Faults of the unpatched kernel, by their report; with the patches each is an error."""

_CONSOLE_STAMP = re.compile(r"^\[ *\d+\.\d+\](\[ *\w+\])? ")
_COMPARED = "decisions compared"
_SET_LINES = ("storm: set", "storm: rule ", "storm: decision ")
_LONG = (*_SET_LINES, "storm: count ")  # very long output
_SHOWN_LINES = 40  # of a report
_SHOWN_REPORTS = 12
_KERNEL_WORDS = (
    "console=ttyS0 panic=-1 reboot=t nokaslr tsc=reliable loglevel=5 oops=panic kasan_multi_shot"
    " audit=1 audit_backlog_limit=131072 security=selinux selinux=1 enforcing=0"
)
_NO_LEAKS = "kmemleak=off"  # otherwise its own allocations would fail


@dataclass
class Storm:
    """The output of a guest: reports and faults with the lines after them, counts, and its end."""

    reports: list[list[str]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    lines: list[str] = field(default_factory=list)
    sets: list[str] = field(default_factory=list)
    ended: bool = False

    def read_line(self, line: str) -> None:
        """Process a line of the console."""
        text = _CONSOLE_STAMP.sub("", line.rstrip())
        own = text.startswith("storm: ")
        if not own or not text.startswith(_SET_LINES):
            self.lines.append(line.rstrip())
        if own and text.startswith("storm: count "):
            what, _, number = text.removeprefix("storm: count ").rpartition(": ")
            self.counts[what] += int(number)
        elif own and text.startswith(_SET_LINES):
            self.sets.append(text.removeprefix("storm: "))
        elif text == "storm: end":
            self.ended = True
        elif "FAULT:" in text if own else REPORT.search(text):
            self.reports.append([text])
        elif self.reports and not own and len(self.reports[-1]) < _SHOWN_LINES:
            self.reports[-1].append(text)

    def unknown(self, *, stock: bool) -> list[list[str]]:
        """Return the reports not known of the stock kernel; for another kernel all of them."""
        if not stock:
            return self.reports
        return [one for one in self.reports if known(one) is None]


def known(reports: list[str]) -> str | None:
    """Return why the stock kernel reports this, None if that is unknown."""
    text = "\n".join(reports)
    return next((why for form, why in KNOWN_OF_STOCK.items() if re.search(form, text)), None)


def main() -> int:
    """Run the requested storms, and return the exit status."""
    chosen = _arguments()
    cache = Cache()
    made = Kernels(cache, chosen.source)
    kernel = _built(chosen.built) or built_kernel(made, chosen.kernel, plain=chosen.plain)
    note(f"kernel {kernel.name}: {kernel.image}")
    stock = chosen.kernel == "stock"
    counts: Counter[str] = Counter()
    bad = 0
    with cache.scratch() as scratch:
        files = guest(cache, scratch)
        archive = scratch / "storm.cpio"
        archive.write_bytes(cpio.archive(files))
        for way in chosen.first or WAYS:
            storm = _booted(kernel, archive, chosen, way)
            if chosen.console:
                chosen.console.mkdir(parents=True, exist_ok=True)
                (chosen.console / f"{way}.log").write_text("\n".join(storm.lines))
            bad += _report(storm, f"first rule with {way}", stock=stock)
            counts.update(storm.counts)
            if chosen.replay and storm.sets:
                again = _replayed(made, files, storm.sets, chosen)
                bad += _report(again, "on the stock kernel", stock=False)
                counts["decisions compared with the stock kernel's"] += again.counts[_COMPARED]
    width = max(map(len, counts), default=0)
    for what, number in {"seed": chosen.seed, "rounds": chosen.rounds, **counts}.items():
        print(f"{what:{width}}  {number:>10}")
    print("nothing to report" if not bad else f"{bad} to look into")
    return int(bool(bad))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="The audit filter under stress.")
    parser.add_argument(
        "--kernel", default="flat", help="'stock', or patches: 'flat', a file, a folder"
    )
    parser.add_argument("--source", type=Path, help="a folder, or debian:7.3")
    parser.add_argument(
        "--built", type=Path, help="a folder with vmlinux and System.map, to use that kernel"
    )
    parser.add_argument("--plain", action="store_true", help="the base lean, without checkers")
    parser.add_argument("--rounds", type=int, default=1, help="in each boot")
    parser.add_argument("--seconds", type=int, default=30, help="of each half of a round")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=120, help="the limit of a boot")
    parser.add_argument("--first", action="append", choices=WAYS, help="only this way")
    parser.add_argument(
        "--replay", action="store_true", help="decide the same on the stock kernel, and compare"
    )
    parser.add_argument("--console", type=Path, help="a folder to keep the consoles in")
    return parser.parse_args()


def _built(folder: Path | None) -> Built | None:
    """Return the kernel in a folder."""
    if folder is None:
        return None
    return Built(folder.name, folder / "vmlinux", folder / "System.map", folder, "", {})


def built_kernel(made: Kernels, name: str, *, plain: bool) -> Built:
    """Return the stock kernel or one with patches, built unless it was before."""
    options = {} if plain else config.read(FRAGMENT.read_text(), str(FRAGMENT))
    checks = of_release(CHECKS, made.source.version)
    patches = [] if plain else [str(checks)]
    patches += [] if name == "stock" else [name]
    patches += [str(checks / "flat")] if name == "flat" and not plain else []
    recipe = KernelRecipe(options=tuple(options.items()), patches=tuple(patches))
    made.check(recipe)
    return asyncio.run(made.build(recipe))


def guest(cache: Cache, scratch: Path) -> list[cpio.ArchiveFile]:
    """Return the guest's files: the storm as process 1, and policies for SELinux."""
    files = [cpio.regular("init", built("hardcost-storm").read_bytes(), 0o755)]
    files += [cpio.ArchiveFile(folder, 0o040755) for folder in ("dev", "proc", "sys")]
    return files + [cpio.regular(one.stem, one.read_bytes()) for one in policies(cache, scratch)]


def policies(cache: Cache, scratch: Path) -> tuple[Path, ...]:
    """Return two policies for SELinux, compiled in `scratch`; the second lacks a type."""
    texts = {"policy.a": POLICY.read_text().splitlines(keepends=True)}
    texts["policy.b"] = [line for line in texts["policy.a"] if SECOND_POLICY_LACKS not in line]
    checkpolicy = debian.package_folder(cache, "checkpolicy") / "usr/bin/checkpolicy"
    for name, lines in texts.items():
        (scratch / name).write_text("".join(lines))
        run([checkpolicy, "-U", "allow", "-c", _POLICY_VERSION, "-o", f"{name}.bin", name],
            folder=scratch)  # fmt: skip
    return tuple(scratch / f"{name}.bin" for name in texts)


def words(kernel: Built, archive: Path, chosen: argparse.Namespace, way: str) -> list[str]:
    """Return QEMU's command line: two processors that run in parallel."""
    found = _symbols(kernel.symbols)
    own = {
        "rounds": chosen.rounds,
        "seconds": chosen.seconds,
        "seed": chosen.seed,
        "first": way,
        "full": int(chosen.replay),
        **{word: found[name] for word, name in COUNTERS.items() if name in found},
    }
    asked = " ".join(f"storm.{name}={value}" for name, value in own.items())
    # A kernel without ACPI uses the BIOS's table, which lists one processor for each socket.
    return [
        *(QEMU, "-accel", "tcg,thread=multi", "-smp", "2,sockets=2", "-cpu", "max", "-m", "2048M"),
        *("-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-serial", "stdio"),
        *("-kernel", str(kernel.image), "-initrd", str(archive)),
        *("-append", f"{_KERNEL_WORDS} {'' if way == 'plenty' else _NO_LEAKS} {asked}"),
    ]


def _symbols(path: Path) -> dict[str, str]:
    """Return the addresses of the kernel's symbols, in hexadecimal digits."""
    lines = (line.split() for line in path.read_text().splitlines())
    return {name: address for address, _, name in lines}


def _booted(kernel: Built, archive: Path, chosen: argparse.Namespace, way: str) -> Storm:
    """Boot, and listen until the guest has ended."""
    storm, until = Storm(), time.monotonic() + 60 * chosen.minutes
    note(f"first rule with {way}: {chosen.rounds} rounds, seed {chosen.seed}")

    def on_line(line: str | None) -> None:
        if line is not None:
            storm.read_line(line)
            if "storm: " in line and not any(word in line for word in _LONG):
                note(line.strip())
        if time.monotonic() > until:
            raise MachineError(f"the guest was still running after {chosen.minutes} minutes")

    try:
        follow(
            words(kernel, archive, chosen, way), on_line, remedy="apt-get install qemu-system-x86"
        )
    except MachineError as error:
        storm.reports.append([f"the guest failed: {error}"])
    if not storm.ended:
        storm.reports.append(["the guest did not come to its end", *storm.lines[-_SHOWN_LINES:]])
    return storm


def _replayed(
    made: Kernels, files: list[cpio.ArchiveFile], sets: list[str], chosen: argparse.Namespace
) -> Storm:
    """Have the stock kernel, without checkers, decide about the same calls under the same rules."""
    kernel = built_kernel(made, "stock", plain=True)
    replay = cpio.regular("replay", "".join(f"{line}\n" for line in sets).encode())
    with Cache().scratch() as scratch:
        archive = scratch / "replay.cpio"
        archive.write_bytes(cpio.archive([*files, replay]))
        return _booted(kernel, archive, chosen, "plenty")


def _report(storm: Storm, where: str, *, stock: bool) -> int:
    """Print the reports to look into, and return their number."""
    unknown = storm.unknown(stock=stock)
    of_stock = Counter((one[0], known(one)) for one in storm.reports if one not in unknown)
    for (line, why), times in of_stock.items():
        print(f"known of the stock kernel, {times} times: {line} ({why})")
    for one in unknown[:_SHOWN_REPORTS]:
        print(f"--- {where}\n" + "\n".join(one), flush=True)
    if len(unknown) > _SHOWN_REPORTS:
        print(f"--- and {len(unknown) - _SHOWN_REPORTS} more; --console keeps all")
    return len(unknown)


def note(message: str) -> None:
    """Report progress."""
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
