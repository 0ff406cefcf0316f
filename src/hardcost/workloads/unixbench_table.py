"""The tables that UnixBench's own `Run` prints, read strictly."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from hardcost.errors import TrialError

WORDS: Final = {
    "Dhrystone 2 using register variables": "dhry2reg",
    "Double-Precision Whetstone": "whetstone-double",
    "Execl Throughput": "execl",
    "File Copy 1024 bufsize 2000 maxblocks": "fstime",
    "File Copy 256 bufsize 500 maxblocks": "fsbuffer",
    "File Copy 4096 bufsize 8000 maxblocks": "fsdisk",
    "Pipe Throughput": "pipe",
    "Pipe-based Context Switching": "context1",
    "Process Creation": "spawn",
    "Shell Scripts (1 concurrent)": "shell1",
    "Shell Scripts (8 concurrent)": "shell8",
    "System Call Overhead": "syscall",
}
"""By what name `Run` knows each test that it prints."""

_RATE = re.compile(
    r"(?P<title>\S.*?)\s{2,}(?P<rate>\d+\.\d+) (?P<unit>lps|lpm|MWIPS|KBps)\s+\(.*samples?\)"
)
_SCORE = re.compile(r"System Benchmarks Index Score(?P<partial> \(Partial Only\))?\s+(\d+\.\d+)")


@dataclass(frozen=True)
class Table:
    """Rates by test, in the table's units; the index of all twelve, None if some did not run."""

    rates: dict[str, float]
    index: float | None


def read(text: str, titles: Collection[str]) -> Table:
    """Return what UnixBench printed of the tests called `titles`.

    Raises:
        TrialError: A test is missing, is there twice or has no rate, or the index is missing.
    """
    rates: dict[str, float] = {}
    for line in text.splitlines():
        row = _RATE.fullmatch(line.strip())
        if row is None:
            continue
        title, rate = row["title"], float(row["rate"])
        if title in rates or not rate > 0:
            raise TrialError(f"UnixBench printed more than one rate, or none, for {title}")
        rates[title] = rate
    missing = sorted(set(titles) - set(rates))
    if missing:
        raise TrialError(
            f"UnixBench printed no rate for {', '.join(missing)}: {text[-400:]!r}",
            hint="run it in the guest by hand: it needs perl and its programs, built",
        )
    scores = [row for line in text.splitlines() if (row := _SCORE.fullmatch(line.strip()))]
    if len(scores) != 1:
        raise TrialError(f"UnixBench printed {len(scores)} indices, not one")
    partial = scores[0]["partial"] is not None
    return Table(
        {title: rates[title] for title in titles}, None if partial else float(scores[0][2])
    )
