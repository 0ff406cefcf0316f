"""What all tests share: signals as on a terminal, how much is tried and what is left, coverage."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import coverage
import pytest
import vl_convert  # noqa: F401  (so that pages draw in this process: a new one for each takes a second)
from hypothesis import settings

from tests.fakes import kinds

_MEASURED_SECONDS = 0.2  # of a test's processor time
_UNTIL = "HARDCOST_SLOW_TESTS_UNTIL"
"""The variable with the last second, since 1970, in which a slow test may begin."""


_HERE = tuple(str(Path(__file__).parent / one) for one in ("tests", "audit_rules/tests"))
_made: set[str] = set()
"""The folders that this process made."""
_left: set[int] = set()
"""How many slow tests each process that collected them leaves out."""

# `make test-slow` tries properties again, with as many examples as Hypothesis has by default.
settings.register_profile("few", max_examples=20)
settings.load_profile("few")


def pytest_configure() -> None:
    """Before anything is started, stop handing down ignored signals; guard others' files."""
    heed_again(signal.SIGHUP, signal.SIGINT)
    kinds.install()
    sys.addaudithook(keep_what_is_not_ours)


def keep_what_is_not_ours(event: str, words: tuple[object, ...]) -> None:
    """Refuse a test that removes a tree which neither it nor pytest made for it."""
    if event == "os.mkdir":
        path, _mode, below = words
        if below == -1 and isinstance(path, str | bytes) and not os.path.lexists(path):
            _made.add(os.path.realpath(os.fsdecode(path)))
    elif event == "shutil.rmtree" and _called_by_a_test():
        path = Path(os.path.realpath(str(words[0])))
        if not _made.intersection(map(str, (path, *path.parents))):
            raise RuntimeError(f"no test made {path}, so none removes it")


def _called_by_a_test() -> bool:
    """Say whether what raised an audit event was called by the code of a test."""
    return sys._getframe(3).f_code.co_filename.startswith(_HERE)


@pytest.hookimpl(tryfirst=True)  # before fixtures are made for it
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a slow test that would begin too late: `.ci/run` has to end on slow machines, too."""
    until = float(os.environ.get(_UNTIL, "inf"))
    if item.get_closest_marker("slow") and time.time() > until:
        pytest.skip("this machine is too slow for it: `make test-slow` runs it without a limit")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put what boots guests first: long files at the end would keep one processor busy alone."""
    items.sort(key=lambda item: item.get_closest_marker("vm") is None)


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    """Count the slow tests that are left out."""
    _left.add(sum(item.get_closest_marker("slow") is not None for item in items))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand the count of a process that runs some of the files to the one that reports."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left"] = max(_left, default=0)


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist
def pytest_testnodedown(node: Any) -> None:  # noqa: ANN401  (pytest-xdist has no types)
    """Take the count that such a process hands over."""
    _left.add(getattr(node, "workeroutput", {}).get("left", 0))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which tests are left, and to what."""
    if left := max(_left, default=0):
        terminalreporter.write_line(f"left to `make test-slow`: {left} tests that take long")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Measure coverage, if it is measured at all, at the beginning of tests that boot nothing.

    A test that takes longer goes round in loops, which measuring makes three to four times as slow.
    """
    coverage = sys.modules.get("coverage")
    measured = None if coverage is None else coverage.Coverage.current()
    if measured is None:
        return (yield)
    with measured_for(measured, 0.0 if item.get_closest_marker("vm") else _MEASURED_SECONDS):
        return (yield)


@contextmanager
def measured_for(measured: coverage.Coverage, seconds: float) -> Iterator[None]:
    """Stop measuring after so many seconds of our processor time; go on at the end."""
    stopped = False

    def stop(*_: object) -> None:
        nonlocal stopped
        if not stopped:
            stopped = True
            measured.stop()

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.siginterrupt(signal.SIGVTALRM, False)  # noqa: FBT003  (it takes no keywords)
    if seconds:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    else:
        stop()
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
        if stopped:
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
