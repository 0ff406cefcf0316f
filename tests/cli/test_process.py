from __future__ import annotations

import errno
import os
import signal
import sys

import pytest

from hardcost.cli.process import run_apart

MODULE = "no_such_module"


def test_what_is_made_apart_comes_back_whole() -> None:
    assert run_apart(lambda: b"x" * 3_000_000, MODULE) == b"x" * 3_000_000
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


@pytest.mark.parametrize("number", [signal.SIGTRAP, signal.SIGKILL])
def test_a_process_that_dies_leaves_nothing(number: signal.Signals) -> None:
    own = os.getpid()

    def die() -> bytes:
        assert os.getpid() != own
        os.kill(os.getpid(), number)
        return b"never"

    assert run_apart(die, MODULE) is None


def test_want_of_memory_or_descriptors_leaves_nothing_and_a_fault_is_raised_here() -> None:
    def too_much() -> bytes:
        raise MemoryError

    def fault() -> bytes:
        raise KeyError("ours")

    def one_file_more() -> bytes:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    assert run_apart(too_much, MODULE) is None
    assert run_apart(one_file_more, MODULE) is None
    assert run_apart(fault, MODULE, KeyError) is None
    with pytest.raises(KeyError, match="ours"):
        run_apart(fault, MODULE)


def test_what_is_loaded_here_is_not_taken_elsewhere() -> None:
    assert run_apart(lambda: str(os.getpid()).encode(), sys.__name__) == str(os.getpid()).encode()
