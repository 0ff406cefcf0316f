"""Random sets and real calls, compared: so many cases, in as many boots as that takes."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from conformance.agreement import Agreement, compare
from conformance.battery import Battery, WantedRules, run_battery
from conformance.exclusions import Excluding
from conformance.random_rules import RuleDrawing
from conformance.repertoire import CALLS
from hardcost.machines.machine import Machine
from hardcost.protocol.boot import Boot

CALLS_A_SET = 60
SETS_A_BOOT = 200

EXERCISED = (
    "recorded", "decided by never", "decided in a bucket", "decided by a later name",
    "bucket over list", "key inherited", "decided by a prepended rule", "decided with several keys",
    "raised elsewhere", "raised and suppressed", "with a file system rule",
    "with an outranked rule", "arch b32", "decided without arch", "decided with arch=",
    "decided with arch!=",
    "decided with -C", "decided with dir", "decided with path", "decided with inode=",
    "decided with inode!=", "decided with exe=", "decided with exe!=", "decided with perm",
    "decided with exit", "decided with success", "decided with filetype", "decided with obj_uid",
    "decided with obj_gid", "decided with devmajor", "decided with devminor", "decided with a0",
    "decided with a1", "decided with a2", "decided with a3", "decided with pers",
    "decided with ppid", "decided with pid", "decided with sessionid", "decided with loginuid_set",
    "decided with auid", "decided with uid", "decided with euid", "decided with suid",
    "decided with fsuid", "decided with gid", "decided with egid", "decided with sgid",
    "decided with fsgid", "decided with saddr_fam", "decided with subj_role", "lines refused",
    "rules deleted",
)  # fmt: skip
"""What a battery has to exercise to be worth its while."""


@dataclass(frozen=True)
class BootResult:
    """One boot's part: the sets that were tried, what came, and how it compares."""

    sets: tuple[WantedRules, ...]
    battery: Battery
    comparison: Agreement


def boots(
    machine: Machine,
    cases: int,
    seed: int,
    state: Boot = Boot(),  # noqa: B008  (frozen)
) -> Iterator[BootResult]:
    """Yield boot after boot until at least so many cases were compared.

    Raises:
        TrialError: A guest did not do its job.
    """
    return (only for (only,) in on_each(((machine, state),), cases, seed))


def on_each(
    guests: Sequence[tuple[Machine, Boot]], cases: int, seed: int, *, listed: bool = False
) -> Iterator[tuple[BootResult, ...]]:
    """Yield boot after boot of each guest, with the same sets, until so many cases were compared.

    The sets are aimed at what the calls do in the first guest, whose cases are counted. `listed`
    has the rules listed as each kernel then holds them.

    Raises:
        TrialError: A guest did not do its job.
    """
    # What the calls do is known before sets are aimed at them.
    known = run_battery(guests[0][0], (), boot=guests[0][1])
    drawing = RuleDrawing(random.Random(seed), known.events)  # noqa: S311  (no secret)
    compared = drawn = 0
    while compared < cases:
        wanted = min(SETS_A_BOOT, -(-(cases - compared) // CALLS_A_SET))
        sets = tuple(
            replace(drawing.rule_set(CALLS_A_SET, drawn + index), listed=listed)
            for index in range(wanted)
        )
        drawn += wanted
        batteries = [run_battery(machine, sets, boot=state) for machine, state in guests]
        parts = tuple(BootResult(sets, one, compare(one, sets, CALLS)) for one in batteries)
        compared += parts[0].comparison.counts["cases"]
        yield parts


def total(parts: Iterator[BootResult]) -> Agreement:
    """Return all boots' comparisons together."""
    return sum((part.comparison for part in parts), Agreement(Counter(), ()))


def excluding(machine: Machine, sets: int, calls: int, seed: int) -> BootResult:
    """Return one boot's comparison of sets with exclude filters, record by record.

    Raises:
        TrialError: The guest did not do its job.
    """
    known = run_battery(machine, ())
    drawing = Excluding(RuleDrawing(random.Random(seed), known.events))  # noqa: S311  (no secret)
    drawn = tuple(drawing.rule_set(calls, index) for index in range(sets))
    battery = run_battery(machine, drawn)
    return BootResult(drawn, battery, compare(battery, drawn, CALLS))
