"""Whether hardcost survives being killed: `python -m bench.robustness.kills --rounds 200 --seed 1`.

Creates its own cache by running a study. Each round starts a command (the study, with whatever
earlier rounds left of its packages, guest, kernel and snapshot; the removal of a random entry; with
`--images N` and `--kernels N`, in so many rounds, the build of the Debian image and of a kernel),
and kills it by SIGKILL at a random moment. Afterwards none of its processes may still run, and
`image list` must work. After each tenth round and at the end, the study must print the same
numbers as at first, and leave no scratch folder. Status 1 if anything is otherwise. `--cache`
starts with an existing cache, and keeps it.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import random
import subprocess  # noqa: TID251  (what is killed here is hardcost itself)
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from bench.robustness.small_study import RUN, Tool, numbers, own_cache

IMAGE = ("image", "build", "debian")
KERNEL = ("kernel", "build", "--option", "INIT_ON_ALLOC_DEFAULT_ON=y", "--jobs", "1")
BUILD_SECONDS = 60.0  # within which a build is killed; it would take minutes
LIMIT_SECONDS = 900
DEATH_SECONDS = 10.0  # until the processes of a killed command must have ended
SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of prctl(2)
EVERY = 10  # rounds between two complete runs of the study


def counted(tool: Tool) -> str:
    """Return the study's numbers, or the error of a failed run."""
    status, out, err = tool.whole(*RUN)
    return numbers(out) if status == 0 else err


def main() -> int:
    """Kill, check, compare; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--images", type=int, default=0)
    parser.add_argument("--kernels", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cache", type=own_cache, help="a cache for nothing else; kept afterwards")
    given = parser.parse_args()
    chance = random.Random(given.seed)  # noqa: S311  (no secret)
    adopt_orphans()
    wrong, came = 0, Counter[str]()
    with tempfile.TemporaryDirectory(prefix="hardcost-kills-") as name:
        tool = Tool(Path(name), given.cache or Path(name) / "cache", LIMIT_SECONDS)
        first = counted(tool)
        longest = taken(tool, *RUN), taken(tool, "image", "list")
        print(f"undisturbed, with a snapshot: {longest[0]:.1f} s; a list: {longest[1]:.1f} s")
        builds = [IMAGE] * given.images + [KERNEL] * given.kernels
        rounds = [*builds, *[()] * (given.rounds - len(builds))]
        chance.shuffle(rounds)
        for number, build in enumerate(rounds, 1):
            words, seconds = (build, BUILD_SECONDS) if build else chosen(tool, chance, longest)
            ended, problems = killed(tool, words, chance.uniform(0, seconds))
            if number % EVERY == 0 or number == given.rounds:
                problems += after(tool, first)
            wrong += bool(problems)
            came[f"{' '.join(words[:2])}: {ended}"] += 1
            print(f"{number:3} {' '.join(words[:3])}: {ended}; {problems or 'well'}", flush=True)
    print("\n".join(f"{count:4} {what}" for what, count in sorted(came.items())))
    print(f"{given.rounds} rounds, {wrong} after which something was wrong")
    return int(wrong > 0)


def adopt_orphans() -> None:
    """Become the parent of any process below this one that outlives its own parent."""
    if ctypes.CDLL(None, use_errno=True).prctl(SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def taken(tool: Tool, *words: str) -> float:
    """Return the seconds that a command takes."""
    started = time.monotonic()
    tool.whole(*words)
    return time.monotonic() - started


def chosen(
    tool: Tool, chance: random.Random, longest: tuple[float, float]
) -> tuple[tuple[str, ...], float]:
    """Return the command to kill, and within how many seconds.

    `longest` has the seconds of a run and of a list, which take about as long as the choices.
    """
    entries = sorted(tool.cache.glob("[kpgs]*/[!.]*/title"))
    if entries and chance.random() < 1 / 2:
        return ("image", "remove", chance.choice(entries).parent.name), 1.2 * longest[1]
    # A removed entry is made again, which takes longer.
    snapshots = any(tool.cache.glob("snapshots/[!.]*"))
    return RUN, longest[0] if snapshots else 3 * longest[0]


def killed(tool: Tool, words: tuple[str, ...], seconds: float) -> tuple[str, str]:
    """Start a command, and kill it; return how it ended, and the problems after that."""
    process = tool.start(*words)
    ended = "killed"
    try:
        _, err = process.communicate(timeout=seconds)
        ended = f"ended before with status {process.returncode}"
        if process.returncode:
            return ended, f"it failed: {err}. "
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
    if left := outlived():
        return ended, f"{left} outlived it. "
    status, out, err = tool.whole("image", "list", "--format", "json")
    if status or not isinstance(json.loads(out), list):
        return ended, f"image list fails: {err}. "
    return ended, ""


def outlived() -> list[str]:
    """Return the processes of a killed command that are still there after some time."""
    until = time.monotonic() + DEATH_SECONDS
    while True:
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        left = children()
        if not left or time.monotonic() > until:
            return left
        time.sleep(0.05)


def children() -> list[str]:
    """Return the commands of all processes whose parent is this one."""
    numbers = Path("/proc/thread-self/children").read_text(encoding="ascii").split()
    names = []
    for number in numbers:
        with contextlib.suppress(OSError):
            names.append(Path(f"/proc/{number}/comm").read_text(encoding="utf-8").strip())
    return names


def after(tool: Tool, first: str) -> str:
    """Run the study to its end; return the problems."""
    result = counted(tool)
    if result != first:
        return f"the study gives {result}. "
    if any((tool.cache / "scratch").iterdir()):
        return "scratch folders are left. "
    return ""


if __name__ == "__main__":
    sys.exit(main())
