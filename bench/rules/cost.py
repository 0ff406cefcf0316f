"""Predicted and measured cost of audit rules: `python -m bench.rules.cost [FILE …]`.

Each FILE is one rule set. Without any, the sets are the sample files of Debian's audit package, the
catalogue's rules, and the RHEL 9 profiles STIG, CIS and OSPP of ssg-nondebian. Prints for each set
and operation of the workload `syscalls` the predicted cost, the measured one (with the rules, less
audit without rules) in instructions per operation, and the error of the prediction. Status 1 if an
error exceeds both 3 % of the measured cost and the uncertainty of the measurement: `fork` and
`exec` vary from process to process, and the figure after ± is twice the standard error of their
mean.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from importlib import resources
from itertools import chain
from pathlib import Path

import hardcost.profiles.importers.scap.rules
from auditrules.cost.constants import Constants
from auditrules.cost.measurement import OperationCost
from auditrules.load.load import load_rules
from auditrules.load.target import NOWHERE
from auditrules.model.fault import RulesError
from auditrules.model.kernel_rule import KernelRule
from auditrules.model.rule import RuleSet
from auditrules.read.parse import read
from bench.rules.sample_rules import sample_rules
from hardcost.calibration import check, kernel_constants
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.supply.cache.cache import Cache
from hardcost.supply.packages.debian import package_root

ALLOWED = 0.03
STREAM = "usr/share/xml/scap/ssg/content/ssg-rhel9-ds.xml"
LIMIT_SECONDS = 600.0
LEAST = 20.0  # instructions per operation; smaller differences are not shown


def main() -> int:
    """Measure, print, and return the exit status."""
    files = [Path(name) for name in sys.argv[1:]]
    machine = VirtualMachine(Cache(), Hardware("icount"))
    constants = kernel_constants.kept_constants(machine, Cache()) or Constants.of_debian()
    about = constants.about
    print(f"Linux {about['kernel']}, QEMU {about['qemu']}, constants of {about['date']}")
    print("insn/op; predicted, and measured with the rules less audit without rules")
    baseline = asyncio.run(check.levels_without_rules(machine, LIMIT_SECONDS))
    worst: list[tuple[str, OperationCost]] = []
    for name, rule_set in chain(of_files(files or standard()), () if files else of_profiles()):
        rules = loadable(name, rule_set)
        if not rules:
            continue
        rows = asyncio.run(check.compare(machine, constants, rules, baseline, LIMIT_SECONDS))
        print(f"\n{name}: {len(rules)} rules")
        for row in rows:
            print(line_of(row), flush=True)
        worst += [(name, row) for row in rows]
    return summary(worst)


def standard() -> list[Path]:
    """Return the audit package's sample files, and the catalogue's rules."""
    own = Path(str(resources.files("hardcost.profiles") / "catalogue"))
    return sorted(sample_rules(Cache()).glob("*.rules")) + sorted(own.glob("*.rules"))


def of_files(files: list[Path]) -> Iterator[tuple[str, RuleSet]]:
    """Yield each file's rules; files without rules are reported."""
    for file in files:
        try:
            yield file.name, read([file])
        except RulesError as error:
            print(f"\n{file.name}: left out: {error}")


def of_profiles() -> Iterator[tuple[str, RuleSet]]:
    """Yield the rules of the RHEL 9 profiles."""
    stream = package_root("ssg-nondebian") / STREAM
    for profile in ("stig", "cis", "ospp"):
        yield f"rhel9-{profile}", hardcost.profiles.importers.scap.rules.rule_set([stream], profile)


def loadable(name: str, rule_set: RuleSet) -> tuple[KernelRule, ...]:
    """Return the rules without those that the guest can't load, which are printed."""
    found = load_rules(rule_set.rules, NOWHERE.likely_target(rule_set.rules))
    for line in found.failing:
        if line.fault is not None:
            print(f"\n{name}: left out: {line.fault}")
    kept = tuple(rule for rule in found.rules if resolved(rule))
    left_out = len(found.twice) + len(found.rules) - len(kept)
    if left_out:
        print(f"\n{name}: {left_out} rules left out: twice there, or of unknown users")
    return kept


def resolved(rule: KernelRule) -> bool:
    """Say whether all users and groups of a rule are known, and no label is asked for."""
    free = {"path", "dir", "exe"}
    return not any(
        isinstance(getattr(condition, "value", 0), str) and condition.field not in free
        for condition in rule.conditions
        if hasattr(condition, "field")
    )


def line_of(row: OperationCost) -> str:
    """Return a line on an operation."""
    spread = f"±{row.spread:.0f}" if row.spread else ""
    off = f"{row.off:+.1%}" if abs(row.measured) >= LEAST else ""
    mark = "" if within(row) else "  <-- off"
    numbers = f"{row.predicted:10,.1f} {row.measured:10,.1f} {spread:6} {off:>8}"
    return f"  {row.operation:15} {numbers}{mark}"


def within(row: OperationCost) -> bool:
    """Say whether a prediction is as close as required, or as the measurement can show."""
    apart = abs(row.predicted - row.measured)
    return apart <= max(ALLOWED * abs(row.measured), row.spread, LEAST)


def summary(rows: list[tuple[str, OperationCost]]) -> int:
    """Print the distribution of errors and the worst; return the exit status."""
    told_apart = [(name, row) for name, row in rows if abs(row.measured) >= LEAST]
    exact = [entry for entry in told_apart if not entry[1].spread]
    near = sum(abs(row.off) <= ALLOWED for _, row in told_apart)
    print(
        f"\n{near} of {len(told_apart)} predictions are within {ALLOWED:.0%} of the measured cost"
    )
    for what, group in (("", told_apart), (" without fork and exec", exact)):
        if group:
            name, row = max(group, key=lambda entry: abs(entry[1].off))
            print(f"worst{what}: {row.operation} under {name}, {row.off:+.1%}")
    off = [(name, row) for name, row in rows if not within(row)]
    for name, row in off:
        print(f"off by more than the measurement leaves open: {row.operation} under {name}")
    return int(bool(off))


if __name__ == "__main__":
    sys.exit(main())
