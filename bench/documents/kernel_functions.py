"""Write the table of the kernel's functions by the file of the source that they are in.

    .venv/bin/python -m bench.documents.kernel_functions

It takes object files of hardcost's own kernel, which `hardcost kernel build` leaves in the cache,
and the names of Debian's kernels' functions, which profiles leave there. A function of Debian's
that is in no object file is looked for in the source, as a definition at the begin of a line. What
the table has already stays: `src/hardcost/instruments/kernel_source.txt`.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from hardcost.host.process import run
from hardcost.supply.cache.cache import Cache
from hardcost.supply.kernels.source import debian_source

TABLE = Path("src/hardcost/instruments/kernel_source.txt")
SEARCHED = (
    *("arch/x86", "block", "crypto", "fs", "init", "io_uring", "ipc", "kernel", "lib", "mm"),
    *("security", "net/core", "net/ipv4", "net/ipv6", "net/netlink", "net/unix", "net/packet"),
    *("net/sched", "net/netfilter", "net/bpf", "net/ethtool", "drivers/acpi", "drivers/base"),
    *("drivers/block", "drivers/char", "drivers/clocksource", "drivers/cpufreq", "drivers/cpuidle"),
    *("drivers/dax", "drivers/iommu", "drivers/nvdimm", "drivers/pci", "drivers/rtc"),
    *("drivers/tty", "drivers/virtio"),
)
FOREIGN = frozenset(  # file systems that none of our guests has
    (
        *("9p", "adfs", "affs", "afs", "befs", "bfs", "btrfs", "cachefiles", "ceph", "cifs"),
        *("coda", "cramfs", "dlm", "efs", "erofs", "exfat", "f2fs", "fat", "freevxfs"),
        *("fscache", "gfs2", "hfs", "hfsplus", "hpfs", "isofs", "jffs2", "jfs", "ksmbd"),
        *("lockd", "minix", "netfs", "nfs", "nfsd", "nilfs2", "ntfs", "ntfs3", "ocfs2", "omfs"),
        *("orangefs", "qnx4", "qnx6", "reiserfs", "romfs", "squashfs", "sysv", "ubifs", "udf"),
        *("ufs", "vboxsf", "xfs", "zonefs"),
    )
)
CODE = frozenset("tTwW")
SEARCHED_HEADERS = ("include/linux", "include/net", "include/asm-generic")
IN_HEADER = re.compile(  # with its body: what ends in a semicolon is a declaration
    r"^(?:[A-Za-z_][\w\s\*]*?[\s\*])?(\w+)\([^;{}]*\)\s*\{", re.MULTILINE
)
DEFINED = re.compile(r"^(?:[A-Za-z_][\w\s\*]*?[\s\*])?(\w+)\((?!.*;\s*$)", re.MULTILINE)
CALL = re.compile(r"^(COMPAT_)?SYSCALL_DEFINE\d\((\w+)", re.MULTILINE)
ASSEMBLED = re.compile(r"^SYM_(?:FUNC|CODE|INNER_LABEL)\w*\((\w+)", re.MULTILINE)
ENTRIES = ("__x64_sys_", "__ia32_sys_", "__do_sys_", "__se_sys_")
COMPAT_ENTRIES = ("__ia32_compat_sys_", "__do_compat_sys_", "__se_compat_sys_")
GENERATED = {
    "__x86_indirect_": "arch/x86/lib/retpoline.S",
    "bpf_lsm_": "kernel/bpf/bpf_lsm.c",
}
WORDS = 3


def main() -> None:
    """Write the table."""
    cache = Cache()
    source = debian_source(cache).folder
    found: dict[str, set[str]] = defaultdict(set)
    for folder in (cache.root / "builds").glob("*/o"):
        for function, file in compiled(folder, source):
            found[function].add(file)
    for line in TABLE.read_text().splitlines():
        file, *functions = line.split(" ")
        for function in functions:
            found[function] = {file}
    wanted = known(cache.root / "symbols") - found.keys()
    for function, file in (*defined(source), *generated(wanted)):
        if function in wanted:
            found[function].add(file)
    by_file: dict[str, list[str]] = defaultdict(list)
    for function, files in found.items():
        by_file[place(files)].append(function)
    by_file.pop("", None)  # in several parts of the kernel
    lines = (f"{file} {' '.join(sorted(names))}\n" for file, names in sorted(by_file.items()))
    TABLE.write_text("".join(lines))
    print(f"{len(found):,} functions of {len(by_file):,} files")


def compiled(folder: Path, source: Path) -> Iterator[tuple[str, str]]:
    """Yield the functions in object files below a folder, each with its file of the source."""
    objects = [one for one in folder.rglob("*.o") if not one.name.startswith((".", "vmlinux"))]
    for line in run(["nm", "-A", *objects]).splitlines():
        path, _, rest = line.partition(":")
        words = rest.split()
        stem = os.path.relpath(path, folder).removesuffix(".o")
        file = next(
            (f"{stem}{end}" for end in (".c", ".S") if (source / f"{stem}{end}").is_file()), ""
        )
        if len(words) > 1 and words[-2] in CODE and file and not words[-1].startswith("."):
            yield words[-1].partition(".")[0], file


def known(folder: Path) -> set[str]:
    """Return the names of all functions of kernels whose functions were counted."""
    lines = (line for file in folder.glob("*/kernel") for line in file.read_text().splitlines())
    words = (line.split(" ") for line in lines if line.startswith("kernel "))
    return {each[2].partition(".")[0] for each in words if len(each) >= WORDS}


def defined(source: Path) -> Iterator[tuple[str, str]]:
    """Yield what seems to be defined in the parts of a source that are searched."""
    for folder in (*SEARCHED, *SEARCHED_HEADERS):
        for file in (source / folder).rglob("*.h"):
            text = file.read_text(errors="replace")
            name = str(file.relative_to(source))
            yield from ((match[1], name) for match in IN_HEADER.finditer(text))
    for folder in SEARCHED:
        for file in (source / folder).rglob("*.[cS]"):
            name = str(file.relative_to(source))
            if name.startswith("fs/") and name.split("/")[1] in FOREIGN:
                continue
            text = file.read_text(errors="replace")
            yield from ((match[1], name) for match in DEFINED.finditer(text))
            yield from ((match[1], name) for match in ASSEMBLED.finditer(text))
            for compat, call in CALL.findall(text):
                entries = COMPAT_ENTRIES if compat else ENTRIES
                yield from ((f"{entry}{call}", name) for entry in entries)


def generated(wanted: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the functions that macros define, whose names no source has."""
    for function in wanted:
        for begin, file in GENERATED.items():
            if function.startswith(begin):
                yield function, file


def place(files: set[str]) -> str:
    """Return the one file, or the folder that all have in common.

    What a header of all parts defines too is there for kernels that are configured otherwise.
    """
    files = {file for file in files if not file.startswith("include/")} or files
    if len(files) == 1:
        return next(iter(files))
    return os.path.commonpath([str(Path(file).parent) for file in files]).removeprefix(".")


if __name__ == "__main__":
    main()
