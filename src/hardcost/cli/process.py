"""Libraries that say that there is too little memory by ending the process they are in."""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import signal
import sys
import warnings
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

_IMPORT_SECONDS = 15  # of the processor; the longest import takes 5
_FAULT = 70  # sysexits' EX_SOFTWARE: the work raised something else
_END_WITH_PARENT = 1  # PR_SET_PDEATHSIG of prctl(2)
_TOO_FEW = frozenset({errno.EMFILE, errno.ENFILE})  # no descriptor is left
_SIGNS = ("failed to map segment", "cannot allocate memory")


def is_want_of_memory(error: BaseException) -> bool:
    """Say whether there was no memory, or no room for a library, at the bottom of an error."""
    below = error.__cause__ or error.__context__
    if isinstance(error, ImportError):
        found = any(sign in str(error).lower() for sign in _SIGNS)
    else:
        found = isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM
    return found or (below is not None and is_want_of_memory(below))


def try_import(module: str) -> None:
    """Import a module in a process of its own first, where memory is bounded by `ulimit`.

    OpenBLAS ends the process with status 1 where it gets no memory, which no handler sees, sends it
    SIGINT, as Ctrl-C does, or asks for memory without end.

    Raises:
        MemoryError: It did.
    """
    if module in sys.modules or not _is_bounded():
        return
    child = os.fork()
    if child == 0:
        _import_and_end(module)
    if os.waitpid(child, 0)[1] != 0:
        raise MemoryError


def apart(
    work: Callable[[], bytes], module: str, failure: type[Exception] = MemoryError
) -> bytes | None:
    """Return what `work` returns, done in a process of its own; None if that failed.

    It fails by its death, for want of memory, or by a `failure`; what else it raises is raised.
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
    """Write what the work returns; the status says what became of it."""
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


def _is_bounded() -> bool:
    kinds = (resource.RLIMIT_AS, resource.RLIMIT_DATA)
    return any(resource.getrlimit(kind)[0] != resource.RLIM_INFINITY for kind in kinds)


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
