"""The command line in this process: what a verb prints, and its exit status, as a text to compare.

What differs from run to run (names of runs, times, places, hashes) is put in one form, and so are
the kernel and the date of the constants that come with hardcost. With
`HARDCOST_REWRITE=1` in the environment the texts that tests compare with are rewritten.
"""

from __future__ import annotations

import difflib
import logging
import math
import os
import re
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from auditrules.cost.constants import Constants
from hardcost.cli.console import console, progress
from hardcost.cli.main import main

REWRITE = "HARDCOST_REWRITE"
_HERE = Path(__file__).parent
_ALIKE = (
    (re.compile(r"-\d{8}-\d{6}-[0-9a-f]{4}\b"), "-DATE-NUMB"),
    (re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\+00:00)?"), "DATE TIME"),
    (re.compile(r"\b\d+\.\d s\b"), "0.0 s"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "HASH"),
    (re.compile(r"(?<=  )[0-9a-f]{12}$", re.MULTILINE), "HASH"),
    (re.compile(r"Debian GNU/Linux \d+ \(\w+\)"), "Debian GNU/Linux NN (NAME)"),
    (re.compile(r"/[^\"\n]*/hardcost-probe, built with [^\"\n]+"), "PROBE, built with TOOLS"),
    (re.compile(r"\d+\.\d GiB"), "0.0 GiB"),
    (re.compile(r"\b\d[\d,]* KiB\b"), "0 KiB"),
    (re.compile(r"\d{4}-\d\d-\d\d(?=  )"), "DATE"),
    (re.compile(r'"bytes": \d+'), '"bytes": 0'),
    (re.compile(r"hardcost \d+\.\d+\.\d+"), "hardcost VERSION"),
)


def said(words: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Return what `hardcost WORDS` prints to stdout and stderr, and its exit status."""
    capsys.readouterr()
    with _as_a_process(["hardcost", *shlex.split(words)]), pytest.raises(SystemExit) as ended:
        main()
    out, err = capsys.readouterr()
    parts = [f"$ hardcost {words}\n"]
    parts += [f"--- {name}\n{text}" for name, text in (("stdout", out), ("stderr", err)) if text]
    return "".join(parts) + f"--- status {ended.value.code}\n"


def check(name: str, text: str) -> None:
    """Compare what was said with the text that is kept under a name."""
    for pattern, instead in _ALIKE:
        text = pattern.sub(instead, text)
    text = text.replace(str(Path.cwd()), "TMP")
    for key in ("kernel", "date"):
        text = text.replace(Constants.of_debian().about[key], key.upper())
    kept = _HERE / f"{name}.txt"
    if os.environ.get(REWRITE):
        kept.write_text(text, encoding="utf-8")
    before = kept.read_text(encoding="utf-8").splitlines()
    differs = "\n".join(difflib.unified_diff(before, text.splitlines(), "kept", "now", lineterm=""))
    assert not differs, f"{differs}\n{REWRITE}=1 keeps the new text"


@contextmanager
def _as_a_process(argv: list[str]) -> Iterator[None]:
    """Leave no trace of what `main` changes in a process of its own."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    handlers = {number: signal.getsignal(number) for number in numbers}
    logger, before = logging.getLogger("hardcost"), sys.argv
    notes = list(logger.handlers)
    silent = progress._SILENT_SECONDS
    progress._SILENT_SECONDS = math.inf  # what a busy machine takes long for is said, too
    sys.argv = argv
    try:
        yield
    finally:
        progress._SILENT_SECONDS = silent
        sys.argv = before
        console.choose_form("auto")
        logger.handlers[:] = notes
        for number, handler in handlers.items():
            signal.signal(number, handler)
