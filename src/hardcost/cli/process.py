"""The process that a command runs in: its words, its memory, and the report of a crash."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import resource
import shlex
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import NoReturn

from hardcost.supply.cache.location import default_root
from hardcost.units import visible

DEBUG = "HARDCOST_DEBUG"
"""The environment variable that has the traceback of a crash printed."""

_IMPORT_SECONDS = 15  # of the processor; the longest import takes 5
_FAULT = 70  # sysexits' EX_SOFTWARE: the work raised something else
_END_WITH_PARENT = 1  # PR_SET_PDEATHSIG of prctl(2)
_TOO_FEW = frozenset({errno.EMFILE, errno.ENFILE})  # no descriptor is left
_SIGNS = ("failed to map segment", "cannot allocate memory")
_ENDING = frozenset({"numpy", "scipy.linalg"})  # each loads an OpenBLAS of its own

# What was typed -----------------------------------------------------------------------------------


def words() -> tuple[str, ...]:
    """Return the words of the command line, the program by its plain name."""
    return ("hardcost", *sys.argv[1:])


def folder() -> str:
    """Return the folder in which it was typed, if a word is a relative path from there; else ""."""
    return os.getcwd() if any(map(_is_relative_path, sys.argv[1:])) else ""  # noqa: PTH109  (text)


def _is_relative_path(word: str) -> bool:
    """Say whether a word, or the value in `--option=value`, names a file in this folder."""
    value = word.partition("=")[2] if word.startswith("--") and "=" in word else word
    try:
        return bool(value) and not value.startswith(("-", "/")) and Path(value).exists()
    except (OSError, ValueError):
        return False


# Memory -------------------------------------------------------------------------------------------


def is_want_of_memory(error: BaseException) -> bool:
    """Say whether there was no memory, or no room for a library, at the bottom of an error.

    Where memory is bounded, Python at times raises a SystemError for want of it.
    """
    below = error.__cause__ or error.__context__
    if isinstance(error, ImportError):
        found = any(sign in str(error).lower() for sign in _SIGNS)
    elif isinstance(error, SystemError):
        found = _is_memory_bounded()
    else:
        found = isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM
    return found or (below is not None and is_want_of_memory(below))


def guard_libraries() -> None:
    """Where `ulimit` bounds memory, first import in another process libraries that may end it.

    Without memory, OpenBLAS ends the process with status 1, which no handler sees, sends it SIGINT,
    as Ctrl-C does, or asks for memory without end. An import then raises a MemoryError instead.
    """
    if _is_memory_bounded():
        sys.meta_path.insert(0, _TriedApart())


def _is_memory_bounded() -> bool:
    kinds = (resource.RLIMIT_AS, resource.RLIMIT_DATA)
    return any(resource.getrlimit(kind)[0] != resource.RLIM_INFINITY for kind in kinds)


class _TriedApart(MetaPathFinder):
    """Finds nothing: others do, once the library was imported in a process of its own."""

    def find_spec(self, fullname: str, _path: object, _target: object = None) -> None:
        """Try to import a library that may end the process.

        Raises:
            MemoryError: It did.
        """
        if fullname not in _ENDING:
            return
        child = os.fork()
        if child == 0:
            sys.meta_path.remove(self)
            _import_and_end(fullname)
        if os.waitpid(child, 0)[1] != 0:
            raise MemoryError


def run_apart(
    work: Callable[[], bytes], module: str, failure: type[Exception] = MemoryError
) -> bytes | None:
    """Return the result of `work`, done in a process of its own; None if that failed.

    It fails if it dies, runs out of memory, or raises a `failure`; other errors are raised here.
    `module` is what may end the process. Where it is loaded already, it works in this one, and its
    threads would be missing in another.
    """
    if module in sys.modules:
        return work()
    try:
        reading, writing = os.pipe()
    except OSError:
        return None
    try:
        with warnings.catch_warnings():
            # The threads that there may be belong to libraries that expect this.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
    except OSError:  # no more processes, or no memory for one
        os.close(reading)
        os.close(writing)
        return None
    if child == 0:
        _work_and_end(work, writing, failure)
    os.close(writing)
    ended = False
    try:
        with os.fdopen(reading, "rb") as stream:
            made = stream.read()
        ended = True
    finally:
        if not ended:
            os.kill(child, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status == _FAULT:
        return work()  # which raises it here, where it is reported
    return made if status == 0 else None


def _work_and_end(work: Callable[[], bytes], writing: int, failure: type[Exception]) -> NoReturn:
    """Write the result of the work; the status says whether it succeeded."""
    status = 1
    try:
        ctypes.CDLL(None).prctl(_END_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in range(3):  # a library that ends the process says so at length
            os.dup2(nowhere, number)
        with os.fdopen(writing, "wb") as stream:
            stream.write(work())
        status = 0
    except Exception as error:  # noqa: BLE001  (the parent sees it again)
        few = isinstance(error, OSError) and error.errno in _TOO_FEW
        failed = few or isinstance(error, failure) or is_want_of_memory(error)
        status = 1 if failed else _FAULT
    finally:
        os._exit(status)


def _import_and_end(module: str) -> NoReturn:
    """Import a module; the status is 0 also where that raises, which the parent will see itself."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        bounded = most != resource.RLIM_INFINITY
        seconds = min(_IMPORT_SECONDS, most) if bounded else _IMPORT_SECONDS
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, most))
        import_module(module)
    except KeyboardInterrupt:
        os._exit(1)
    finally:
        os._exit(0)


# A crash ------------------------------------------------------------------------------------------


def report_crash(error: Exception) -> None:
    """Write the traceback to a file, and say on stderr what happened and what to do."""
    command = shlex.join(words())
    trace = "".join(traceback.format_exception(error))
    about = f"hardcost {_version()}, Python {platform.python_version()}, {platform.platform()}"
    kept = _keep_log(f"{command}\n{about}\n\n{trace}")
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
    for line in "\n".join(lines).splitlines():
        print(visible(line), file=sys.stderr)


def _keep_log(text: str) -> Path | None:
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
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415  (it takes long)

    try:
        return version("hardcost")
    except PackageNotFoundError:
        return "(not installed)"
