"""The verdicts of a set on an unknown event, as formulas; and when two sets differ.

How many visited names are enough? Take an event that two sets treat differently. Let `i` be the
first name at which a bucket rule of either set decides, and `j` the first at which one of the other
set does, if that set did not decide at `i`. Keep these two, and for each condition that asks
whether *any* visited name is such and such, and is met, one name that meets it. Drop the others,
keeping the order. Conditions on any name that were met still are, the others still are not, since
fewer names are left; so the exit lists decide as before. No kept name before `i` decides anything,
and none between `i` and `j` does for the other set. So the event still shows the difference, with
two names and one for each such condition. Where neither set decides at a name, those two are spare.

`dir` conditions are left out of that count: whether the call visited the tree is one truth for the
whole call. Any directories may be made true by copying a name that is kept (one is enough) to right
behind itself and letting the copy lie there: if the name decides, the walk has stopped, and if not,
its copy does not either. Nor does a copy meet a condition that its model did not.

Names that rules of the list `filesystem` hide are as if not visited. If the sets hide different
names, the argument does not hold; a difference may be found then, but no proof, unless nothing that
is recorded has to do with files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from auditrules.model.kernel_rule import Condition, IdComparison, is_test
from auditrules.prove import solver
from auditrules.prove.call_classes import RuleRest
from auditrules.prove.formulas import OF_FILES, OWNERS, RAISED, Atoms
from auditrules.prove.relation import Relation
from auditrules.prove.solver import Formula, NumberTerm


@dataclass(frozen=True)
class Verdicts:
    """The verdicts of a set on the event: recorded by a rule, suppressed by one, with which key."""

    always: Formula
    never: Formula
    key: NumberTerm


def slots_needed(parts: Sequence[RuleRest]) -> int:
    """Return how many visited names show all that the rules can do (see the module)."""
    anywhere = {
        _asks_any(condition, in_bucket=part.bucket)
        for part in parts
        for condition in part.conditions
    } - {None}
    of_trees = any(is_test(condition, "dir") for part in parts for condition in part.conditions)
    deciding = 2 if any(part.bucket for part in parts) else 0
    return max(deciding + len(anywhere), 1 if of_trees else 0)


def _asks_any(condition: Condition, *, in_bucket: bool) -> object:
    """Return a condition's test of any visited name; None if it has none."""
    if isinstance(condition, IdComparison):
        return condition if condition.right in OWNERS else None
    if condition.field == "filetype":
        return condition.field, condition.value
    return condition if condition.field in OF_FILES and not in_bucket else None


def verdicts(atoms: Atoms, rules: Sequence[RuleRest], keys: Mapping[str, int]) -> Verdicts:
    """Return the verdicts of a set; `rules` go from the highest priority to the lowest."""
    held = [
        solver.FALSE if part.bucket else atoms.all_hold(_sorted_conditions(part), None)
        for part in rules
    ]
    listed = Verdicts(solver.FALSE, solver.FALSE, solver.number_of(keys[""]))
    for part, holds in reversed(list(zip(rules, held, strict=True))):
        if not part.bucket:
            listed = _verdicts_if(holds, part, listed, solver.number_of(keys[""]), keys)
    # A rule of the exit list passes its key on to bucket rules; one without key passes on none.
    passed_on = listed.key
    outranked: list[Formula] = []
    before = solver.FALSE
    for holds in held:
        outranked.append(before)
        before = solver.any_of([before, holds])
    found = listed
    for slot in reversed(range(atoms.slots)):
        for part, higher in reversed(list(zip(rules, outranked, strict=True))):
            if part.bucket:
                decides = solver.all_of(
                    [
                        atoms.visits(slot),
                        atoms.all_hold(_sorted_conditions(part), slot),
                        solver.negation(higher),
                    ]
                )
                found = _verdicts_if(decides, part, found, passed_on, keys)
    return found


def _verdicts_if(
    holds: Formula,
    part: RuleRest,
    otherwise: Verdicts,
    inherited: NumberTerm,
    keys: Mapping[str, int],
) -> Verdicts:
    own = solver.number_of(keys[part.key]) if part.key else inherited
    return Verdicts(
        solver.either(holds, solver.constant(value=part.always), otherwise.always),
        solver.either(holds, solver.constant(value=not part.always), otherwise.never),
        solver.either_number(holds, own, otherwise.key),
    )


def _sorted_conditions(part: RuleRest) -> list[Condition]:
    return sorted(part.conditions, key=repr)


def unlike(a: Verdicts, b: Verdicts) -> Formula:
    """Return when two sets decide otherwise, or one decides and the other does not."""
    pairs = (a.always, b.always), (a.never, b.never)
    return solver.any_of(
        [
            *(solver.all_of([one, solver.negation(other)]) for one, other in pairs),
            *(solver.all_of([other, solver.negation(one)]) for one, other in pairs),
            solver.negation(solver.are_equal(a.key, b.key)),
        ]
    )


def disagreement(  # noqa: PLR0913  (what differs between the sets)
    a: Verdicts,
    b: Verdicts,
    relation: Relation,
    *,
    heard: tuple[bool, bool] = (True, True),
    noted_otherwise: Formula = solver.FALSE,
    dropped: tuple[Formula, Formula] = (solver.FALSE, solver.FALSE),
    unrequested: Formula = solver.FALSE,
) -> Formula:
    """Return when two sets do not agree as the relation wants it (`Relation.agree`).

    `heard` says of each set whether a record that is asked for elsewhere is written at all,
    `noted_otherwise` when the two records list other files or receivers of a signal; `dropped` when
    each set drops the SYSCALL record, and `unrequested` when the record is dropped that would
    request one.
    """
    raised = solver.all_of([RAISED, solver.negation(unrequested)])
    if relation.ignore_raised:
        raised = solver.FALSE
    requested_a, requested_b = (
        solver.any_of(
            [
                one.always,
                solver.all_of([solver.constant(value=hears), raised, solver.negation(one.never)]),
            ]
        )
        for one, hears in zip((a, b), heard, strict=True)
    )
    recorded_a = solver.all_of([requested_a, solver.negation(dropped[0])])
    recorded_b = solver.all_of([requested_b, solver.negation(dropped[1])])
    found = [solver.all_of([recorded_a, solver.negation(recorded_b)])]
    if heard[0] and not heard[1]:  # what requests a record is itself not written
        found.append(solver.all_of([raised, requested_a, dropped[0]]))
    if heard[1] and not heard[0] and not relation.at_least:
        found.append(solver.all_of([raised, requested_b, dropped[1]]))
    found.append(solver.all_of([recorded_a, recorded_b, noted_otherwise]))
    if not relation.at_least:
        found.append(solver.all_of([recorded_b, solver.negation(recorded_a)]))
    if not relation.ignore_keys:
        compared = [
            a.always,
            b.always,
            recorded_a,
            recorded_b,
            solver.negation(solver.are_equal(a.key, b.key)),
        ]
        found.append(solver.all_of(compared))
    return solver.any_of(found)
