"""How long commands take that measure nothing: help, version, TAB completion.

Processor time (user and system) of a whole process, the median of five. Wall time would mostly
show what else the machine does.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess  # noqa: TID251  (a benchmark starts hardcost as a shell does)
import sys

_ROUNDS = 5
_COMMAND = (sys.executable, "-c", "from hardcost.cli.main import main; main()")
_WORDS = (
    "--help",
    "--version",
    "run --help",
    "bill --help",
    "rules lint --help",
    "kernel build --help",
    "list studies",
    "list controls",
    "list runs",
)
_TAB = ("hardcost ", "hardcost bill ", "hardcost run --", "hardcost report ")


def main() -> None:
    """Print a line for each command."""
    for words in _WORDS:
        print(f"hardcost {words:25}{seconds(words.split()):6.2f} s of processor time")
    for typed in _TAB:
        asked = {
            "_HARDCOST_COMPLETE": "bash_complete",
            "COMP_WORDS": typed,
            "COMP_CWORD": str(typed.count(" ")),
        }
        took = seconds([], asked)
        print(f"TAB after '{typed}'{'':{22 - len(typed)}}{took:6.2f} s of processor time")


def seconds(words: list[str], environment: dict[str, str] | None = None) -> float:
    """Return the median of the processor time of a command, in seconds."""
    return statistics.median(_once(words, environment or {}) for _ in range(_ROUNDS))


def _once(words: list[str], environment: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(  # noqa: S603  (hardcost itself)
        [*_COMMAND, *words],
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
