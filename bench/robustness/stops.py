"""Whether any verb ends in good order: `python -m bench.robustness.stops --rounds 200 --seed 26`.

Each round starts a verb on the machine `fake` and sends it SIGINT, SIGTERM, SIGHUP or SIGKILL at a
random moment. It must end with a documented status (or by the signal itself, as it does while
Python starts), leave no process, no half-written file and no scratch folder, and the store must
still be readable. At the end the study must print the same numbers as at first. Status 1 if
anything is otherwise. `bench/robustness/kills.py` is about guests.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess  # noqa: TID251  (what is stopped here is hardcost itself)
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from bench.robustness.kills import adopt_orphans, outlived
from bench.robustness.small_study import Tool, numbers

ON_FAKE = ("--machine", "fake")
STUDY = ("run", "study.toml", *ON_FAKE, "--fresh", "--format", "json", "--report", "run.html")
NULL = ("--workload", "syscalls calls=null")
VERBS = (
    STUDY,
    ("bill", "x.rules", *ON_FAKE, *NULL, "--fresh", "--report", "bill.html"),
    ("gate", "x.rules", "y.rules", *ON_FAKE, *NULL),
    ("advise", "x.rules", *ON_FAKE, *NULL, "--budget", "50%", "--report", "advise.html"),
    ("report", "last", "--report", "report.html"),
    ("rules", "lint", "x.rules"),
    ("rules", "cost", "x.rules"),
    ("rules", "prove", "x.rules", "y.rules"),
    ("rules", "optimize", "x.rules", "--out", "made.rules", "--force"),
    ("export", "sysctl", "kernel.kptr_restrict=2", "--out", "made.conf"),
    ("list", "runs"),
    ("image", "list"),
    ("image", "remove", "--all"),
    ("doctor",),
)
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
DOCUMENTED = frozenset({0, 1, 2, 3, 130})
RULES = "-a always,exit -F arch=b64 -S openat -F auid>=1000 -k a\n-w /etc/passwd -p wa -k b\n"
LIMIT_SECONDS = 300.0
ENDS = {".html": "</html>"}


def tool_in(folder: Path) -> Tool:
    """Return the command with a store, a cache and two sets of rules of its own."""
    (folder / "x.rules").write_text(RULES)
    (folder / "y.rules").write_text(RULES + "-w /etc/group -p wa -k b\n")
    return Tool(folder, folder / "cache", LIMIT_SECONDS)


def stopped(tool: Tool, words: tuple[str, ...], number: int, seconds: float) -> tuple[str, str]:
    """Start a verb and send it a signal; return how it ended, and what is wrong after that."""
    process = tool.start(*words)
    try:
        _, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(number)
        _, err = process.communicate(timeout=LIMIT_SECONDS)
    status, wrong = process.returncode, ""
    if status not in DOCUMENTED | {-number}:
        wrong += f"undocumented status: {err[-300:]}. "
    if left := outlived():
        wrong += f"{left} outlived it. "
    for path in tool.folder.iterdir():
        end = ENDS.get(path.suffix)
        if end is not None and not path.read_text().removesuffix("\n").endswith(end):
            wrong += f"{path.name} is half written. "
    return str(status), wrong


def after(tool: Tool, first: str) -> str:
    """Run the study to its end, and list what there is; return what is wrong."""
    status, out, err = tool.whole(*STUDY)
    wrong = "" if status == 0 and numbers(out) == first else f"the study gives {status}: {err}. "
    status, _, err = tool.whole("list", "runs")
    wrong += f"list gives {status}: {err}. " if status else ""
    scratch = tool.cache / "scratch"
    if scratch.is_dir() and any(scratch.iterdir()):
        wrong += "scratch folders are left. "
    return wrong


def rounds(folder: Path, many: int, seed: int, verbs: tuple[tuple[str, ...], ...] = VERBS) -> int:
    """Stop verbs `many` times; print how they ended; return after how many something was wrong."""
    chance, tool = random.Random(seed), tool_in(folder)  # noqa: S311  (no secret)
    first = numbers(tool.whole(*STUDY)[1])
    longest, bad, came = {}, 0, Counter[str]()
    for words in verbs:
        began = time.monotonic()
        status, _, err = tool.whole(*words)
        longest[words] = time.monotonic() - began
        if status not in DOCUMENTED - {2, 130}:
            bad += 1
            print(f"{' '.join(words)}: undisturbed, {status}: {err}", flush=True)
    for _ in range(many):
        words, number = chance.choice(verbs), chance.choice(SIGNALS)
        ended, wrong = stopped(tool, words, number, chance.uniform(0, 1.1 * longest[words]))
        bad += bool(wrong)
        came[f"{signal.Signals(number).name}: {ended}"] += 1
        if wrong:
            print(f"{' '.join(words)}, {signal.Signals(number).name}: {wrong}", flush=True)
    if wrong := after(tool, first):
        bad += 1
        print(wrong)
    print("\n".join(f"{count:4} {what}" for what, count in sorted(came.items())))
    return bad


def main() -> int:
    """Stop, check, compare; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=26)
    parser.add_argument("--verb", action="append", help="of these alone, such as run")
    given = parser.parse_args()
    verbs = tuple(one for one in VERBS if given.verb is None or one[0] in given.verb)
    adopt_orphans()
    with tempfile.TemporaryDirectory(prefix="hardcost-stops-") as name:
        bad = rounds(Path(name), given.rounds, given.seed, verbs)
    print(f"{given.rounds} rounds, {bad} after which something was wrong")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
