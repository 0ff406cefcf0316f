"""Single edits of real rule sets: does the prover ever contradict the behaviour of calls?

    python -m bench.rules.prove_mutations --edits 500             # against the semantics
    python -m bench.rules.prove_mutations --edits 500 --kernel    # and against a kernel, in guests

The sets are those of Debian's package auditd, with the paths that they watch replaced by files of
the battery's calls. For each edit the prover says whether it changes anything. If it says no, no
random event and none of the battery's calls may be treated differently. If it says yes, its example
must show it, and with `--kernel` so must a real call made after it.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from audit_rules.tests.random_rule_sets import Drawing
from auditrules.auditctl.translate import Target, translate, translate_all
from auditrules.auditctl.write import UnwritableRuleError, text_of
from auditrules.kernel.semantics import decide, load
from auditrules.model import kernel_rule
from auditrules.model.fault import RulesError
from auditrules.model.kernel_lists import DuplicateError, accepted_rules, check_distinct
from auditrules.model.kernel_rule import Action, FieldTest, FilterList, KernelRule, Operator
from auditrules.model.rule import Rule
from auditrules.prove.event_text import difference_words
from auditrules.prove.prove import prove_equal
from auditrules.prove.relation import Relation, Result
from auditrules.read import parse
from auditrules.tables import lookup
from bench.rules.sample_rules import sample_rules
from conformance.battery import WantedRules, run_battery
from conformance.files_and_workers import DIRECTORIES, FILES, PROGRAMS
from conformance.repertoire import CALLS
from conformance.witness import Testimony, Witness, run_witnesses, witness
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.supply.cache.cache import Cache

_USERS = {"root": 0, "chrony": 33, "_chrony": 33, "gdm": 42}
_DRAWN = 300  # events for each pair of sets
_CALLS = 200  # of the battery's, for each edited set
_SETS_IN_A_GUEST = 60
_WITNESSES_IN_A_GUEST = 40
_PLACES = {
    "path": [one for one in FILES if "fill" not in one],
    "dir": [one for one in DIRECTORIES if one != "/"],
    "exe": list(PROGRAMS),
}


@dataclass(frozen=True)
class Edit:
    """A set, its edited version, and the prover's answer."""

    what: str
    name: str
    a: tuple[KernelRule, ...]
    b: tuple[KernelRule, ...]
    result: Result
    seconds: float


def main() -> None:
    """Make the edits and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edits", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kernel", action="store_true", help="also ask a guest's kernel")
    parser.add_argument("--examples", action="store_true", help="ask it about the examples only")
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)  # noqa: S311  (no secret)
    sets = real_sets(sample_rules(Cache()))
    edits = [edit(sets, chance) for _ in range(arguments.edits)]
    verdicts = Counter((one.what, one.result.equal) for one in edits)
    print(f"{len(edits)} edits of {len(sets)} sets ({sum(map(len, sets.values()))} rules)")
    for (what, equal), number in sorted(verdicts.items(), key=str):
        print(f"  {what:16} {_NAMES[equal]:10} {number:5}")
    seconds = sorted(one.seconds for one in edits)
    print(f"seconds a proof: median {seconds[len(seconds) // 2]:.3f}, most {seconds[-1]:.3f}")
    against_semantics(edits, chance)
    machine = VirtualMachine(Cache(), Hardware("tcg"))
    if arguments.kernel:
        against_calls(machine, sets, edits, chance)
    if arguments.kernel or arguments.examples:
        against_witnesses(machine, edits)


_NAMES = {True: "equal", False: "different", None: "unknown"}


# The sets, and edits of them --------------------------------------------------------------------


def real_sets(folder: Path) -> dict[str, tuple[KernelRule, ...]]:
    """Return the package's sets that hold rules for calls, and all of them together."""
    found: dict[str, tuple[KernelRule, ...]] = {}
    together: list[KernelRule] = []
    for path in sorted(folder.glob("*.rules")):
        try:
            written = parse.read([path])
        except RulesError:
            continue
        target = Target(_USERS, _USERS, lambda place: place.endswith(".d"))
        rules = _without_duplicates(_placed(translate_all(written.rules, target)[0]))
        if any(rule.list is FilterList.EXIT for rule in rules):
            found[path.name] = rules
            together.extend(rules)
    found["all of them"] = _without_duplicates(together)
    return found


def _placed(rules: tuple[KernelRule, ...]) -> tuple[KernelRule, ...]:
    """Return rules with their paths replaced by the battery's files."""
    moved: dict[tuple[str, str], str] = {}

    def place(test: FieldTest) -> FieldTest:
        key = test.field, str(test.value)
        places = _PLACES[test.field]
        if key not in moved:
            taken = sum(kind == test.field for kind, _ in moved)
            moved[key] = places[taken % len(places)]
        return replace(test, value=moved[key])

    return tuple(
        replace(
            rule,
            conditions=tuple(
                place(test) if isinstance(test, FieldTest) and test.field in _PLACES else test
                for test in rule.conditions
            ),
        )
        for rule in rules
    )


