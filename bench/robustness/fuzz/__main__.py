"""Fuzz everything that reads what users hand over, without end.

    python -m bench.robustness.fuzz                   # ten seconds of processor time each
    nice -n 19 python -m bench.robustness.fuzz --target study --seconds 600 --seed 7
    python -m bench.robustness.fuzz --target study --input build/fuzz/study/0123.input   # one again

It finds tracebacks, inputs that take more than 10 s of processor time or 1 GiB of memory, and
errors of another kind than bad input has. `--list` names the targets.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bench.robustness.fuzz.campaign import fuzz, tried
from bench.robustness.fuzz.targets import TARGETS


def main() -> None:
    """Run targets, print how many inputs each took, and what was found."""
    parser = argparse.ArgumentParser(prog="bench.fuzz", description="Fuzz what reads users' files.")
    parser.add_argument("--target", action="append", choices=sorted(TARGETS))
    parser.add_argument("--seconds", type=float, default=10.0, help="processor time of each target")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--input", type=Path, help="run one target on this file only")
    parser.add_argument("--findings", type=Path, default=Path("build/fuzz"))
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    names = options.target or sorted(TARGETS)
    if options.list:
        print("\n".join(sorted(TARGETS)))
        return
    if options.input is not None:
        _again(names[0], options.input)
        return
    print(f"{'target':12}{'inputs':>10}{'a second':>10}{'peak MiB':>10}{'findings':>10}")
    wrong = 0
    for name in names:
        result = fuzz(TARGETS[name], options.seed, options.seconds, options.findings / name)
        rate = result.executions / max(result.seconds, 0.001)
        print(
            f"{name:12}{result.executions:>10,}{rate:>10.0f}{result.peak_bytes >> 20:>10,}"
            f"{len(result.findings):>10}",
            flush=True,
        )
        for what, file in result.findings.items():
            print(f"  {what}\n    {file}", flush=True)
        wrong += len(result.findings)
    sys.exit(1 if wrong else 0)


def _again(name: str, file: Path) -> None:
    found = tried(TARGETS[name], file.read_bytes())
    print("nothing wrong" if found is None else found[1])
    sys.exit(found is not None)


main()
