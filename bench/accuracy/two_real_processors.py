"""Audit on two processors: real time on this machine beside parallel instructions in a guest.

Run as root, `python -m bench.accuracy.two_real_processors [--rounds 3000] [--repetitions 9]`, on a
quiet machine that has two processors and no other users: it loads an audit rule, and takes it out
again. One process makes, writes and removes files, then two do so at once, with the rule and
without it. The probe is the audit daemon on both, so the same programs wait for each other.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import hardcost
from conformance.program import built
from hardcost.instruments.parallel import PARALLEL
from hardcost.instruments.time import TIME
from hardcost.library.measurement import Measuring, workloads_of
from hardcost.machines.options import MachineOptions

_STUDY = """
workloads = ["command file={program} args=files+1+{rounds}"]
baseline = "none"
perturbations = 1
[[configuration]]
name = "none"
[[configuration]]
name = "audit"
audit.rules = ["-a always,exit -F arch=b64 -S open,openat,creat,unlink -F auid=1000 -k files"]
"""
_COPIES = (1, 2)


def main() -> None:
    """Print a row for each number of processes."""
    words = argparse.ArgumentParser(description="Audit on two processors.")
    words.add_argument("--rounds", type=int, default=3000)
    words.add_argument("--repetitions", type=int, default=9)
    chosen = words.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = shutil.copy(built("hardcost-contention"), Path(folder) / "contention")
        study = Path(folder) / "files.toml"
        study.write_text(_STUDY.format(program=program, rounds=chosen.rounds))
        store = Path(folder) / "runs.sqlite"
        texts = [f"command file={program} args=files+{one}+{chosen.rounds}" for one in _COPIES]
        real = Measuring(
            machine="host",
            instrument=TIME.name,
            workloads=workloads_of(",".join(texts), TIME.name),
            repetitions=chosen.repetitions,
            wanted=MachineOptions(yes=True),
            store=store,
        )
        emulated = Measuring(
            instrument=PARALLEL.name,
            workloads=workloads_of(",".join(texts), PARALLEL.name),
            wanted=MachineOptions(processors=2),
            store=store,
        )
        print("| processes | | none | audit | penalty |\n| ---: | --- | ---: | ---: | ---: |")
        for how in (real, emulated):
            found = hardcost.run(hardcost.RunRequest(study, how=how))
            for number, row in zip(_COPIES, _rows(found, how.workloads or ()), strict=True):
                print(f"| {number} | {row}", flush=True)


def _rows(found: hardcost.StudyFinding, workloads: Sequence[object]) -> list[str]:
    rows = []
    for workload in workloads:
        none, audit = (
            next(
                cell
                for cell in found.cells
                if cell.workload == workload and str(cell.configuration) == name
            )
            for name in ("none", "audit")
        )
        rows.append(
            f"{none.unit} | {none.value:,.0f} | {audit.value:,.0f} | x{audit.ratio:.2f}"
            f" ({audit.ratio_low:.2f} to {audit.ratio_high:.2f}) |"
        )
    return rows


if __name__ == "__main__":
    main()
