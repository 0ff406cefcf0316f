"""The end of a probe on this host that does not end by itself, and of what came of it."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_PROC = Path("/proc")
# The probe's folders for measured processes, and our scratch folders.
_WORK = re.compile(r"/tmp/(work\.\d+|hardcost-[0-9a-f]{16})")  # noqa: S108  (to be removed)


def end_all_below(pid: int) -> None:
    """Kill a program with all processes below it, and remove the folders that these worked in.

    A probe that is killed can do neither.
    """
    folders: set[Path] = set()
    while found := [one for one in _below(pid) if one != pid]:
        # A stopped parent makes no further children.
        for one in (pid, *found):
            _signal(one, signal.SIGSTOP)
        if {*_below(pid)} - {pid, *found}:
            continue
        for one in found:
            with contextlib.suppress(OSError):
                folder = (_PROC / str(one) / "cwd").readlink()
                if _WORK.fullmatch(str(folder)):
                    folders.add(folder)
        for one in (pid, *found):
            _signal(one, signal.SIGKILL)
        break
    _signal(pid, signal.SIGKILL)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _below(pid: int) -> Iterator[int]:
    """Yield a process and all that came of it."""
    children: dict[int, list[int]] = {}
    for folder in _PROC.glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            # The name, in parentheses, may hold anything.
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(folder.name))
    found = [pid]
    while found:
        one = found.pop()
        yield one
        found += children.get(one, [])
