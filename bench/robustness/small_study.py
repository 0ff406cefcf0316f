"""A study of a few seconds, and the command with its own cache and store to run it."""

from __future__ import annotations

import argparse
import os
import subprocess  # noqa: TID251  (what is run here is hardcost itself)
import sys
from pathlib import Path

from tests.fakes import kinds
from tests.studies import of_rules

STUDY = of_rules("small", "null", (0, 1))
COMMAND = (sys.executable, "-c", "from hardcost.cli.main import main; main()")
RUN = ("run", "study.toml", "--fresh", "--jobs", "1", "--format", "json")

MARK = "of benchmarks alone"
"""The file in a cache that says that it may be damaged."""


def own_cache(text: str) -> Path:
    """Return the cache of that path: one that is new or empty, or was given to a benchmark before.

    Raises:
        argparse.ArgumentTypeError: It holds something else, which would be damaged or removed.
    """
    cache = Path(text).resolve()
    if cache.is_dir() and any(cache.iterdir()) and not (cache / MARK).exists():
        raise argparse.ArgumentTypeError(f"{cache} holds something else; name a new folder")
    cache.mkdir(parents=True, exist_ok=True)
    (cache / MARK).touch()
    return cache


class Tool:
    """The command with its own cache and store."""

    def __init__(self, folder: Path, cache: Path, limit_seconds: float) -> None:
        """Write the study that it runs; no command may take longer than `limit_seconds`."""
        self.limit_seconds = limit_seconds
        self.folder, self.cache = folder, cache
        (folder / "study.toml").write_text(STUDY)
        own = {
            "HARDCOST_CACHE": str(self.cache),
            "HARDCOST_STORE": str(folder / "runs.sqlite"),
        }
        kinds.install()  # the machine `fake`, in what is started
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
        """Run it to its end; return its status and output."""
        process = self.start(*words)
        try:
            out, err = process.communicate(timeout=self.limit_seconds)
        finally:
            process.kill()  # where it hangs
        return process.returncode, out, err


def numbers(out: str) -> str:
    """Return the numbers in the output of a run of the study."""
    return out[out.find('"cells"') : out.find('"notes"')]
