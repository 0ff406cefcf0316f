"""Which files of a kernel's source run on the host during a build, by their names.

These are the files that make, Kconfig, shells and other interpreters read, and the sources of host
programs with their headers. Some folders are included whole, so a few files listed do not run.
"""

from __future__ import annotations

import re
from pathlib import Path

_READ = re.compile(
    r"(?:Makefile|Kbuild|Kconfig)(?:[.\-_].*)?|.*[.\-_](?:Makefile|Kconfig)"
    r"|.*\.(?:mk|sh|pl|pm|py|awk|sed|l|y|bc|m4)"
)
_FOLDERS = ("scripts", "tools", "usr", "certs", "samples", "debian")
_BELOW = re.compile(
    r"arch/[^/]+/(?:tools|boot|vdso|entry/vdso|kernel/vdso\d*)/.*"
    r"|include/uapi/.*|arch/[^/]+/include/uapi/.*|security/selinux/include/.*"
    r"|arch/x86/lib/(?:inat|insn)\.c|include/linux/(?:crc32poly|kconfig|compiler_types)\.h"
    r"|lib/crc\w*defs\.h|rust/.*|net/bpfilter/.*"
)
_HOST_PROGRAM = re.compile(
    r"(?:mk\w+|gen[_-][\w-]+|genmap|makemapdata|conmakehash|pnmtologo)\.[ch]"
)


def runs(name: str) -> bool:
    """Say whether a file of the source, by its path in it, runs during a build."""
    path = Path(name)
    return (
        path.parts[0] in _FOLDERS
        or _READ.fullmatch(path.name) is not None
        or _BELOW.fullmatch(name) is not None
        or _HOST_PROGRAM.fullmatch(path.name) is not None
    )
