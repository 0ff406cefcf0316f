"""Compile what the series `flat` touches as others would: sparse, 32-bit, arm64, allmodconfig.

    .venv/bin/python linux-audit/bench/compilers.py
    .venv/bin/python linux-audit/bench/compilers.py --source debian:6.1 --only arm64

For each way the audit subsystem's files are compiled twice, from the stock source and from the
patched one, with `W=1` and with sparse looking at each (`C=2`). Prints what compiler and sparse say
of each, and what they say of the patched files alone. A fault is planted in both, so that neither
tool is silent because it did not run. At last `checkpatch --strict` reads the patches. Exits with 1
if something does not compile, the series adds a warning, or checkpatch finds an error.

Linux 7.3 wants sparse 0.6.5 (`--sparse`), which Debian has in unstable alone; make does without an
older one, which the planted fault shows. It takes the packages sparse, gcc-i686-linux-gnu and
gcc-aarch64-linux-gnu, and what builds kernels.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hardcost.errors import MachineError
from hardcost.host.process import follow, output, run
from hardcost.supply.cache.cache import Cache
from hardcost.supply.kernels import patch_overlay, patches, source
from hardcost.supply.kernels.build_tree import lay_out, link
from hardcost.supply.kernels.builder import Kernels

SERIES = Path(__file__).resolve().parents[1] / "patches"
ALWAYS = ("kernel/audit.o", "kernel/auditfilter.o")
WITH_CALLS = ("auditsc", "audit_watch", "audit_fsnotify", "audit_tree")
"""Further files where the kernel audits system calls."""

_PLANTED_IN, _PLANTED = Path("kernel/audit.c"), "int hardcost_planted(void) { return 0; }\n"
_NOTICED = {"the compiler": "no previous prototype", "sparse": "was not declared"}
"""What each says of the planted fault."""

_SELECTED = re.compile(r"^\tselect HAVE_ARCH_AUDITSYSCALL\n", re.MULTILINE)
_SAID = re.compile(r"^\S*?((?:kernel|include|security)/\S+?):(?:\d+:)*(?:\d+:)? (.*)$")
_DECORATION = re.compile(r"\x1b\[[0-9;]*m")
_OF_CHECKPATCH = re.compile(r"(WARNING|ERROR|CHECK):")


@dataclass(frozen=True)
class Way:
    """A way to compile: for which architecture, by which compiler, from which configuration."""

    name: str
    arch: str
    configuration: str = "defconfig"
    compiler: str = ""
    audits_calls: bool = True

    @property
    def objects(self) -> tuple[str, ...]:
        """What is compiled."""
        more = WITH_CALLS if self.audits_calls else ()
        return (*ALWAYS, *(f"kernel/{one}.o" for one in more))


WAYS = (
    Way("allmodconfig", "x86_64", "allmodconfig"),
    Way("32-bit", "i386", compiler="i686-linux-gnu-"),
    Way("arm64", "arm64", compiler="aarch64-linux-gnu-"),
    Way("without AUDITSYSCALL", "x86_64", audits_calls=False),
)


def main() -> int:
    """Compile in all ways, and return the exit status."""
    parser = argparse.ArgumentParser(description="The series, compiled as others would.")
    parser.add_argument("--source", type=Path, default=Path("debian:7.3"))
    parser.add_argument("--sparse", default="sparse", help="the program (default: sparse)")
    parser.add_argument("--only", action="append", choices=[one.name for one in WAYS])
    chosen = parser.parse_args()
    cache = Cache()
    stock = Kernels(cache, chosen.source).source
    flat = source.patch_source(
        cache, stock, patch_overlay.overlay_of(patches.read(["flat"], stock.version), stock.folder)
    )
    bad = 0
    print(f"Linux {stock.version}; {run([chosen.sparse, '--version']).strip()}")
    with cache.scratch() as scratch:
        for way in WAYS:
            if chosen.only is None or way.name in chosen.only:
                bad += _report(
                    way, *(compiled(way, one, scratch, chosen.sparse) for one in (stock, flat))
                )
        series = patches.of_release(SERIES, stock.version)
        bad += _checkpatch(stock.folder, series, scratch)
    return int(bool(bad))


def compiled(way: Way, of: source.KernelSource, scratch: Path, sparse: str) -> Counter[str] | str:
    """Return what compiler and sparse say of the audit files, without lines; or why they fail."""
    tree, output = scratch / "tree", scratch / "output"
    lay_out(of.folder, tree, link)
    _change(tree / _PLANTED_IN, lambda text: text + _PLANTED)
    if not way.audits_calls:
        _change(tree / "arch/x86/Kconfig", lambda text: _SELECTED.sub("", text))
    words = ["make", "-C", str(tree), f"O={output}", f"ARCH={way.arch}", "-s", "-j2"]
    words += ["KCFLAGS=-Wno-error", f"CHECK={sparse}"]
    words += [f"CROSS_COMPILE={way.compiler}"] if way.compiler else []
    said: list[str] = []
    try:
        run([*words, way.configuration], limit_seconds=1800)
        run([str(tree / "scripts/config"), "--file", output / ".config", "-e", "AUDIT"])
        run([*words, "olddefconfig"], limit_seconds=1800)
        _check_configured((output / ".config").read_text(), way)
        follow([*words, "W=1", "C=2", *way.objects], _collector(said), limit_seconds=3600)
    except MachineError as error:
        return str(error)
    finally:
        shutil.rmtree(tree)
        shutil.rmtree(output, ignore_errors=True)
    for tool, words_of_it in _NOTICED.items():
        if not any("hardcost_planted" in line and words_of_it in line for line in said):
            return f"{tool} said nothing of a planted fault: {' '.join(said[-5:])}"
    found = (match for line in said if (match := _SAID.match(line)))
    return Counter(
        f"{match[1]}: {match[2]}"
        for match in found
        if "audit" in match[1] and "hardcost_planted" not in match[2] and "warning" in match[2]
    )


def _change(path: Path, change: Callable[[str], str]) -> None:
    """Change a file of a tree of links, not what it is linked to."""
    changed = change(path.read_text())
    path.unlink()
    path.write_text(changed)


def _check_configured(configuration: str, way: Way) -> None:
    lines = configuration.splitlines()
    wanted = ("CONFIG_AUDIT=y" in lines, "CONFIG_AUDITSYSCALL=y" in lines)
    if wanted != (True, way.audits_calls):
        raise MachineError(f"{way.name}: AUDIT and AUDITSYSCALL are {wanted}")


def _report(way: Way, stock: Counter[str] | str, flat: Counter[str] | str) -> int:
    """Print what was said in one way, and return how much of it speaks against the series."""
    if isinstance(flat, str) or isinstance(stock, str):
        print(f"{way.name}: FAILED\n{flat if isinstance(flat, str) else f'stock: {stock}'}")
        return 1
    new = flat - stock
    print(
        f"{way.name}: {len(way.objects)} files compiled for {way.arch}; warnings: stock"
        f" {stock.total()}, series {flat.total()}, new {new.total()}",
        flush=True,
    )
    for line, number in sorted(new.items()):
        print(f"    {number} x {line}")
    return new.total()


def _checkpatch(folder: Path, series: Path, scratch: Path) -> int:
    """Print what checkpatch says of the patches, and return the number of its errors."""
    errors = 0
    for one in sorted(series.glob("0*.patch")):
        if one.name.startswith("0000"):
            continue
        copy = scratch / one.name  # what git tracks, checkpatch takes for a file of the kernel
        copy.write_bytes(one.read_bytes())
        words: list[str | Path] = [folder / "scripts/checkpatch.pl", "--strict", "--no-tree", copy]
        # Its status says that it found something.
        said = output(words, folder=scratch, fine=range(256)).decode().splitlines()
        if not any("lines checked" in line for line in said):
            raise MachineError(f"checkpatch did not read {one}: {' '.join(said)}")
        errors += sum(line.startswith("ERROR:") for line in said)
        for line in said:
            if _OF_CHECKPATCH.match(line):
                print(f"checkpatch: {one.name[:4]}: {line}")
    print(f"checkpatch: {errors} errors")
    return errors


def _collector(said: list[str]) -> Callable[[str | None], None]:
    def collect(line: str | None) -> None:
        said.extend([] if line is None else [_DECORATION.sub("", line.rstrip())])

    return collect


if __name__ == "__main__":
    sys.exit(main())
