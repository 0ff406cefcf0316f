"""What all tests share: signals as a process on a terminal has them, and what is measured."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator


def pytest_configure() -> None:
    """Before anything is started, stop handing down that signals are ignored."""
    heed_again(signal.SIGHUP, signal.SIGINT)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Measure the coverage of tests that boot nothing alone, if it is measured at all."""
    coverage = sys.modules.get("coverage")
    measured = None if coverage is None else coverage.Coverage.current()
    if measured is None or item.get_closest_marker("vm") is None:
        return (yield)
    measured.stop()
    try:
        return (yield)
    finally:
        measured.start()


def heed_again(*numbers: signal.Signals) -> None:
    """Let what this process starts heed signals that this process ignores, and go on ignoring them.

    Below nohup, and as a job in the background of a script, tests begin with ignored signals. A
    program inherits that, but no handler; hardcost rightly leaves them ignored, which tests that
    send signals do not expect.
    """
    for number in numbers:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, _nothing)


def _nothing(_signal: int, _frame: object) -> None:
    """Do nothing."""
