"""The process that `unpack.py` starts: it takes on limits, and then unpacks a package.

It reads the package from standard input, and answers with a line of JSON.
"""

from __future__ import annotations

import json
import re
import resource
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import NoReturn

from hardcost.decompress import DamagedError
from hardcost.errors import FULL_DISK

MOST_MEMORY = 1 << 30
"""Bytes of its address space; most of it is what compression looks back on."""

_MOST_SECONDS = 1800  # of processor time; Debian's kernel with its debug data takes 150
_LARGEST_FILE = 8 << 30  # bytes; all files together may have no more
KERNEL = re.compile(
    r"(boot|(usr/)?lib/modules)/"
    r"|usr/lib/debug/(boot/vmlinux-[^/]+|(usr/)?lib/modules/[^/]+/vmlinux)\Z"
)
"""What is used of a kernel's package, from where Debian and Red Hat have it."""


def main() -> None:
    """Unpack a package: its kind, what is wanted of it, and the folder are the words."""
    _limit()
    kind, wanted, folder = sys.argv[1:]
    try:
        said: dict[str, object] = {"fields": dict(_fields(kind, wanted, Path(folder)))}
    except DamagedError as error:
        said = {"damaged": str(error)}
    except MemoryError:
        said = {"damaged": f"reading it takes more than {MOST_MEMORY >> 30} GiB of memory"}
    except OSError as error:
        full = error.errno in FULL_DISK
        why = f"it can't be written: {error.strerror}"
        said = {"errno": error.errno} if full else {"damaged": why}
    except _MissingError as error:
        said = {"missing": str(error)}
    sys.stdout.write(json.dumps(said))


class _MissingError(Exception):
    """libarchive, or what Python has for it, is missing; the message says what."""


def _fields(kind: str, wanted: str, folder: Path) -> Mapping[str, str]:
    """Write what a package holds, and return what it says of itself."""
    try:
        from hardcost.supply.packages import archive, deb, rpm  # noqa: PLC0415
    except (ImportError, OSError) as error:
        raise _MissingError(str(error)) from error
    package = sys.stdin.buffer
    if kind == "deb":
        return deb.unpack(package, folder, KERNEL if wanted == "kernel" else None)
    found = archive.members(rpm.content(package), "cpio")
    archive.write(found, folder, KERNEL)
    return {}


def _limit() -> None:
    def late(_number: int, _frame: FrameType | None) -> NoReturn:
        raise DamagedError(f"reading it takes more than {_MOST_SECONDS // 60} minutes")

    signal.signal(signal.SIGXCPU, late)
    for limit, most in (
        (resource.RLIMIT_AS, MOST_MEMORY),
        (resource.RLIMIT_FSIZE, _LARGEST_FILE),
        (resource.RLIMIT_CPU, _MOST_SECONDS),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(limit, (most, most + (limit == resource.RLIMIT_CPU) * 60))
