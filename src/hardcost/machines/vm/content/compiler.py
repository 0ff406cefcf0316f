"""The compiler guest: what compiling C needs, and sources to compile.

All of it is Debian's own: gcc with the programs that it starts, tcc, make, a shell, the C library's
headers; and out of the kernel's source some programs and a library that run on any machine.
"""

from __future__ import annotations

import tarfile
from pathlib import Path

from hardcost.errors import MachineError
from hardcost.machines.vm.content import cpio
from hardcost.machines.vm.content.packages import Packages
from hardcost.supply.cache.cache import Cache, digest
from hardcost.supply.kernels.source import PACKAGE, debian_package
from hardcost.supply.packages import debian

SOURCE_FOLDER = "usr/src/build"
"""Where the sources lie in the guest, in the folders in which they lie in the kernel's source."""

_PACKAGES = (
    *("gcc-12", "cpp-12", "libgcc-12-dev", "libgcc-s1", "tcc", "make", "dash"),
    *("binutils", "binutils-x86-64-linux-gnu", "libbinutils", "libctf0", "libctf-nobfd0"),
    "libsframe1 | libbinutils",  # Debian 12 has that library in libbinutils
    *("libjansson4", "libzstd1", "zlib1g", "libgmp10", "libisl23", "libmpc3", "libmpfr6"),
    *("libc6", "libc6-dev", "linux-libc-dev"),
)
_GCC = "usr/lib/gcc/x86_64-linux-gnu/12"
_TCC = "usr/lib/x86_64-linux-gnu/tcc"
_LIBC = "usr/lib/x86_64-linux-gnu"
_INCLUDE = "usr/include"

# No other languages, no optimiser at link time, no static libraries.
_PATTERNS = (
    *("bin/dash", "bin/sh", "usr/bin/make"),
    *("usr/bin/gcc-12", "usr/bin/x86_64-linux-gnu-gcc-12"),
    *(f"{_GCC}/{name}" for name in ("cc1", "collect2", "lto-wrapper", "liblto_plugin.so")),
    *(f"{_GCC}/{name}" for name in ("crtbegin*.o", "crtend*.o", "libgcc.a", "libgcc_s.so")),
    *(f"{_GCC}/include/{name}.h" for name in ("std*", "float", "limits", "syslimits", "varargs")),
    *(f"usr/bin/{name}" for name in ("as", "ld", "ar", "ld.bfd")),
    *(f"usr/bin/x86_64-linux-gnu-{name}" for name in ("as", "ld", "ar", "ld.bfd")),
    *("usr/bin/tcc", f"{_TCC}/libtcc1.a", f"{_TCC}/include/*.h"),
    *("lib/x86_64-linux-gnu/libgcc_s.so.1", "lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"),
    f"{_LIBC}/*crt[1in].o",
    *(f"{_LIBC}/libc.so", f"{_LIBC}/libc_nonshared.a"),
    *(f"{_INCLUDE}/*.h", f"{_INCLUDE}/x86_64-linux-gnu/**/*.h"),
    f"{_INCLUDE}/asm-generic/*.h",
    # Of the kernel's headers, those that the C library's include.
    *(
        f"{_INCLUDE}/linux/{name}.h"
        for name in ("errno", "limits", "posix_types", "stddef", "types")
    ),
)

SOURCES = (
    "scripts/dtc/libfdt/fdt.c",
    "scripts/dtc/libfdt/fdt_addresses.c",
    "scripts/dtc/libfdt/fdt_empty_tree.c",
    "scripts/dtc/libfdt/fdt_overlay.c",
    "scripts/dtc/libfdt/fdt_ro.c",
    "scripts/dtc/libfdt/fdt_rw.c",
    "scripts/dtc/libfdt/fdt_strerror.c",
    "scripts/dtc/libfdt/fdt_sw.c",
    "scripts/dtc/libfdt/fdt_wip.c",
    "scripts/dtc/libfdt/fdt.h",
    "scripts/dtc/libfdt/libfdt.h",
    "scripts/dtc/libfdt/libfdt_env.h",
    "scripts/dtc/libfdt/libfdt_internal.h",
    "scripts/unifdef.c",
    "scripts/asn1_compiler.c",
    "scripts/basic/fixdep.c",
    "usr/gen_init_cpio.c",
    "include/linux/asn1.h",
    "include/linux/asn1_ber_bytecode.h",
    "crypto/asymmetric_keys/x509.asn1",
)


def parts(cache: Cache, release: str | None) -> dict[str, str]:
    """Return all that defines what `files` returns."""
    versions = {name: debian.version(cache, name, release=release) for name in _PACKAGES}
    source = {PACKAGE: debian_package(cache).version}
    return {**versions, **source, "patterns": " ".join(_PATTERNS), "sources": " ".join(SOURCES)}


def files(cache: Cache, release: str | None) -> list[cpio.ArchiveFile]:
    """Return the files of the compiler guest besides the small guest's.

    The sources to compile are the same ones whatever the release.
    """
    sources = _sources(cache)
    return [
        *Packages(cache, _PACKAGES, release).programs(_PATTERNS),
        cpio.link("usr/bin/gcc", "gcc-12"),
        *(
            cpio.regular(f"{SOURCE_FOLDER}/{path}", (sources / path).read_bytes())
            for path in SOURCES
        ),
    ]


def _sources(cache: Cache) -> Path:
    """Return the folder of the sources, taken out of the kernel's source on first use."""
    package = debian_package(cache)
    files = " ".join(SOURCES)
    name = digest({"package": PACKAGE, "version": package.version, "files": files})

    def fill(folder: Path) -> None:
        _extract(package.archive, folder)

    return cache.make("sources", name, "sources that the workload build compiles", fill)


def _extract(archive: Path, folder: Path) -> None:
    missing = {f"{PACKAGE}/{path}": path for path in SOURCES}
    with tarfile.open(archive) as packed:
        for member in packed:
            path = missing.pop(member.name, None)
            content = packed.extractfile(member) if path is not None else None
            if path is not None and content is not None:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(content.read())
            if not missing:
                return
    raise MachineError(
        f"the package {PACKAGE} has no {', '.join(missing.values())}",
        hint="this is another source than hardcost knows; please report it",
    )
