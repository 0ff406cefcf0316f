"""Compile what the series `flat` touches as others would: sparse, 32-bit, arm64, allmodconfig.

    .venv/bin/python bench/flat_compiles.py
    .venv/bin/python bench/flat_compiles.py --source debian:6.1 --only arm64

For each way the audit subsystem's files are compiled twice, from the stock source and from the
patched one, with `W=1` and with sparse looking at each (`C=2`). Prints what compiler and sparse say
of each, and what they say of the patched files alone. At last `checkpatch --strict` reads the
patches. Exits with 1 if something does not compile or the series adds a warning.

It takes the packages sparse, gcc-i686-linux-gnu and gcc-aarch64-linux-gnu, and what builds kernels.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import shutil
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hardcost.errors import MachineError
from hardcost.machines.cache import Cache
from hardcost.machines.kernels import overlay, patches, source
from hardcost.machines.kernels.builder import Kernels
from hardcost.machines.kernels.tree import lay_out, link
from hardcost.machines.process import follow, run

if TYPE_CHECKING:
    from collections.abc import Callable

ALWAYS = ("kernel/audit.o", "kernel/auditfilter.o")
WITH_CALLS = ("auditsc", "audit_watch", "audit_fsnotify", "audit_tree")
"""Further files where the kernel audits system calls."""

_SELECTED = re.compile(r"^\tselect HAVE_ARCH_AUDITSYSCALL\n", re.MULTILINE)
_SAID = re.compile(r"^\S*?((?:kernel|include|security)/\S+?):(?:\d+:)*(?:\d+:)? (.*)$")
_DECORATION = re.compile(r"\x1b\[[0-9;]*m")
_OF_CHECKPATCH = re.compile(r"^(WARNING|ERROR|CHECK):")


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
    parser.add_argument("--only", action="append", choices=[one.name for one in WAYS])
    chosen = parser.parse_args()
    cache = Cache()
    stock = Kernels(cache, chosen.source).source
    flat = source.patched(
        cache, stock, overlay.of(patches.read(["flat"], stock.version), stock.folder)
    )
    bad = 0
    print(f"Linux {stock.version}; {run(['sparse', '--version']).strip()}")
    with cache.scratch() as scratch:
        for way in WAYS:
            if chosen.only is None or way.name in chosen.only:
                bad += _told(way, *(compiled(way, one, scratch) for one in (stock, flat)))
    bad += _checkpatch(stock.folder, patches.of_release(Path("kernel"), stock.version))
    return int(bool(bad))


def compiled(way: Way, of: source.Source, scratch: Path) -> Counter[str] | str:
    """Return what compiler and sparse say of the audit files, without lines; or why they fail."""
    tree, output = scratch / "tree", scratch / "output"
    lay_out(of.folder, tree, link)
    if not way.audits_calls:
        changed = _SELECTED.sub("", (tree / "arch/x86/Kconfig").read_text())
        (tree / "arch/x86/Kconfig").unlink()
        (tree / "arch/x86/Kconfig").write_text(changed)
    words = ["make", "-C", str(tree), f"O={output}", f"ARCH={way.arch}", "-s", "-j2"]
    words += [f"CROSS_COMPILE={way.compiler}"] if way.compiler else []
    said: list[str] = []
    try:
        run([*words, way.configuration], limit_seconds=1800)
        run([str(tree / "scripts/config"), "--file", output / ".config", "-e", "AUDIT"])
        run([*words, "olddefconfig"], limit_seconds=1800)
        _check_configured((output / ".config").read_text(), way)
        follow([*words, "W=1", "C=2", *way.objects], _hearer(said), limit_seconds=3600)
    except MachineError as error:
        return str(error)
    finally:
        shutil.rmtree(tree)
        shutil.rmtree(output, ignore_errors=True)
    found = (match for line in said if (match := _SAID.match(line)))
    return Counter(f"{match[1]}: {match[2]}" for match in found if "audit" in match[1])


def _check_configured(configuration: str, way: Way) -> None:
    lines = configuration.splitlines()
    wanted = ("CONFIG_AUDIT=y" in lines, "CONFIG_AUDITSYSCALL=y" in lines)
    if wanted != (True, way.audits_calls):
        raise MachineError(f"{way.name}: AUDIT and AUDITSYSCALL are {wanted}")


def _told(way: Way, stock: Counter[str] | str, flat: Counter[str] | str) -> int:
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


def _checkpatch(folder: Path, series: Path) -> int:
    """Print what checkpatch says of each patch, and return the number of its errors."""
    errors = 0
    for one in sorted(series.glob("0*.patch")):
        if one.name.startswith("0000"):
            continue
        said: list[str] = []
        words = [folder / "scripts/checkpatch.pl", "--strict", "--no-tree", "--terse", one]
        with contextlib.suppress(MachineError):  # its status says that it found something
            follow([str(word) for word in words], _hearer(said))
        errors += sum("ERROR:" in line for line in said)
        for line in said:
            if _OF_CHECKPATCH.match(line.split(": ", 1)[-1]) or "total:" in line:
                print(f"checkpatch: {line.rpartition('/')[2]}")
    return errors


def _hearer(said: list[str]) -> Callable[[str | None], None]:
    def heard(line: str | None) -> None:
        said.extend([] if line is None else [_DECORATION.sub("", line.rstrip())])

    return heard


if __name__ == "__main__":
    sys.exit(main())
