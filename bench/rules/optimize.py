"""The optimiser on published rule sets: `python bench/rule_optimize.py [FOLDER …]`.

For each set and each of plain, --no-b32 and --allow-never-first: how many rules every call walks
before, after and at least, and the cost of calls, predicted and (with --measure) measured in a
guest. The sets are the sample files of Debian's audit package, RHEL 9's STIG, CIS and OSPP from
Debian's SCAP content, the reduced STIG set of the catalogue, and the files of any FOLDER. Status 1
if a set is not proved equal, or its mean cost is more than 10 % above the least.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hardcost.auditrules import parse
from hardcost.auditrules.cost.constants import Constants
from hardcost.auditrules.cost.histogram import general
from hardcost.auditrules.loading import load_rules
from hardcost.auditrules.optimize.optimise import Options, optimise
from hardcost.auditrules.optimize.output import rule_text
from hardcost.auditrules.optimize.savings import Savings
from hardcost.auditrules.rule import RulesError
from hardcost.auditrules.tables import lookup
from hardcost.calibration import guestlevels
from hardcost.calibration.guestlevels import Often, Watched
from hardcost.cli.rules.common import NOWHERE
from hardcost.controls import watchedpaths
from hardcost.errors import InputError
from hardcost.machines.cache import Cache
from hardcost.machines.debianpackages import sample_rules, unpacked
from hardcost.machines.qemu.argv import Hardware
from hardcost.machines.qemu.vm import VirtualMachine
from hardcost.profiles import catalogue as profile_catalogue
from hardcost.profiles.importers import scap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hardcost.auditrules.kernelrule import KernelRule
    from hardcost.auditrules.rule import RuleSet

MODES = {
    "plain": Options(thorough=True),
    "no-b32": Options(b32=False, thorough=True),
    "never-first": Options(never_first=True, thorough=True),
}
CALLS = {
    "null": "getppid", "read": "read", "write": "write", "stat": "newfstatat", "fstat": "fstat",
    "open": "openat", "access": "access", "lseek": "lseek", "mmap": "mmap", "exec": "execve",
}  # fmt: skip
MEASURED = ("null", "read", "write", "stat", "fstat", "access", "lseek")
"""Operations that are one call each."""

BASELINE = "/etc/nothing-looks-here"
LIMIT_SECONDS = 600.0
NEAR = 1.1


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


def show(published: Published, mode: str, options: Options, *, measure: bool) -> bool:
    """Print the result for one set, and say whether it is as good as it should be."""
    constants = Constants.of_debian()
    made = optimise(published.rules, constants, general(), options)
    report = Savings(made, constants, general())
    before, after = report.walked
    mean = report.mean
    print(
        f"\n{published.name}, {mode}: {len(made.original)} rules, now {len(made.rules)}; walked"
        f" {before}, now {after}, at least {len(report.bounds.needs.everywhere)};"
        f" {'proved equal' if made.proof.equal else 'NOT PROVED'}; {len(made.dearer)} calls dearer,"
        f" {len(report.far)} of {len(report.by_call)} not within 10 % of the least"
    )
    levels = {}
    if measure:
        try:
            levels = asyncio.run(measured(published, made.rules))
        except InputError as error:
            print(f"  not measured: {str(error).splitlines()[0]}")
    print(f"  {'call':10}{'before':>9}{'after':>9}{'least':>9}{'ratio':>9}  measured")
    for operation, call in CALLS.items():
        one = report.by_call["b64", lookup.calls("b64")[call]]
        ratio = f"{one.after / one.least:.2f}" if one.least else "-"
        seen = levels.get(operation)
        shown = f"  {seen[0]:9,.0f}{seen[1]:9,.0f}" if seen else ""
        print(
            f"  {operation:10}{one.before:9,.0f}{one.after:9,.0f}{one.least:9,.0f}{ratio:>9}{shown}"
        )
    print(f"  {'mean':10}{mean.before:9,.1f}{mean.after:9,.1f}{mean.least:9,.1f}", flush=True)
    return bool(made.proof.equal) and mean.after <= (mean.least or 0.0) * NEAR + 1


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
    wanted = [guestlevels.Wanted(lines, often) for lines in texts]
    machine = VirtualMachine(Cache(), Hardware("icount"))
    found = await guestlevels.measure(machine, wanted, published.watched, LIMIT_SECONDS)
    base, before, after = found.levels
    return {
        name: (before[name][0] - base[name][0], after[name][0] - base[name][0]) for name in MEASURED
    }


def sets(folders: list[Path]) -> Iterator[Published]:
    """Yield the published sets that contain rules."""
    samples = sample_rules(Cache())
    catalogue = Path(profile_catalogue.__file__).parent / "catalogue" / "stig-reduced.rules"
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
    content = unpacked(Cache(), "ssg-nondebian") / "usr/share/xml/scap/ssg/content/ssg-rhel9-ds.xml"
    for profile in ("stig", "cis", "ospp"):
        yield published_of(f"RHEL 9 {profile}", scap.rule_set([content], profile))


def published_of(name: str, written: RuleSet) -> Published:
    """Return a set without what the kernel would refuse."""
    kept = load_rules(written.rules, NOWHERE.likely_target(written.rules)).rules
    directories, paths = watchedpaths.paths(written.rules)
    return Published(name, kept, Watched(directories, (*paths, BASELINE)))


if __name__ == "__main__":
    sys.exit(main())
