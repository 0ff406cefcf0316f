"""The tests mean the same wherever they are run: on a terminal, or below nohup."""

from __future__ import annotations

import subprocess
import sys

PARENT = """
import os, signal, subprocess, sys
from tests.conftest import heed_again

numbers = (signal.SIGHUP, signal.SIGINT)
for number in numbers:
    signal.signal(number, signal.SIG_IGN)
heed_again(*numbers)
for number in numbers:
    os.kill(os.getpid(), number)
subprocess.run([sys.executable, "-c", sys.argv[1]], check=True)
"""
CHILD = """
import signal
print(signal.getsignal(signal.SIGHUP) is signal.SIG_DFL)
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""


def test_below_nohup_what_tests_start_heeds_signals_and_the_tests_do_not() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PARENT, CHILD], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "True"]
