"""Packages unpacked in a process of its own, confined and within limits.

Any of what a package holds may be hostile. The process that reads it gets the open file and an
empty folder. It runs in the sandbox of kernel builds, where it sees Python and hardcost, can write
to the folder alone, and has no network. Where no sandbox works, it is a process with the same
limits.
"""

from __future__ import annotations

import functools
import importlib.util
import logging
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from auditrules.library.files import check
from hardcost import files
from hardcost.decompress import DamagedError
from hardcost.errors import FULL_DISK, MachineError
from hardcost.host import process, sandbox
from hardcost.host.install_command import install

LARGEST = 2 << 30
"""Bytes of a package; Debian's largest, a kernel with its debug data, has 0.9 billion."""

log = logging.getLogger(__name__)
"""Logs that there is no sandbox; `cli/` shows it."""

_MODULE = "hardcost.supply.packages.unpack_child"
_NEEDED = ("hardcost", "auditrules", "libarchive", "zstandard")  # Python's packages that it imports
_AT = Path("/unpacked")
_MOST_SECONDS = 3600.0  # what is packed decides how long unpacking takes
_SYSTEM = Path("/usr")  # is in every sandbox
_KILLED = frozenset({0, *range(128, 160), *range(-64, 0)})  # statuses: all is well, or a signal


def unpack(package: Path, folder: Path, *, only_kernel: bool = False) -> Mapping[str, str]:
    """Write a package's folders, files and links below a folder; devices are left out.

    `only_kernel`: only the kernel, its modules and what else lies beside them is written, and the
    package has to be for guests. An RPM package is always read so. Returns what a package of
    Debian's says of itself, by its fields; nothing for an RPM package.

    Raises:
        InputError: The file can't be read.
        DamagedError: It is no package, is damaged, runs over a limit, or has a path that leads
            outside.
        MachineError: It can't be unpacked here.
        OSError: The disk is full.
    """
    check(package, "the package", LARGEST)
    folder.mkdir(parents=True, exist_ok=True)
    kind = "rpm" if package.suffix == ".rpm" else "deb"
    given = [kind, "kernel" if only_kernel else "whole"]
    said = files.json_value(_answer(package, folder, given) or b'{"killed": true}')
    if "fields" in said:
        return dict(said["fields"])
    if "missing" in said:
        raise MachineError(
            f"packages are unpacked by libarchive, which can't be used: {said['missing']}",
            hint=install("libarchive13"),
        )
    if said.get("errno") in FULL_DISK:
        raise OSError(said["errno"], "the disk is full")
    raise DamagedError(said.get("damaged", "what reads it was killed: it ran over a limit"))


def _answer(package: Path, folder: Path, given: Sequence[str]) -> bytes:
    """Return the answer of the process."""
    paths = [str(path) for path in _paths()]
    start = f"import sys; sys.path[:0] = {paths!r}; from {_MODULE} import main; main()"
    python = ["env", "LC_ALL=C.UTF-8", sys.executable, "-I", "-c", start, *given]
    reason = sandbox.why_not()
    with package.open("rb") as file, tempfile.TemporaryDirectory(prefix="hardcost-unpack-") as root:
        if reason is None:
            argv = sandbox.words(
                [*python, str(_AT)],
                Path(root),
                reads=tuple(_reads()),
                writes={folder.absolute(): _AT},
            )
        else:
            _warn(reason)
            argv = ["setpriv", "--no-new-privs", "--inh-caps=-all", *python, str(folder)]
        return process.output(argv, stdin=file, fine=_KILLED, limit_seconds=_MOST_SECONDS)


@functools.cache
def _warn(reason: str) -> None:
    log.warning("packages are unpacked without a sandbox: %s", reason)


def _paths() -> Iterator[Path]:
    """Yield the folders in which Python finds what the process imports."""
    for name in _NEEDED:
        found = importlib.util.find_spec(name)
        if found is not None and found.origin is not None:
            yield Path(found.origin).absolute().parent.parent


def _reads() -> Iterator[Path]:
    """Yield the folders that the process needs, apart from the system's own."""
    python = (Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable).resolve().parent.parent)
    own = (path / name for path, name in zip(_paths(), _NEEDED, strict=True))
    for path in dict.fromkeys((*python, *own)):
        if not path.is_relative_to(_SYSTEM):
            yield path
