"""How long the optimiser takes: `python bench/optimize_speed.py [--sizes 1,50,150,500]`.

Processor seconds for reading a set, the search for a cheaper one, the proof, and the least, for
sets of `published_kind` and the audit package's own STIG rules. The least is computed without a
time limit unless --least-seconds sets one; the last column shows for how many calls it was found.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
import time
from pathlib import Path

from bench.published_kind import text

from hardcost.auditrules import parse
from hardcost.auditrules.cost.constants import Constants
from hardcost.auditrules.cost.histogram import general
from hardcost.auditrules.loading import load_rules
from hardcost.auditrules.optimize.optimise import Options, optimise
from hardcost.auditrules.optimize.savings import Clock, Savings
from hardcost.auditrules.prove.prove import prove
from hardcost.cli.rules.common import NOWHERE
from hardcost.machines.cache import Cache
from hardcost.machines.debianpackages import sample_rules

_STIG = "30-stig.rules"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1,50,150,500", help="numbers of rules, with commas")
    parser.add_argument("--least-seconds", type=float, help="the limit of the least")
    arguments = parser.parse_args()
    names = ("set", "rules", "now", "read", "search", "proof", "least", "calls with it")
    print("".join(f"{name:>15}" if at else f"{name:12}" for at, name in enumerate(names)))
    with tempfile.TemporaryDirectory() as folder:
        for size in map(int, arguments.sizes.split(",")):
            file = Path(folder) / f"{size}.rules"
            file.write_text(text(size))
            show("generated", file, arguments.least_seconds)
    show("30-stig", sample_rules(Cache()) / _STIG, arguments.least_seconds)
    return 0


def show(name: str, file: Path, least_seconds: float | None) -> None:
    """Print a line of the table."""
    constants, times = Constants.of_debian(), [time.process_time()]
    written = parse.read([file])
    rules = load_rules(written.rules, NOWHERE.likely_target(written.rules)).rules
    times.append(time.process_time())
    made = optimise(rules, constants, general(), Options(thorough=True))
    times.append(time.process_time())
    prove(made.original, made.rules, made.options.relation)  # once more, to tell it from the search
    times.append(time.process_time())
    report = Savings(made, constants, general(), Clock(least_seconds))
    report.work_out()
    times.append(time.process_time())
    read, both, proof, least = (end - start for start, end in itertools.pairwise(times))
    found = f"{report.worked_out} of {len(report.by_call)}"
    seconds = "".join(f"{one:15.2f}" for one in (read, both - proof, proof, least))
    print(f"{name:12}{len(rules):15}{len(made.rules):15}{seconds}{found:>15}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
