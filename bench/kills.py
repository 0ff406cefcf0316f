"""Whether hardcost survives being killed: `python bench/kills.py --rounds 200 --seed 1`.

Makes a cache of its own by running a study. Each round begins a command (the study, with or without
a snapshot; the removal of a random entry; with `--images N`, in N rounds, the making of the Debian
image), and kills it by SIGKILL at a random moment. Then nothing of it may run any more, and
`image list` has to work; after each tenth round and at the end, the study has to print the numbers
that it printed at first, and to leave no scratch folder. Status 1 if anything is otherwise.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess  # noqa: TID251  (what is killed here is hardcost itself)
import sys
import tempfile
import time
from pathlib import Path

STUDY = """
title = "kills"
workloads = ["syscalls calls=null"]
baseline = "rules=0"
[base]
audit.enabled = true
[[axis]]
name = "rules"
values = [0, 1]
audit.repeat = "-a always,exit -F arch=b64 -S swapon -F uid={n}"
audit.from = 70001
"""
COMMAND = (sys.executable, "-c", "from hardcost.cli.main import main; main()")
RUN = ("run", "study.toml", "--fresh", "--jobs", "1", "--format", "json")
LIMIT_SECONDS = 900
DEATH_SECONDS = 10.0  # until what a killed command started has gone
EVERY = 10  # rounds, between two runs of the study to their end


class Tool:
    """The command with a cache and a store of its own."""

    def __init__(self, folder: Path) -> None:
        """Write the study that it runs."""
        self.folder, self.cache = folder, folder / "cache"
        (folder / "study.toml").write_text(STUDY)
        own = {
            "HARDCOST_CACHE": str(self.cache),
            "HARDCOST_STORE": str(folder / "runs.sqlite"),
        }
        self.environment = {**os.environ, **own}

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start it."""
        return subprocess.Popen(  # noqa: S603  (the words are ours)
            [*COMMAND, *words],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def whole(self, *words: str) -> tuple[int, str, str]:
        """Run it to its end; return its status and what it printed."""
        process = self.start(*words)
        out, err = process.communicate(timeout=LIMIT_SECONDS)
        return process.returncode, out, err

    def numbers(self) -> str:
        """Return the study's numbers; what is wrong with a run that failed."""
        status, out, err = self.whole(*RUN)
        return out[out.find('"cells"') : out.find('"notes"')] if status == 0 else err

    def outlived(self, process: subprocess.Popen[str]) -> bool:
        """Say whether a QEMU of a killed command is there after some time to go."""
        until = time.monotonic() + DEATH_SECONDS
        mark = f"{self.cache}/scratch/{process.pid}-".encode()
        while time.monotonic() < until:
            if not any(mark in line for line in _command_lines()):
                return False
            time.sleep(0.05)
        return True


def main() -> int:
    """Kill, look, compare; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--images", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    chance = random.Random(given.seed)  # noqa: S311  (no secret)
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="hardcost-kills-") as name:
        tool = Tool(Path(name))
        started = time.monotonic()
        first = tool.numbers()
        longest = time.monotonic() - started
        print(f"undisturbed: {longest:.1f} s")
        for number in range(1, given.rounds + 1):
            words, seconds = chosen(tool, chance, longest, image=number <= given.images)
            said = killed(tool, words, chance.uniform(0, seconds))
            if number % EVERY == 0 or number == given.rounds:
                said += after(tool, first)
            wrong += bool(said)
            print(f"{number:3} {' '.join(words[:3])}: {said or 'well'}", flush=True)
    print(f"{given.rounds} kills, {wrong} after which something was wrong")
    return int(wrong > 0)


def chosen(
    tool: Tool, chance: random.Random, longest: float, *, image: bool
) -> tuple[tuple[str, ...], float]:
    """Return what is to be killed, and within how many seconds."""
    if image:
        return ("image", "build"), 90.0
    entries = sorted(tool.cache.glob("[kpgs]*/[!.]*/title"))
    if entries and chance.random() < 1 / 2:
        return ("image", "remove", chance.choice(entries).parent.name), min(3.0, longest)
    return RUN, longest


def killed(tool: Tool, words: tuple[str, ...], seconds: float) -> str:
    """Begin a command, kill it, and return what is wrong then."""
    process = tool.start(*words)
    try:
        process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
    if tool.outlived(process):
        return "a guest outlived it. "
    status, out, err = tool.whole("image", "list", "--format", "json")
    if status or not isinstance(json.loads(out), list):
        return f"image list fails: {err}. "
    return ""


def after(tool: Tool, first: str) -> str:
    """Run the study to its end; return what is wrong."""
    said = tool.numbers()
    if said != first:
        return f"the study gives {said}. "
    if any((tool.cache / "scratch").iterdir()):
        return "scratch folders are left. "
    return ""


def _command_lines() -> list[bytes]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes())
        except OSError:
            continue
    return found


if __name__ == "__main__":
    sys.exit(main())
