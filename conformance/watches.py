"""Optimised sets beside the original ones, where a watched path is a file, a tree, or missing.

The optimiser knows nothing of the watched paths. The same two sets are loaded in guests that differ
in what lies there, and the same calls made under both.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from auditrules.auditctl.translate import Target
from auditrules.cost.constants import Constants
from auditrules.cost.histogram import general
from auditrules.load.load import load_lines
from auditrules.optimize.optimize import OptimizeOptions, optimise
from auditrules.optimize.output import text
from auditrules.read import parse
from conformance.agreement import GUEST
from conformance.battery import Battery, SetResult, Site, WantedRules, run_battery
from conformance.calls import Call, Step, directory, file, link, mount, symlink
from conformance.files_and_workers import FIXTURE, PATHS
from conformance.random_exit_rule import happens
from conformance.random_rules import RuleDrawing
from conformance.repertoire import CALLS, calls_about
from hardcost.machines.machine import Machine

WATCHED = ("/field/u1", "/field/u2", "/yard/u3")
"""The paths of which the optimiser knows nothing."""

WORLDS: dict[str, tuple[Step, ...]] = {
    "file": tuple(file(path, 0o666) for path in WATCHED),
    "directory": tuple(
        step for path in WATCHED for step in (directory(path, 0o777), file(f"{path}/in", 0o666))
    ),
    "missing": (),
}
"""What lies at them, by world; no assumption of a proof is violated."""

VIOLATED: dict[str, tuple[Step, ...]] = {
    "links": (
        link(WATCHED[0], "/field/f1"),
        link(WATCHED[1], "/field/dir/a"),
        file(WATCHED[2], 0o666),
    ),
    "spelling": (
        symlink(WATCHED[0], "/field/dir"),
        symlink(WATCHED[1], "/field/dir/sub"),
        directory(WATCHED[2], 0o777),
    ),
    "trees": (
        *WORLDS["directory"],
        mount(WATCHED[1]),
        file(f"{WATCHED[1]}/in", 0o666),
    ),
}
"""What lies at them where an assumption, by its code, is violated."""

EVERY_CALL = (*CALLS, *(call for n, path in enumerate(WATCHED, 1) for call in calls_about(path, n)))
_OTHERS = 15  # calls of a set that have nothing to do with the watched paths

TARGET = replace(
    GUEST,
    is_directory=lambda path: None if path.rstrip("/") in WATCHED else GUEST.is_directory(path),
)

"""What the optimiser knows of the guest: all but what lies at the watched paths."""

FILES = replace(
    TARGET,
    is_directory=lambda path: False if path.rstrip("/") in WATCHED else GUEST.is_directory(path),
)
"""The same, with each watched path taken for a file."""


@dataclass(frozen=True)
class Pair:
    """A set and what the optimiser made of it, and the calls to make.

    `assumed` are the codes of what the proof rests on that both record the same.
    """

    original: str
    made: str
    calls: tuple[int, ...]
    assumed: frozenset[str]


@dataclass(frozen=True)
class Compared:
    """The result of a pair in a world: calls that were recorded, and where the two differ."""

    pair: Pair
    world: str
    recorded: int
    differ: tuple[int, ...]
    refused: tuple[frozenset[int], frozenset[int]]

    @property
    def same(self) -> bool:
        """Whether the made set records the same, and loads if the original does."""
        return not self.differ and (bool(self.refused[0]) or not self.refused[1])


def site(world: str) -> Site:
    """Return a world's field."""
    inside = tuple(f"{path}/in" for path in WATCHED)
    return Site((*FIXTURE, *{**WORLDS, **VIOLATED}[world]), (*PATHS, *WATCHED, *inside))


def learned(machine: Machine) -> Battery:
    """Return what the calls' events are where the watched paths are directories."""
    return run_battery(machine, [WantedRules("", calls=())], EVERY_CALL, site=site("directory"))


def draw(
    chance: random.Random,
    battery: Battery,
    number: int,
    options: OptimizeOptions | None = None,
    target: Target = TARGET,
) -> Pair | None:
    """Return a set with watches of unknown kind, and a cheaper one; None if there is none."""
    drawing = RuleDrawing(chance, battery.events[: len(CALLS)])
    others = drawing.rule_set(_OTHERS, number)
    lines = others.rules.splitlines()
    for _ in range(chance.choice((1, 1, 2, 3))):
        lines.insert(chance.randint(0, len(lines)), _line(chance))
    # Two ways to write one rule are one, or two, as the path is: then the kernel may refuse one.
    if "-D" in lines or len(set(lines)) < len(lines):
        return None
    original = "".join(f"{line}\n" for line in lines)
    readings = parse.read_bytes(original.encode(), "x.rules")
    found = load_lines([readings], target)
    if found.failing or not found.rules:
        return None
    made = optimise(found.rules, Constants.of_debian(), general(), options)
    if not any(line.done for line in made.lines):
        return None
    own = chance.sample(range(len(CALLS), len(EVERY_CALL)), 40)
    assumed = frozenset(one.code for one in made.proof.assumptions)
    written = text(made, readings, target)
    return Pair(original, written, (*(others.calls or ()), *own), assumed)


def _line(chance: random.Random) -> str:
    """Return a watch of unknown kind; now and then a rule on what lies below or around it."""
    path = chance.choice(WATCHED)
    letters = "".join(sorted(chance.sample("rwxa", chance.choice((1, 2, 2, 3)))))
    key = f" -k {chance.choice(('one', 'two', 'three'))}" if happens(chance, 0.8) else ""
    if happens(chance, 0.1):
        return f"-a {chance.choice(('always', 'never'))},exit -F dir=/field -F perm={letters}{key}"
    if happens(chance, 0.1):
        return f"-a {chance.choice(('always', 'never'))},exit -F path={path} -F perm={letters}{key}"
    slash = "/" if happens(chance, 0.3) else ""
    return f"-w {path}{slash} -p {letters}{key}"


def compare(
    machine: Machine,
    pairs: Sequence[Pair],
    world: str,
    calls: Sequence[Call] = EVERY_CALL,
) -> tuple[Compared, ...]:
    """Return the result of each pair in a world; `calls` are those that `EVERY_CALL` numbers."""
    wanted = [
        WantedRules(rules, pair.calls) for pair in pairs for rules in (pair.original, pair.made)
    ]
    sets = run_battery(machine, wanted, calls, site=site(world)).sets
    return tuple(
        _compared(pair, world, sets[2 * number], sets[2 * number + 1])
        for number, pair in enumerate(pairs)
    )


def _compared(pair: Pair, world: str, before: SetResult, after: SetResult) -> Compared:
    unsteady = before.unsteady | after.unsteady
    calls = (before.recorded.keys() | after.recorded.keys()) - unsteady
    differ = tuple(sorted(at for at in calls if before.recorded.get(at) != after.recorded.get(at)))
    return Compared(pair, world, len(before.recorded), differ, (before.refused, after.refused))
