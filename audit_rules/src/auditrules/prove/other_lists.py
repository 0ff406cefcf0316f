"""The lists that do not apply when a call returns: task, user, exclude, filesystem, io_uring.

Read in Linux 6.1.192: `audit_filter_task` (auditsc.c) and `audit_filter` (auditfilter.c:1331).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from auditrules.auditctl.field_values import OF_A_TASK
from auditrules.kernel import records
from auditrules.kernel.event import EXT4, Event, FileId
from auditrules.kernel.field_tests import holds
from auditrules.kernel.semantics import FilterDecision, Outcome
from auditrules.model.kernel_lists import by_rank
from auditrules.model.kernel_rule import (
    Action,
    Condition,
    FilterList,
    KernelRule,
    Operator,
    is_test,
)
from auditrules.prove import example
from auditrules.prove.call_classes import CallClass
from auditrules.prove.formulas import Atoms, UnsupportedError
from auditrules.prove.outcome import Verdicts
from auditrules.prove.relation import Difference, ProverError, Relation
from auditrules.prove.solver import (
    FALSE,
    Effort,
    Formula,
    NumberTerm,
    Solver,
    UndecidedError,
    all_of,
    any_of,
    are_equal,
    compare,
    constant,
    either,
    either_number,
    negation,
    number_of,
    unknown_number,
)
from auditrules.prove.unknown_ids import numbers_by_name, resolve_ids
from auditrules.tables import lookup

_COUNTED = frozenset({FilterList.EXIT, FilterList.TASK, FilterList.IO_URING})
_SOME_CALL = lookup.calls("b64")["getppid"]


def differences(
    a: Sequence[KernelRule],
    b: Sequence[KernelRule],
    relation: Relation,
    reasons: list[str],
    effort: Effort,
) -> Iterator[Difference]:
    """Yield events that other lists treat differently; add unknown ones to `reasons`.

    Raises:
        ProverError: A difference that was found is not one.
    """
    for which in (FilterList.TASK, FilterList.USER, FilterList.EXCLUDE):
        left, right = rules_on(which, a), rules_on(which, b)
        if _without_prepend(left) == _without_prepend(right):
            continue
        try:
            difference = _solve(which, (left, right), (a, b), relation, effort)
        except (UnsupportedError, UndecidedError) as error:
            reasons.append(f"the lists {which}: {error}")
            continue
        if difference is not None:
            yield difference
    if _without_prepend(rules_on(FilterList.IO_URING, a)) != _without_prepend(
        rules_on(FilterList.IO_URING, b)
    ):
        reasons.append("the rules of the list io_uring differ, which the prover does not support")


def has_counted_rule(rules: Sequence[KernelRule]) -> bool:
    """Return whether any rule makes the kernel examine calls (`audit_n_rules`)."""
    return any(rule.list in _COUNTED for rule in rules)


def rules_on(which: FilterList, rules: Sequence[KernelRule]) -> tuple[KernelRule, ...]:
    """Return the rules of a list, in the order in which they apply."""
    return tuple(rule for _, rule in _numbered_rules(which, rules))


def _without_prepend(rules: Iterable[KernelRule]) -> list[KernelRule]:
    return [replace(rule, prepend=False) for rule in rules]


# What lists say of one event --------------------------------------------------------------------


def outcome(
    rules: Sequence[KernelRule],
    which: FilterList,
    event: Event,
    record_type: int | None,
    files: Mapping[str, FileId],
) -> Outcome:
    """Return the decision of the list `task`, `user` or `exclude` on a task or a record.

    Of a task, ALWAYS and NEVER are decided for all that it will do. Of a record, `recorded` says
    whether it is written.
    """
    if which is FilterList.TASK:
        return _of_task(rules, event, files)
    numbered = _numbered_rules(which, rules)
    found = records.decided_by(numbered, event, record_type or 0, files)
    if found is None and which is FilterList.EXCLUDE and _goes_with_syscall(record_type):
        found = records.decided_by(numbered, event, records.SYSCALL, files)
    if found is None:
        return Outcome(FilterDecision.NONE, recorded=True, key="", decided_by=None, walked=())
    index, rule = found
    dropped = which is FilterList.EXCLUDE or rule.action is Action.NEVER
    decision = FilterDecision.NEVER if dropped else FilterDecision.ALWAYS
    return Outcome(decision, not dropped, "", index, ())


def _goes_with_syscall(record_type: int | None) -> bool:
    return record_type is not None and records.goes_with_syscall(record_type)


def _of_task(rules: Sequence[KernelRule], event: Event, files: Mapping[str, FileId]) -> Outcome:
    for index, rule in _numbered_rules(FilterList.TASK, rules):
        if all(
            _is_of_a_task(condition) and holds(condition, event, None, files)
            for condition in rule.conditions
        ):
            always = rule.action is Action.ALWAYS
            decision = FilterDecision.ALWAYS if always else FilterDecision.NEVER
            return Outcome(decision, always, rule.key if always else "", index, ())
    return Outcome(FilterDecision.NONE, recorded=False, key="", decided_by=None, walked=())


def _numbered_rules(which: FilterList, rules: Sequence[KernelRule]) -> list[tuple[int, KernelRule]]:
    return [(index, rules[index]) for index in by_rank(rules) if rules[index].list is which]


def _is_of_a_task(condition: Condition) -> bool:
    return is_test(condition, *OF_A_TASK)


# All events -------------------------------------------------------------------------------------


def _solve(
    which: FilterList,
    lists: tuple[Sequence[KernelRule], Sequence[KernelRule]],
    whole: tuple[Sequence[KernelRule], Sequence[KernelRule]],
    relation: Relation,
    effort: Effort,
) -> Difference | None:
    atoms = Atoms(0, 0)
    keys = {"": 0}
    for rule in (*lists[0], *lists[1]):
        keys.setdefault(rule.key, len(keys))
    say = _task_verdicts if which is FilterList.TASK else _record_verdicts
    left, right = (say(atoms, rules, keys) for rules in lists)
    if which is FilterList.EXCLUDE:
        left, right = (
            _with_whole_events(atoms, found, rules)
            for found, rules in zip((left, right), lists, strict=True)
        )
    solver = Solver(effort)
    solver.add([_disagreement(left, right, relation), *atoms.laws()])
    if which is not FilterList.TASK:
        solver.add(_ordinary_record(atoms.ask("msgtype")))
    nothing = CallClass("b64", 1 << _SOME_CALL, 0, (), ())
    wanted = list(example.wishes(atoms, "b64", _SOME_CALL))
    model = solver.solve_with_wishes(wanted, example.numbers(atoms))
    if model is None:
        return None
    found = example.read(atoms, model, nothing, (*whole[0], *whole[1]))
    record_type = model.value(atoms.ask("msgtype")) if which is not FilterList.TASK else None
    outcomes = [
        outcome(resolve_ids(rules, found.resolved), which, found.event, record_type, found.files)
        for rules in whole
    ]
    difference = Difference(
        found.event,
        found.files,
        outcomes[0],
        outcomes[1],
        numbers_by_name(found.resolved),
        which,
        record_type,
    )
    if not _differ(difference, relation):
        raise ProverError(f"not confirmed: {difference}")
    return difference


def _ordinary_record(kind: NumberTerm) -> list[Formula]:
    first, last = records.KERNELS
    return [
        compare(kind, Operator.GREATER_OR_EQUAL, number_of(first)),
        compare(kind, Operator.LESS_OR_EQUAL, number_of(last)),
    ]


def _task_verdicts(atoms: Atoms, rules: Sequence[KernelRule], keys: Mapping[str, int]) -> Verdicts:
    found = _no_verdict()
    for rule in reversed(rules):
        if all(_is_of_a_task(condition) for condition in rule.conditions):
            held = atoms.all_hold([one for one in rule.conditions if not _is_key(one)], None)
            found = _verdicts_if(
                held, found, always=rule.action is Action.ALWAYS, key=keys[rule.key]
            )
    return found


def _record_verdicts(
    atoms: Atoms, rules: Sequence[KernelRule], keys: Mapping[str, int]
) -> Verdicts:
    found = _no_verdict()
    for rule in reversed(rules):
        known: list[Condition] = []
        for condition in rule.conditions:
            if not records.is_of_a_record(condition):
                break
            known.append(condition)
        held = all_of(_record_formula(atoms, condition) for condition in known)
        if rule.key or len(known) < len(rule.conditions):
            nothing = _no_verdict()
            found = Verdicts(FALSE, either(held, nothing.never, found.never), found.key)
        elif known:
            dropped = rule.list is FilterList.EXCLUDE or rule.action is Action.NEVER
            found = Verdicts(
                FALSE,
                either(held, constant(value=dropped), found.never),
                number_of(keys[""]),
            )
    return found


def _record_formula(atoms: Atoms, condition: Condition, kind: NumberTerm | None = None) -> Formula:
    if is_test(condition, "msgtype", "gid"):
        fixed = condition.field == "msgtype" and kind is not None
        asked = kind if fixed and kind is not None else atoms.ask(condition.field)
        return compare(asked, condition.operator, atoms.value(condition))
    return atoms.holds(condition)


def drops(atoms: Atoms, rules: Sequence[KernelRule], kind: int) -> Formula:
    """Return when the list `exclude` of a set drops a record of a type."""
    found = FALSE
    for rule in reversed(rules_on(FilterList.EXCLUDE, rules)):
        known = list(
            itertools.takewhile(records.is_of_a_record, rule.conditions),
        )
        held = all_of(_record_formula(atoms, one, number_of(kind)) for one in known)
        ends = bool(rule.key) or len(known) < len(rule.conditions)
        if ends or known:
            found = either(held, constant(value=not ends), found)
    return found


def _with_whole_events(atoms: Atoms, found: Verdicts, rules: Sequence[KernelRule]) -> Verdicts:
    """Return verdicts on records, where those after a dropped SYSCALL are dropped too."""
    kind = atoms.ask("msgtype")
    later = any_of(are_equal(kind, number_of(one)) for one in sorted(records.WITH_SYSCALL))
    whole = all_of([later, drops(atoms, rules, records.SYSCALL)])
    return replace(found, never=any_of([found.never, whole]))


def _is_key(condition: Condition) -> bool:
    return is_test(condition, "key")


def _no_verdict() -> Verdicts:
    return Verdicts(FALSE, FALSE, number_of(0))


def _verdicts_if(held: Formula, otherwise: Verdicts, *, always: bool, key: int) -> Verdicts:
    return Verdicts(
        either(held, constant(value=always), otherwise.always),
        either(held, constant(value=not always), otherwise.never),
        either_number(held, number_of(key), otherwise.key),
    )


def _disagreement(a: Verdicts, b: Verdicts, relation: Relation) -> Formula:
    found = [
        all_of([a.always, negation(b.always)]),
        all_of([b.never, negation(a.never)]),
    ]
    if not relation.at_least:
        found += [
            all_of([b.always, negation(a.always)]),
            all_of([a.never, negation(b.never)]),
        ]
    if not relation.ignore_keys:
        other_key = negation(are_equal(a.key, b.key))
        found.append(all_of([a.always, b.always, other_key]))
    return any_of(found)


_LEVEL = {FilterDecision.NEVER: 0, FilterDecision.NONE: 1, FilterDecision.ALWAYS: 2}


def _differ(found: Difference, relation: Relation) -> bool:
    a, b = found.outcome_a, found.outcome_b
    if found.list is not FilterList.TASK:
        return a.recorded > b.recorded or (not relation.at_least and a.recorded != b.recorded)
    if _LEVEL[a.decision] != _LEVEL[b.decision]:
        return not relation.at_least or _LEVEL[a.decision] > _LEVEL[b.decision]
    return not relation.ignore_keys and a.key != b.key


# Hidden names -----------------------------------------------------------------------------------


def visible_filesystem(
    a: Sequence[KernelRule], b: Sequence[KernelRule], effort: Effort, *, rather_by_b: bool = False
) -> int | None:
    """Return the number of a file system whose names neither set hides; None if there is none.

    `rather_by_b`: what only B hides matters more than what only A hides.

    Raises:
        HidingError: The sets do not hide names of the same file systems.
    """
    number = unknown_number("filesystem")
    hidden_a, hidden_b = (_is_hidden(rules, number) for rules in (a, b))
    differing = [
        (True, [hidden_a, negation(hidden_b)]),
        (False, [hidden_b, negation(hidden_a)]),
    ]
    for by_a, differ in reversed(differing) if rather_by_b else differing:
        found = _smallest(number, differ, (), effort)
        if found is not None:
            raise HidingError(found, by_a=by_a)
    usual = [are_equal(number, number_of(EXT4))]
    return _smallest(number, [negation(hidden_a)], usual, effort)


def _smallest(
    number: NumberTerm, demands: Sequence[Formula], wishes: Sequence[Formula], effort: Effort
) -> int | None:
    solver = Solver(effort)
    solver.add(demands)
    model = solver.solve_with_wishes(wishes, [number])
    return None if model is None else model.value(number)


def _is_hidden(rules: Sequence[KernelRule], number: NumberTerm) -> Formula:
    return any_of(
        compare(number, test.operator, number_of(test.value))
        for rule in rules
        if rule.list is FilterList.FILESYSTEM and rule.action is Action.NEVER
        for test in rule.conditions
        if is_test(test, "fstype") and isinstance(test.value, int)
    )


class HidingError(Exception):
    """Two sets hide the names of different file systems: A alone that of `filesystem`, or B."""

    def __init__(self, filesystem: int, *, by_a: bool) -> None:
        super().__init__("the rules of the list filesystem hide different names")
        self.filesystem, self.by_a = filesystem, by_a
