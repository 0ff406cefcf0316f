"""Published rule sets and their optimised versions in a kernel: `python -m bench.rules.battery`.

Each set's paths are replaced by files of the battery, so that calls reach them. Then auditctl loads
the set and its optimised versions (plain, and with --no-b32) in one guest, and all calls of the
battery are made under each. Prints for each pair how many calls were recorded, the refused lines,
and the differences; calls by the 32-bit gate are left out for --no-b32. Status 1 if auditctl
refuses a line of an optimised set that it did not refuse before, or if any record differs.
"""

from __future__ import annotations

import sys

# Conformance is no package that could be installed.
from collections.abc import Sequence
from dataclasses import replace

from auditrules.auditctl.write import text_of
from auditrules.cost.constants import Constants
from auditrules.cost.histogram import general
from auditrules.model.kernel_lists import accepted_rules
from auditrules.model.kernel_rule import Condition, FieldTest, KernelRule
from auditrules.optimize.optimize import OptimizeOptions, optimise
from bench.rules.optimize import sets
from conformance.battery import run_battery
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.supply.cache.cache import Cache

FILES = tuple(f"/field/f{number}" for number in range(1, 9))
PLACES = {
    "path": (*FILES, "/field/held", "/field/dir/a", "/field/dir/b", "/field/secret/s"),
    "dir": ("/field/dir", "/field/theirs", "/field/secret", "/yard/dir", "/field/sticky"),
}
MODES = {
    "plain": OptimizeOptions(thorough=True),
    "no-b32": OptimizeOptions(b32=False, thorough=True),
}


def main() -> int:
    """Print the comparison, and return the exit status."""
    pairs: list[tuple[str, str, str]] = []
    for published in sets([]):
        rules = without_duplicates(placed(published.rules))
        for mode, options in MODES.items():
            made = optimise(rules, Constants.of_debian(), general(), options)
            proved = "proved" if made.proof.equal else "NOT PROVED"
            name = f"{published.name}, {mode}, {proved}"
            pairs.append((name, text(rules), text(made.rules)))
    texts = [one for _, *pair in pairs for one in pair]
    battery = run_battery(VirtualMachine(Cache(), Hardware("tcg")), texts)
    good = True
    for number, (name, _, _) in enumerate(pairs):
        before, after = battery.sets[2 * number : 2 * number + 2]
        left_out = before.unsteady | after.unsteady
        if "no-b32" in name:
            left_out |= {at for at, event in enumerate(battery.events) if event.arch == "b32"}
        kept = [
            {at: key for at, key in one.recorded.items() if at not in left_out}
            for one in (before, after)
        ]
        calls = kept[0].keys() | kept[1].keys()
        differ = sum(kept[0].get(at) != kept[1].get(at) for at in calls)
        refused = len(before.refused), len(after.refused)
        print(
            f"{name}: {len(battery.events) - len(left_out)} calls, {len(kept[0])} recorded under"
            f" {len(set(kept[0].values()))} keys, {differ} differ; refused lines {refused[0]} and"
            f" {refused[1]}"
        )
        good &= not differ and (refused[0] > 0 or not refused[1])
    said = "the same" if good else "NOT the same"
    print(f"{len(pairs)} pairs of sets, {len(texts) * len(battery.events):,} calls: {said}")
    return int(not good)


def placed(rules: Sequence[KernelRule]) -> list[KernelRule]:
    """Return the rules with the paths that they watch replaced by files of the battery."""
    led: dict[tuple[str, str], str] = {}

    def leads(condition: Condition) -> Condition:
        if not isinstance(condition, FieldTest) or condition.field not in PLACES:
            return condition
        places = PLACES[condition.field]
        known = (condition.field, str(condition.value))
        number = sum(field == condition.field for field, _ in led)
        led.setdefault(known, places[number % len(places)])
        return replace(condition, value=led[known])

    return [replace(rule, conditions=tuple(map(leads, rule.conditions))) for rule in rules]


def without_duplicates(rules: Sequence[KernelRule]) -> tuple[KernelRule, ...]:
    """Return the rules without those that say the same as an earlier one."""
    return tuple(rules[index] for index in accepted_rules(rules))


def text(rules: Sequence[KernelRule]) -> str:
    """Return the rules as a file."""
    return "".join(f"{text_of(rule)}\n" for rule in rules)


if __name__ == "__main__":
    sys.exit(main())
