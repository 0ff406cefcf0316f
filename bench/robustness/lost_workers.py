"""A study on three workers of this host: one is killed during a build, one during a trial.

Run by hand: `python -m bench.robustness.lost_workers [--study audit-rules] [--tls]`. It measures
the study without workers, with the user's own cache, and then with them: `stays` runs guests and
builds kernels, `builds` builds only, `runs` runs guests only. The host of the run begins without
kernels. `builds` gets SIGKILL as it compiles a kernel, `runs` as it has a guest. It prints whether
cells are the same byte for byte, whether kernels are, and what is left: programs, scratch folders.
Exit status 1 if anything differs or is left.

`--compiled FOLDER` is a cache in which the source lies compiled: the worker `stays` uses it, so
that it compiles only what differs. Without it the kernels are compiled from nothing, which takes
some minutes on a quiet host.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess  # noqa: TID251  (its processes are started by the labs of tests)
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from hardcost.supply.cache.location import default_root
from tests.measure.workers.certificates import authority
from tests.measure.workers.labs import RunningLab
from tests.measure.workers.test_builders import builds
from tests.measure.workers.test_tls import options
from tests.vm.conftest import Command, Outcome

_LIMIT_SECONDS = 4 * 3600.0
_TICK_SECONDS = 0.2
_TRIALS = 3  # that have ended before the worker `runs` is killed
_ADVANCE = '"advance", "name": "trials"'


def main() -> None:
    """Print a line for each fact."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--study", default="audit-rules")
    parser.add_argument("--workload", help="as of `hardcost run`, for a shorter one")
    parser.add_argument("--tls", action="store_true")
    parser.add_argument("--compiled", type=Path)
    words = parser.parse_args()
    run = ["run", words.study, "--format", "json", "--fresh"]
    run += ["--workload", words.workload] * bool(words.workload)
    # Beside the cache, so that its files can be linked.
    with tempfile.TemporaryDirectory(prefix="lost-", dir=default_root().parent) as folder:
        raise SystemExit(0 if compared(run, words, Path(folder)) else 1)


def compared(run: Sequence[str], words: argparse.Namespace, folder: Path) -> bool:
    """Measure with and without workers; say whether all is as it should be."""
    started = time.monotonic()
    here = Command(folder, default_root().absolute(), limit_seconds=_LIMIT_SECONDS)(*run)
    print(f"without workers, kernels cached: {time.monotonic() - started:.0f} s", flush=True)
    submitter = Command(folder, folder / "submitter", limit_seconds=_LIMIT_SECONDS)
    begun_without_kernels(submitter.cache)
    certificates = options(authority(folder, "bench")) if words.tls else []
    with RunningLab(folder, "tls" if words.tls else "tcp", certificates) as lab:
        own = {"HARDCOST_CACHE": str(words.compiled)} if words.compiled else {}
        caches = {"stays": lab.worker("stays", 1, 1, **own)}
        caches["builds"] = lab.worker("builds", 0, 1)
        caches["runs"] = lab.worker("runs", 1, 0)
        started = time.monotonic()
        process = submitter.start(
            *run, "--workers", lab.address, *certificates, "--progress", "json"
        )
        pids = {name: lab.started[name] for name in caches}
        notes = killed(process, lab, caches)
        there = submitter.end(process)
        took = time.monotonic() - started
        print(f"with three workers, of which two are killed: {took:.0f} s", flush=True)
        for note in (*notes, *said(there.err)):
            print(f"  {note}")
        for name in ("builds", "runs"):  # who uses a cache again sweeps it
            lab.worker(name, 1, 1)
        lab.end(*caches)
        left = left_over(caches, pids)
    return reported(here, there, submitter, left)


def begun_without_kernels(cache: Path) -> None:
    """Make a cache that has what the user's own has of sources, packages and guests, linked."""
    cache.mkdir()
    for kind in ("sources", "packages", "guests", "images", "boots"):
        ours = default_root() / kind
        if ours.is_dir():
            shutil.copytree(ours, cache / kind, symlinks=True, copy_function=os.link)


def killed(process: subprocess.Popen[str], lab: RunningLab, caches: dict[str, Path]) -> list[str]:
    """Kill one worker as it builds, and one as it has a guest; return what the run says till then.

    What it says is JSON, an event on a line.
    """
    deadline = time.monotonic() + _LIMIT_SECONDS
    while not (builds(caches["builds"]) and builds(caches["stays"])):
        if process.poll() is not None or time.monotonic() > deadline:
            raise SystemExit(f"no two builds side by side: {process.communicate()}")
        time.sleep(_TICK_SECONDS)
    print("  two kernels are being built side by side; one worker is killed", flush=True)
    lab.kill("builds")
    said_so_far, advanced = [], 0
    for line in process.stderr or ():
        said_so_far.append(line)
        advanced += _ADVANCE in line
        if advanced == _TRIALS:
            break
    Command(caches["runs"], caches["runs"]).await_guest(lab.started["runs"])
    print("  a trial is under way on another; it is killed", flush=True)
    lab.kill("runs")
    return said("".join(said_so_far))


def said(text: str) -> list[str]:
    """Return the notes in what a run says."""
    events = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    return [event["text"] for event in events if event.get("event") == "note"]


def left_over(caches: dict[str, Path], workers: dict[str, subprocess.Popen[str]]) -> list[str]:
    """Return the programs and folders that are left of trials and builds."""
    found = [
        str(pid)
        for name, cache in caches.items()
        for pid in Command(cache, cache).outlived(workers[name])
    ]
    for cache in caches.values():
        found += builds(cache)
        found += map(str, (cache / "scratch").glob("*"))
        found += map(str, cache.glob("*/.*"))
    return found


def reported(here: Outcome, there: Outcome, submitter: Command, left: list[str]) -> bool:
    """Print the outcome; say whether it is as it should be."""
    same = there.status == 0 and there.raw_cells() == here.raw_cells()
    kernels = {}
    for about in sorted((submitter.cache / "kernels").glob("*/about.json")):
        ours = default_root() / "kernels" / about.parent.name / "vmlinux"
        theirs = about.with_name("vmlinux").read_bytes()
        kernels[about.parent.name] = ours.is_file() and ours.read_bytes() == theirs
    print(f"cells are the same, byte for byte: {same} ({len(here.raw_cells())} bytes)")
    print(f"kernels that workers built are those that this host built: {kernels}")
    print(f"left: {left or 'nothing'}")
    if not same:
        print(there.err)
    return same and bool(kernels) and all(kernels.values()) and not left


if __name__ == "__main__":
    main()
