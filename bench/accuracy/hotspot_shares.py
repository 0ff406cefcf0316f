"""Shares of processes in a copy under the whole STIG: by hotspots, and by the recorder `cpu`.

    python -m bench.accuracy.hotspot_shares [--hardcost COMMAND] [PROFILE.json RUN.json]

It counts a copy by function, and runs the same copy with the recorder; or it reads what these two
printed. A row for each process: its share of the processor in both, in per cent, and the
difference. It exits with 1 if one differs by more than a point.

The two count other things, which are evened out first. Hotspots know threads by their names,
the recorder processes: threads are added to the process that they are of. The recorder takes
processor time, too, as `hardcost-probe`, which the guest that counts by function does not spend:
that is left out.
"""

from __future__ import annotations

import argparse
import json
import subprocess  # noqa: TID251  (it runs the command as a user does)
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

PROFILE, WORKLOAD = "stig-full", "filecopy concurrency=1"
STUDY = f"""\
title = "One copy, recorded"
workloads = ["{WORKLOAD}"]
baseline = "none"
record = ["cpu"]
perturbations = 1
[[configuration]]
name = "none"
[[configuration]]
name = "{PROFILE}"
profile = "{PROFILE}"
"""
THREADS = {
    "in:imuxsock": "rsyslogd",
    "rs:main Q:Reg": "rsyslogd",
    "clamonacc-": "clamonacc",
    "thread-pool-": "clamonacc",
    "jbd2/": "jbd2",
    "kworker/": "kworker",
    "ksoftirqd/": "ksoftirqd",
}
"""How names of threads begin, and the process that each is of."""
OWN = ("hardcost-probe", "measured", "[clock]", "idle", "user", "system")
"""What is hardcost's own, and what is no process."""
SMALL = 0.1  # per cent of the processor in both: no row
WITHIN = 1.0  # points

Shares = dict[str, float]


def main() -> int:
    """Print the table, and return the exit status."""
    parser = argparse.ArgumentParser(description="Shares of the processor: hotspots and recorder.")
    parser.add_argument("--hardcost", default="hardcost", help="the command")
    parser.add_argument("files", nargs="*", type=Path, help="what the two commands printed")
    chosen = parser.parse_args()
    if chosen.files:
        profile, run = (json.loads(path.read_text(encoding="utf-8")) for path in chosen.files)
    else:
        profile, run = _measured(chosen.hardcost)
    ours, recorded = profiled(profile), observed(run)
    names = sorted({*ours, *recorded}, key=lambda name: -ours.get(name, 0.0))
    rows = [(name, ours.get(name, 0.0), recorded.get(name, 0.0)) for name in names]
    print("| process | hotspots | recorder | difference |")
    print("| --- | ---: | ---: | ---: |")
    for name, one, other in rows:
        if max(one, other) >= SMALL:
            print(f"| `{name}` | {one:.2f} % | {other:.2f} % | {one - other:+.2f} |")
    return int(max(abs(one - other) for _, one, other in rows) > WITHIN)


def _measured(command: str) -> tuple[Any, Any]:
    """Return what hotspots and a recorded run print."""
    words = [command, "hotspots", PROFILE, "--workload", WORKLOAD, "--repetitions", "1"]
    profile = _said(words)
    with tempfile.TemporaryDirectory() as name:
        study = Path(name) / "one.toml"
        study.write_text(STUDY, encoding="utf-8")
        return profile, _said([command, "run", str(study)])


def _said(words: list[str]) -> Any:  # noqa: ANN401  (JSON)
    words = [*words, "--fresh", "--format", "json", "--progress", "none"]
    done = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603
    return json.loads(done.stdout)


def profiled(profile: Any) -> Shares:  # noqa: ANN401  (JSON)
    """Return the shares of the copy and the removal, by hotspots."""
    (wall,) = (one for one in profile["hotspots"] if one["metric"] == "wall")
    return _shares({one["name"]: one["after"] for one in wall["processes"]})


def observed(run: Any) -> Shares:  # noqa: ANN401  (JSON)
    """Return the same by what the recorder saw, rows divided where a step begins or ends."""
    (seen,) = (one for one in run["observed"] if one["configuration"] == PROFILE)
    steps = [(step["begin"], step["end"]) for step in seen["steps"] if step["measured"]]
    rows = list(zip((0.0, *seen["times"]), seen["times"], strict=False))
    parts = [
        sum(max(0.0, min(end, to) - max(begin, since)) for begin, end in steps) / (to - since)
        for since, to in rows
    ]
    series = seen["series"].items()
    return _shares(
        {name: sum(a * b for a, b in zip(had, parts, strict=True)) for name, had in series}
    )


def _shares(had: dict[str, float]) -> Shares:
    """Return each process's share, in per cent of what all but hardcost had."""
    sums: dict[str, float] = defaultdict(float)
    for name, much in had.items():
        if name not in OWN:
            of = next((one for start, one in THREADS.items() if name.startswith(start)), name)
            sums[of] += much
    whole = sum(sums.values())
    return {name: 100 * much / whole for name, much in sums.items()}


if __name__ == "__main__":
    sys.exit(main())
