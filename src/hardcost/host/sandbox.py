"""A sandbox for code of a kernel's source that runs on the host during a build.

A Makefile, Kconfig file or host program can do anything, and a patch can change each. In the
sandbox they see the system's programs, the source and the build folder, and can change only the
latter; no other file, process or network, nor a socket of any family but AF_UNIX. All their
processes end with the sandbox.
"""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path

from hardcost.errors import MachineError
from hardcost.host import compiler, no_network
from hardcost.host.process import run

_SCRIPT = Path(str(resources.files("hardcost.host"))) / "sandbox.sh"
_APART = (
    *("unshare", "--mount", "--uts", "--ipc", "--net", "--pid", "--fork", "--kill-child"),
    "--propagation=private",
)
_MAPPED = ("--user", "--map-root-user")
REMEDY = (
    "a sandbox needs filters of system calls (seccomp), and user namespaces, or for root the right"
    " to mount, which containers may lack (CAP_SYS_ADMIN)"
)
"""The remedy if `why_not` has a reason."""


def words(
    argv: Sequence[str], root: Path, *, reads: Sequence[Path], writes: Mapping[Path, Path]
) -> list[str]:
    """Return the words that run a program in the sandbox, if `why_not` has no reason.

    `root` is an empty folder of the caller's. The program can read below `reads`, and change what
    is below the keys of `writes`, each of which appears at the path that is its value.
    """
    start, _ = _start()
    return _words(start or _APART, argv, root, reads=reads, writes=writes)


def why_not() -> str | None:
    """Return None if the sandbox works, else why it does not."""
    start, reason = _start()
    return None if start is not None else reason


@functools.cache
def _start() -> tuple[tuple[str, ...] | None, str]:
    """Return the words that create the namespaces; None if none work, with the reason."""
    reason = ""
    for start in ((_APART,) if os.geteuid() == 0 else ()) + ((*_APART, *_MAPPED),):
        with tempfile.TemporaryDirectory(prefix="hardcost-sandbox-") as folder:
            try:
                run(_words(start, ["true"], Path(folder), reads=(), writes={}))
            except MachineError as error:
                reason = reason or str(error).splitlines()[-1]
            else:
                return start, ""
    return None, reason


def _words(
    start: Sequence[str],
    argv: Sequence[str],
    root: Path,
    *,
    reads: Sequence[Path],
    writes: Mapping[Path, Path],
) -> list[str]:
    folders = [("ro", str(folder)) for folder in (*compiler.folders(), *reads)]
    written = [("rw", str(folder), str(at)) for folder, at in writes.items()]
    given = (word for one in (*folders, *written) for word in one)
    ids = (str(os.geteuid()), str(os.getegid()))
    return [
        *no_network.words(),
        *start,
        "--",
        "sh",
        str(_SCRIPT),
        str(root),
        *ids,
        *given,
        "--",
        *argv,
    ]