def _without_duplicates(rules: tuple[KernelRule, ...] | list[KernelRule]) -> tuple[KernelRule, ...]:
    return tuple(rules[index] for index in accepted_rules(rules))


def edit(sets: dict[str, tuple[KernelRule, ...]], chance: random.Random) -> Edit:
    """Return a set, edited in one place so that it still loads, and the prover's answer."""
    while True:
        name = chance.choice(sorted(sets))
        a = sets[name]
        what = chance.choice(sorted(_EDITS))
        index = chance.randrange(len(a))
        b = _EDITS[what](a, index, chance)
        try:
            check_distinct(b)
        except DuplicateError:
            continue
        if b == a or not all(_can_be_written(rule) for rule in b):
            continue
        start = time.monotonic()
        result = prove_equal(a, b)
        return Edit(what, name, a, b, result, time.monotonic() - start)


def _can_be_written(rule: KernelRule) -> bool:
    """Return whether a line expresses exactly this rule."""
    try:
        return translate(Rule(text_of(rule))) == rule
    except (UnwritableRuleError, RulesError):
        return False


Set = tuple[KernelRule, ...]


def _with(rules: Set, index: int, rule: KernelRule) -> Set:
    return (*rules[:index], rule, *rules[index + 1 :])


def _drop_rule(rules: Set, index: int, _chance: random.Random) -> Set:
    return (*rules[:index], *rules[index + 1 :])


def _move_rule(rules: Set, index: int, chance: random.Random) -> Set:
    rest = [*rules[:index], *rules[index + 1 :]]
    rest.insert(chance.randrange(len(rules)), rules[index])
    return tuple(rest)


def _other_call(rules: Set, index: int, chance: random.Random) -> Set:
    rule = rules[index]
    named = [call for call in range(kernel_rule.CALLS) if rule.mask >> call & 1]
    arch = chance.choice(lookup.ARCHES)
    drop = named and chance.randrange(2)
    call = chance.choice(named if drop else sorted(lookup.call_names(arch)))
    return _with(rules, index, replace(rule, mask=rule.mask ^ 1 << call or 1 << call))


def _other_value(rules: Set, index: int, chance: random.Random) -> Set:
    rule = rules[index]
    if not rule.conditions:
        return rules
    at = chance.randrange(len(rule.conditions))
    test = rule.conditions[at]
    if not isinstance(test, FieldTest):
        other = Operator.EQUAL if test.operator is Operator.NOT_EQUAL else Operator.NOT_EQUAL
        changed: object = replace(test, operator=other)
    elif test.field == "perm":
        changed = replace(test, value=chance.randrange(1, 16))
    elif test.field == "arch":
        changed = replace(test, value=lookup.ARCH_NUMBERS[chance.choice(lookup.ARCHES)])
    elif isinstance(test.value, int):
        changed = replace(test, value=(test.value + chance.choice((-1, 1, 1000))) & 0xFFFFFFFF)
    elif test.field in _PLACES:
        changed = replace(test, value=chance.choice(_PLACES[test.field]))
    else:
        return rules
    conditions = (*rule.conditions[:at], changed, *rule.conditions[at + 1 :])
    return _with(rules, index, replace(rule, conditions=conditions))  # type: ignore[arg-type]


def _drop_condition(rules: Set, index: int, chance: random.Random) -> Set:
    rule = rules[index]
    if not rule.conditions:
        return rules
    at = chance.randrange(len(rule.conditions))
    kept = (*rule.conditions[:at], *rule.conditions[at + 1 :])
    return _with(rules, index, replace(rule, conditions=kept))


def _other_action(rules: Set, index: int, _chance: random.Random) -> Set:
    rule = rules[index]
    action = Action.NEVER if rule.action is Action.ALWAYS else Action.ALWAYS
    return _with(rules, index, replace(rule, action=action))


def _other_key(rules: Set, index: int, chance: random.Random) -> Set:
    keys = sorted({rule.key for rule in rules} | {"another", ""})
    return _with(rules, index, replace(rules[index], key=chance.choice(keys)))


def _prepend(rules: Set, index: int, _chance: random.Random) -> Set:
    return _with(rules, index, replace(rules[index], prepend=not rules[index].prepend))


def _narrower_copy(rules: Set, index: int, chance: random.Random) -> Set:
    """Add a rule that holds less often than one before it: mostly without effect."""
    extra = FieldTest("uid", Operator.NOT_EQUAL, chance.choice((0, 33, 1000)))
    copy = replace(rules[index], conditions=(*rules[index].conditions, extra))
    return (*rules, copy)


