"""A study must find no cost of changes without effect, and must find that of a quiet rule.

Run by hand: `python -m bench.accuracy.study_chance [--number 45] [--store FILE]`. It runs one study
on the machine `vm`: a baseline with one audit rule, then as many configurations that differ from it
by the rule's key, by settings that no call reads, or by boot words that mean nothing; and one with
a further rule that names none of the calls. It counts the pairs (configuration, metric) that are
shown as a difference, and the calls on which the further rule is not shown; both should be 0.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from hardcost.host.process import run
from hardcost.workloads import syscalls

_SETTINGS = (
    ("vm.swappiness", 10),
    ("vm.dirty_ratio", 15),
    ("kernel.panic", 1),
    ("net.core.somaxconn", 200),
    ("fs.inotify.max_user_watches", 9000),
    ("vm.laptop_mode", 0),
)
_RULE = "-a always,exit -F arch=b64 -S swapon -F uid={} -k {}"
_BASE = _RULE.format(70_001, "base")


def main() -> None:
    """Measure and print; status 1 if something was shown that is nothing, or missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=45, help="configurations without effect")
    parser.add_argument("--store", type=Path, help="where trials are kept")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder) / "chance.toml"
        study.write_text(_study(chosen.number))
        store = chosen.store or Path(folder) / "runs.db"
        words = ["hardcost", "run", str(study), "--store", str(store), "--format", "json"]
        words += ["--report", str(Path(folder) / "chance.html")]
        said = run(words, remedy="make setup", limit_seconds=7200)
    sys.exit(_shown(json.loads(said)["cells"]))


def _study(number: int) -> str:
    parts = ['workloads = ["syscalls"]', 'baseline = "base"']
    parts.append(_configuration("base", _BASE))
    parts.append(_configuration("quiet", _BASE, _RULE.format(70_002, "q")))
    for at in range(number):
        kind = ("key", "sysctl", "boot")[at % 3]
        name, nth = f"{kind}-{at}", at // 3
        if kind == "key":
            parts.append(_configuration(name, _RULE.format(70_001, "k" * (1 + 2 * nth % 30))))
        elif kind == "sysctl":
            some = [_SETTINGS[(nth + more) % len(_SETTINGS)] for more in range(1 + nth % 3)]
            own = ", ".join(f'"{key}" = "{first + nth}"' for key, first in some)
            parts.append(_configuration(name, _BASE) + f"sysctl = {{ {own} }}\n")
        else:
            words = [f"loglevel={4 + nth % 4}", f"panic={10 + nth % 5}"][: 1 + nth % 2]
            parts.append(_configuration(name, _BASE) + f"boot = {json.dumps(words)}\n")
    return "\n".join(parts)


def _configuration(name: str, *rules: str) -> str:
    return f'\n[[configuration]]\nname = "{name}"\naudit.rules = {json.dumps(rules)}\n'


def _shown(cells: list[dict[str, Any]]) -> int:
    """Print what was shown that is nothing, and what was missed; return how many."""
    asked, shown, missed = 0, 0, []
    for cell in cells:
        low, high, name = cell["ratio_low"], cell["ratio_high"], cell["configuration"]
        is_shown = not low <= 1 <= high
        if name == "quiet":
            silent = cell["metric"] == "page-fault"  # makes no system call
            if not is_shown and not silent and not syscalls.calls()[cell["metric"]].moves:
                missed.append(cell["metric"])
        elif name != "base":
            asked += 1
            shown += is_shown
            if is_shown:
                print(name, cell["metric"], cell["difference"], cell.get("least", 0))
    print(f"{shown} of {asked} pairs without effect are shown as a difference")
    print(f"a rule of 19 instructions is missed on {missed or 'no call that does not move'}")
    return int(bool(shown or missed))


if __name__ == "__main__":
    main()
