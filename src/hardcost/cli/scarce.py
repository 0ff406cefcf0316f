"""Libraries that can't be loaded for want of memory, which some say by ending the process."""

from __future__ import annotations

import errno
import os
import resource
import sys
from importlib import import_module
from typing import NoReturn

_IMPORT_SECONDS = 15  # of the processor; the longest import takes 5
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