_EDITS = {
    "drop a rule": _drop_rule,
    "move a rule": _move_rule,
    "another call": _other_call,
    "another value": _other_value,
    "drop a field": _drop_condition,
    "another action": _other_action,
    "another key": _other_key,
    "prepend": _prepend,
    "narrower copy": _narrower_copy,
}


# The prover against others ----------------------------------------------------------------------


def against_semantics(edits: list[Edit], chance: random.Random) -> None:
    """Draw events for each pair: if the prover says equal, both must do the same."""
    contradicted, seen, drawn = 0, 0, 0
    for one in edits:
        drawing = Drawing([*one.a, *one.b], chance)
        loaded = [load(rules, drawing.files) for rules in (one.a, one.b)]
        differs = False
        for _ in range(_DRAWN):
            event = drawing.event()
            drawn += 1
            if not Relation().agree(*(decide(rules, event) for rules in loaded)):
                differs = True
                break
        if differs and one.result.equal:
            contradicted += 1
            print(f"CONTRADICTED: {one.what} of {one.name}")
        seen += differs and one.result.equal is False
    different = sum(one.result.equal is False for one in edits)
    print(f"semantics: {drawn} events drawn, {contradicted} proofs contradicted;")
    print(f"  of {different} differences, chance found {seen} as well")


def against_calls(
    machine: VirtualMachine,
    sets: dict[str, tuple[KernelRule, ...]],
    edits: list[Edit],
    chance: random.Random,
) -> None:
    """Make a battery's calls under each set: proved equal sets must have equal results."""
    every = tuple(range(len(CALLS)))
    cases = contradicted = shown = 0
    for first in range(0, len(edits), _SETS_IN_A_GUEST):
        some = edits[first : first + _SETS_IN_A_GUEST]
        names = sorted({one.name for one in some})
        wanted = [WantedRules(_text(sets[name])) for name in names]
        wanted += [
            WantedRules(_text(one.b), tuple(sorted(chance.sample(every, _CALLS)))) for one in some
        ]
        battery = run_battery(machine, wanted)
        before = dict(zip(names, battery.sets, strict=False))
        for one, after in zip(some, battery.sets[len(names) :], strict=True):
            unedited = before[one.name]
            steady = set(after.made) - after.unsteady - unedited.unsteady
            other = [
                call
                for call in sorted(steady)
                if unedited.recorded.get(call) != after.recorded.get(call)
            ]
            cases += len(steady)
            shown += bool(other)
            if other and one.result.equal:
                contradicted += 1
                print(f"CONTRADICTED by {CALLS[other[0]]}: {one.what} of {one.name}")
    print(f"kernel: {cases} calls made under edited sets, {contradicted} proofs contradicted;")
    print(f"  chance showed {shown} differences")


def against_witnesses(machine: VirtualMachine, edits: list[Edit]) -> None:
    """Make the call of each example under both sets."""
    made: list[tuple[Edit, Witness]] = []
    unmade: Counter[str] = Counter()
    for one in edits:
        if one.result.difference is None:
            continue
        number = len(made) % _WITNESSES_IN_A_GUEST
        found = witness(one.result.difference, one.a, one.b, number)
        if found is None:
            event = one.result.difference.event
            raised = ", raised" if event.raised else ""
            unmade[lookup.call_name(event.arch, event.call) + raised] += 1
        else:
            made.append((one, found))
    heard: list[tuple[Edit, Testimony]] = []
    for first in range(0, len(made), _WITNESSES_IN_A_GUEST):
        some = made[first : first + _WITNESSES_IN_A_GUEST]
        said = run_witnesses(machine, [found for _, found in some])
        heard += zip([one for one, _ in some], said, strict=True)
    fitting = [(one, reply) for one, reply in heard if reply.fits]
    confirmed = sum(reply.confirms for _, reply in fitting)
    for one, reply in fitting:
        if not reply.confirms and one.result.difference is not None:
            print(f"  NOT CONFIRMED: {one.what} of {one.name}: {reply.witness.call}")
            print(f"    {difference_words(one.result.difference)}")
            print(f"    came to {reply.result}: {reply.found}, not {reply.witness.expected}")
            print(f"    {reply.complaints.strip()}")
    print(f"kernel: of {len(fitting)} examples that were made, {confirmed} are confirmed;")
    print(f"  came to another result: {len(heard) - len(fitting)};")
    print(f"  not made: {sum(unmade.values())} ({dict(unmade.most_common(8))})")


def _text(rules: tuple[KernelRule, ...]) -> str:
    return "\n".join(text_of(rule) for rule in rules)


if __name__ == "__main__":
    main()
