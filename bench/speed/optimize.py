"""How long the optimiser takes: `python -m bench.speed.optimize [--sizes 1,50,150,500]`.

Processor seconds for reading a set, the search for a cheaper one, and the proof, for sets
of `published_kind` and the audit package's own STIG rules. With `--rules 3000`, for that many of
`mixed_rules` instead.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
import time
from pathlib import Path

from auditrules.cost.constants import Constants
from auditrules.cost.histogram import general
from auditrules.load.load import load_rules
from auditrules.load.target import NOWHERE
from auditrules.optimize.optimize import OptimizeOptions, optimise
from auditrules.prove.prove import prove_equal
from auditrules.read import parse
from bench.rules.published_kind import text
from bench.rules.sample_rules import sample_rules
from bench.speed.mixed_rules import mixed_rules
from hardcost.supply.cache.cache import Cache

_STIG = "30-stig.rules"
_SEED = 1


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1,50,150,500", help="numbers of rules, with commas")
    parser.add_argument("--rules", type=int, help="number of mixed rules, instead of those sets")
    arguments = parser.parse_args()
    names = ("set", "rules", "now", "read", "search", "proof")
    print("".join(f"{name:>15}" if at else f"{name:12}" for at, name in enumerate(names)))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "x.rules"
        if arguments.rules:
            file.write_text("".join(f"{line}\n" for line in mixed_rules(arguments.rules, _SEED)))
            show("mixed", file)
            return 0
        for size in map(int, arguments.sizes.split(",")):
            file.write_text(text(size))
            show("generated", file)
    show("30-stig", sample_rules(Cache()) / _STIG)
    return 0


def show(name: str, file: Path) -> None:
    """Print a line of the table."""
    constants, times = Constants.of_debian(), [time.process_time()]
    written = parse.read([file])
    rules = load_rules(written.rules, NOWHERE.likely_target(written.rules)).rules
    times.append(time.process_time())
    made = optimise(rules, constants, general(), OptimizeOptions(thorough=True))
    times.append(time.process_time())
    prove_equal(
        made.original, made.rules, made.options.relation
    )  # once more: the search has proved it among much else
    times.append(time.process_time())
    read, both, proof = (end - start for start, end in itertools.pairwise(times))
    seconds = "".join(f"{one:15.2f}" for one in (read, both - proof, proof))
    print(f"{name:12}{len(rules):15}{len(made.rules):15}{seconds}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
