"""What is said where hardcost itself is at fault: an exception that nobody foresaw."""

from __future__ import annotations

import os
import platform
import shlex
import sys
import time
import traceback
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from hardcost.cli.lazy import imported
from hardcost.machines.cacheplace import default_root

if TYPE_CHECKING:
    from pathlib import Path

DEBUG = "HARDCOST_DEBUG"
"""The environment variable that has the traceback printed."""


def report(error: Exception) -> None:
    """Write the traceback to a file, and say on stderr what happened and what to do."""
    command = shlex.join(["hardcost", *sys.argv[1:]])
    trace = "".join(traceback.format_exception(error))
    about = f"hardcost {_version()}, Python {platform.python_version()}, {platform.platform()}"
    kept = _kept(f"{command}\n{about}\n\n{trace}")
    lines = [
        f"error: this is a fault in hardcost: {type(error).__name__}: {error}",
        f"       while it carried out: {command}",
    ]
    if kept is None or os.environ.get(DEBUG):
        lines.append(trace.rstrip())
    if kept is not None:
        lines += [
            f"  the traceback is in {kept}",
            "  hint: report it, with that file and what you expected; read that file first: it",
            "        names your files. `hardcost --debug …` prints the traceback at once",
        ]
    visible = imported("hardcost.report.text:visible")
    for line in "\n".join(lines).splitlines():
        print(visible(line), file=sys.stderr)


def _kept(text: str) -> Path | None:
    """Write the text to a file among the cache's logs; None where it can't be written."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    try:
        folder = default_root().absolute() / "logs"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"crash-{stamp}-{os.getpid()}.txt"
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except (OSError, RuntimeError):
        return None
    return path


def _version() -> str:
    try:
        return version("hardcost")
    except PackageNotFoundError:
        return "(not installed)"
