"""The optimiser on published rule sets: `python -m bench.rules.optimize [FOLDER …]`.

For each set and each of plain, --no-b32 and --allow-never-first: how many rules every call walks
before and after, and the cost of calls, predicted and (with --measure) measured in a
guest. The sets are the sample files of Debian's audit package, RHEL 9's STIG, CIS and OSPP from
Debian's SCAP content, the reduced STIG set of the catalogue, and the files of any FOLDER. Status 1
if a set is not proved equal.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from auditrules.cost.constants import Constants
from auditrules.cost.histogram import general
from auditrules.load import watched_paths
from auditrules.load.load import load_rules
from auditrules.load.target import NOWHERE
from auditrules.model.fault import RulesError
from auditrules.model.kernel_rule import KernelRule
from auditrules.model.rule import RuleSet
from auditrules.optimize.optimize import OptimizeOptions, optimise
from auditrules.optimize.output import rule_text
from auditrules.read import parse
from auditrules.tables import lookup
from bench.rules.sample_rules import sample_rules
from hardcost.calibration import rule_set_costs
from hardcost.calibration.rule_set_costs import Often, Watched
from hardcost.errors import InputError
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.profiles.catalogue import __file__
from hardcost.profiles.importers.scap.rules import rule_set
from hardcost.supply.cache.cache import Cache
from hardcost.supply.packages.debian import package_folder

MODES = {
    "plain": OptimizeOptions(thorough=True),
    "no-b32": OptimizeOptions(b32=False, thorough=True),
    "never-first": OptimizeOptions(never_first=True, thorough=True),
}
CALLS = {
    "null": "getppid", "read": "read", "write": "write", "stat": "newfstatat", "fstat": "fstat",
    "open": "openat", "access": "access", "lseek": "lseek", "mmap": "mmap", "exec": "execve",
}  # fmt: skip
MEASURED = ("null", "read", "write", "stat", "fstat", "access", "lseek")
"""Operations that are one call each."""

BASELINE = "/etc/nothing-looks-here"
LIMIT_SECONDS = 600.0


@dataclass(frozen=True)
class Published:
    """A rule set, and what its rules watch."""

    name: str
    rules: tuple[KernelRule, ...]
    watched: Watched


def main() -> int:
    """Print the tables, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", action="store_true", help="measure in a guest as well")
    parser.add_argument("--only", default="", help="only sets with this in their name")
    parser.add_argument("folders", nargs="*", type=Path)
    arguments = parser.parse_args()
    good = True
    for published in sets(arguments.folders):
        for mode, options in MODES.items() if arguments.only in published.name else ():
            good &= show(published, mode, options, measure=arguments.measure)
    return int(not good)


def show(published: Published, mode: str, options: OptimizeOptions, *, measure: bool) -> bool:
    """Print the result for one set, and say whether it is proved equal."""
    constants = Constants.of_debian()
    made = optimise(published.rules, constants, general(), options)
    walked = made.walked
    print(
        f"\n{published.name}, {mode}: {len(made.original)} rules, now {len(made.rules)}; walked"
        f" {walked[0]}, now {walked[1]}; {'proved equal' if made.proof.equal else 'NOT PROVED'};"
        f" {len(made.dearer)} of {len(made.after)} calls dearer"
    )
    levels = {}
    if measure:
        try:
            levels = asyncio.run(measured(published, made.rules))
        except InputError as error:
            print(f"  not measured: {str(error).splitlines()[0]}")
    print(f"  {'call':10}{'before':>9}{'after':>9}  measured")
    for operation, call in CALLS.items():
        number = lookup.calls("b64")[call]
        before, after = made.before["b64", number], made.after["b64", number]
        seen = levels.get(operation)
        shown = f"  {seen[0]:9,.0f}{seen[1]:9,.0f}" if seen else ""
        print(f"  {operation:10}{before:9,.0f}{after:9,.0f}{shown}")
    print(f"  {'mean':10}{made.mean.before:9,.1f}{made.mean.after:9,.1f}", flush=True)
    return bool(made.proof.equal)


async def measured(
    published: Published, rules: tuple[KernelRule, ...]
) -> dict[str, tuple[float, float]]:
    """Return the rules' cost before and after by operation, measured."""
    often = dict.fromkeys(MEASURED, Often(9))
    texts = [
        (f"-a always,exit -S 511 -F path={BASELINE} -k baseline",),
        tuple(rule.source.text for rule in published.rules if rule.source),
        tuple(rule_text(replace(rule, source=None)) for rule in rules),
    ]
    wanted = [rule_set_costs.RuleSetRequest(lines, often) for lines in texts]
    machine = VirtualMachine(Cache(), Hardware("icount"))
    found = await rule_set_costs.measure(machine, wanted, published.watched, LIMIT_SECONDS)
    base, before, after = found.levels
    return {
        name: (before[name][0] - base[name][0], after[name][0] - base[name][0]) for name in MEASURED
    }


def sets(folders: list[Path]) -> Iterator[Published]:
    """Yield the published sets that contain rules."""
    samples = sample_rules(Cache())
    catalogue = Path(__file__).parent / "catalogue" / "stig-reduced.rules"
    files = [*sorted(samples.glob("*.rules")), catalogue]
    files += [file for folder in folders for file in sorted(folder.glob("*.rules"))]
    for file in files:
        try:
            written = parse.read([file])
        except RulesError:
            continue  # it contains only settings
        yield published_of(file.name, written)
    yield from rhel()


def rhel() -> Iterator[Published]:
    """Yield the rules of RHEL 9's profiles."""
    content = (
        package_folder(Cache(), "ssg-nondebian") / "usr/share/xml/scap/ssg/content/ssg-rhel9-ds.xml"
    )
    for profile in ("stig", "cis", "ospp"):
        yield published_of(f"RHEL 9 {profile}", rule_set([content], profile))


def published_of(name: str, written: RuleSet) -> Published:
    """Return a set without what the kernel would refuse."""
    kept = load_rules(written.rules, NOWHERE.likely_target(written.rules)).rules
    directories, paths = watched_paths.paths(written.rules)
    return Published(name, kept, Watched(directories, (*paths, BASELINE)))


if __name__ == "__main__":
    sys.exit(main())
