"""The lists that do not apply when a call returns: task, user, exclude, filesystem, io_uring.

Read in Linux 6.1.192: `audit_filter_task` (auditsc.c) and `audit_filter` (auditfilter.c:1331).
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

from hardcost.auditrules import eventrecords
from hardcost.auditrules.fieldtests import holds
from hardcost.auditrules.fieldvalues import OF_A_TASK
from hardcost.auditrules.kernelrule import (
    Action,
    FilterList,
    KernelRule,
    Operator,
    Test,
)
from hardcost.auditrules.loadedrules import by_rank
from hardcost.auditrules.prove import example, logic
from hardcost.auditrules.prove.atoms import Atoms, UnsupportedError
from hardcost.auditrules.prove.classes import CallClass
from hardcost.auditrules.prove.outcome import Verdicts
from hardcost.auditrules.prove.relation import Difference, ProverError, Relation
from hardcost.auditrules.prove.unresolved import resolved, shown
from hardcost.auditrules.semantics import Decision, Outcome
from hardcost.auditrules.tables import lookup

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from hardcost.auditrules.event import Event, FileId
    from hardcost.auditrules.kernelrule import Condition
    from hardcost.auditrules.prove.logic import Effort, Formula, Number

_COUNTED = frozenset({FilterList.EXIT, FilterList.TASK, FilterList.IO_URING})
_SOME_CALL = lookup.calls("b64")["getppid"]
_EXT4 = 0xEF53


def differences(
    a: Sequence[KernelRule],
    b: Sequence[KernelRule],
    relation: Relation,
    reasons: list[str],
    effort: Effort,
) -> Iterator[Difference]:
    """Yield events that other lists treat differently; add to `reasons` what is unknown.

    Raises:
        ProverError: A difference that was found is not one.
    """
    for which in (FilterList.TASK, FilterList.USER, FilterList.EXCLUDE):
        left, right = _of(which, a), _of(which, b)
        if _said(left) == _said(right):
            continue
        try:
            difference = _solved(which, (left, right), (a, b), relation, effort)
        except (UnsupportedError, logic.UndecidedError) as error:
            reasons.append(f"the lists {which}: {error}")
            continue
        if difference is not None:
            yield difference
    if _said(_of(FilterList.IO_URING, a)) != _said(_of(FilterList.IO_URING, b)):
        reasons.append("the rules of the list io_uring differ, which the prover does not support")


def any_counted(rules: Sequence[KernelRule]) -> bool:
    """Return whether any rule makes the kernel examine calls (`audit_n_rules`)."""
    return any(rule.list in _COUNTED for rule in rules)


def _of(which: FilterList, rules: Sequence[KernelRule]) -> tuple[KernelRule, ...]:
    return tuple(rule for _, rule in _numbered(which, rules))


def _said(rules: Iterable[KernelRule]) -> list[KernelRule]:
    return [replace(rule, prepend=False) for rule in rules]


# What lists say of one event --------------------------------------------------------------------


def outcome(
    rules: Sequence[KernelRule],
    which: FilterList,
    event: Event,
    record_type: int | None,
    files: Mapping[str, FileId],
) -> Outcome:
    """Return what the list `task`, `user` or `exclude` says of a task or a record.

    Of a task, ALWAYS and NEVER are decided for all that it will do. Of a record, `recorded` says
    whether it is written.
    """
    if which is FilterList.TASK:
        return _of_task(rules, event, files)
    numbered = _numbered(which, rules)
    found = eventrecords.decided_by(numbered, event, record_type or 0, files)
    if found is None and which is FilterList.EXCLUDE and _goes_with_syscall(record_type):
        found = eventrecords.decided_by(numbered, event, eventrecords.SYSCALL, files)
    if found is None:
        return Outcome(Decision.NONE, recorded=True, key="", decided_by=None, walked=())
    index, rule = found
    dropped = which is FilterList.EXCLUDE or rule.action is Action.NEVER
    decision = Decision.NEVER if dropped else Decision.ALWAYS
    return Outcome(decision, not dropped, "", index, ())


def _goes_with_syscall(record_type: int | None) -> bool:
    return record_type is not None and eventrecords.goes_with_syscall(record_type)


def _of_task(rules: Sequence[KernelRule], event: Event, files: Mapping[str, FileId]) -> Outcome:
    for index, rule in _numbered(FilterList.TASK, rules):
        if all(
            _is_of_a_task(condition) and holds(condition, event, None, files)
            for condition in rule.conditions
        ):
            always = rule.action is Action.ALWAYS
            decision = Decision.ALWAYS if always else Decision.NEVER
            return Outcome(decision, always, rule.key if always else "", index, ())
    return Outcome(Decision.NONE, recorded=False, key="", decided_by=None, walked=())


def _numbered(which: FilterList, rules: Sequence[KernelRule]) -> list[tuple[int, KernelRule]]:
    return [(index, rules[index]) for index in by_rank(rules) if rules[index].list is which]


def _is_of_a_task(condition: Condition) -> bool:
    return isinstance(condition, Test) and condition.field in OF_A_TASK


# All events -------------------------------------------------------------------------------------


def _solved(
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
    solver = logic.Solver(effort)
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
        outcome(resolved(rules, found.resolved), which, found.event, record_type, found.files)
        for rules in whole
    ]
    difference = Difference(
        found.event,
        found.files,
        outcomes[0],
        outcomes[1],
        shown(found.resolved),
        which,
        record_type,
    )
    if not _differ(difference, relation):
        raise ProverError(f"not confirmed: {difference}")
    return difference


def _ordinary_record(kind: Number) -> list[Formula]:
    first, last = eventrecords.KERNELS
    return [
        logic.compare(kind, Operator.GREATER_OR_EQUAL, logic.number(first)),
        logic.compare(kind, Operator.LESS_OR_EQUAL, logic.number(last)),
    ]


def _task_verdicts(atoms: Atoms, rules: Sequence[KernelRule], keys: Mapping[str, int]) -> Verdicts:
    found = _undecided()
    for rule in reversed(rules):
        if all(_is_of_a_task(condition) for condition in rule.conditions):
            held = atoms.all_hold([one for one in rule.conditions if not _is_key(one)], None)
            found = _where(held, found, always=rule.action is Action.ALWAYS, key=keys[rule.key])
    return found


def _record_verdicts(
    atoms: Atoms, rules: Sequence[KernelRule], keys: Mapping[str, int]
) -> Verdicts:
    found = _undecided()
    for rule in reversed(rules):
        known: list[Condition] = []
        for condition in rule.conditions:
            if not eventrecords.is_of_a_record(condition):
                break
            known.append(condition)
        held = logic.all_of(_record_formula(atoms, condition) for condition in known)
        if rule.key or len(known) < len(rule.conditions):
            nothing = _undecided()
            found = Verdicts(logic.FALSE, logic.either(held, nothing.never, found.never), found.key)
        elif known:
            dropped = rule.list is FilterList.EXCLUDE or rule.action is Action.NEVER
            found = Verdicts(
                logic.FALSE,
                logic.either(held, logic.constant(value=dropped), found.never),
                logic.number(keys[""]),
            )
    return found


def _record_formula(atoms: Atoms, condition: Condition, kind: Number | None = None) -> Formula:
    if isinstance(condition, Test) and condition.field in {"msgtype", "gid"}:
        fixed = condition.field == "msgtype" and kind is not None
        asked = kind if fixed and kind is not None else atoms.ask(condition.field)
        return logic.compare(asked, condition.operator, atoms.value(condition))
    return atoms.holds(condition)


def drops(atoms: Atoms, rules: Sequence[KernelRule], kind: int) -> Formula:
    """Return when the list `exclude` of a set drops a record of a type (`eventrecords`)."""
    found = logic.FALSE
    for rule in reversed(_of(FilterList.EXCLUDE, rules)):
        known = list(
            itertools.takewhile(eventrecords.is_of_a_record, rule.conditions),
        )
        held = logic.all_of(_record_formula(atoms, one, logic.number(kind)) for one in known)
        ends = bool(rule.key) or len(known) < len(rule.conditions)
        if ends or known:
            found = logic.either(held, logic.constant(value=not ends), found)
    return found


def _with_whole_events(atoms: Atoms, found: Verdicts, rules: Sequence[KernelRule]) -> Verdicts:
    """Return verdicts on records, where what comes after a dropped SYSCALL is dropped too."""
    kind = atoms.ask("msgtype")
    later = logic.any_of(
        logic.same(kind, logic.number(one)) for one in sorted(eventrecords.WITH_SYSCALL)
    )
    whole = logic.all_of([later, drops(atoms, rules, eventrecords.SYSCALL)])
    return replace(found, never=logic.any_of([found.never, whole]))


def _is_key(condition: Condition) -> bool:
    return isinstance(condition, Test) and condition.field == "key"


def _undecided() -> Verdicts:
    return Verdicts(logic.FALSE, logic.FALSE, logic.number(0))


def _where(held: Formula, otherwise: Verdicts, *, always: bool, key: int) -> Verdicts:
    return Verdicts(
        logic.either(held, logic.constant(value=always), otherwise.always),
        logic.either(held, logic.constant(value=not always), otherwise.never),
        logic.either_number(held, logic.number(key), otherwise.key),
    )


def _disagreement(a: Verdicts, b: Verdicts, relation: Relation) -> Formula:
    found = [
        logic.all_of([a.always, logic.negation(b.always)]),
        logic.all_of([b.never, logic.negation(a.never)]),
    ]
    if not relation.at_least:
        found += [
            logic.all_of([b.always, logic.negation(a.always)]),
            logic.all_of([a.never, logic.negation(b.never)]),
        ]
    if not relation.ignore_keys:
        other_key = logic.negation(logic.same(a.key, b.key))
        found.append(logic.all_of([a.always, b.always, other_key]))
    return logic.any_of(found)


_LEVEL = {Decision.NEVER: 0, Decision.NONE: 1, Decision.ALWAYS: 2}


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
    number = logic.unknown("filesystem")
    hidden_a, hidden_b = (_hidden(rules, number) for rules in (a, b))
    differing = [
        (True, [hidden_a, logic.negation(hidden_b)]),
        (False, [hidden_b, logic.negation(hidden_a)]),
    ]
    for by_a, differ in reversed(differing) if rather_by_b else differing:
        found = _smallest(number, differ, (), effort)
        if found is not None:
            raise HidingError(found, by_a=by_a)
    usual = [logic.same(number, logic.number(_EXT4))]
    return _smallest(number, [logic.negation(hidden_a)], usual, effort)


def _smallest(
    number: Number, demands: Sequence[Formula], wishes: Sequence[Formula], effort: Effort
) -> int | None:
    solver = logic.Solver(effort)
    solver.add(demands)
    model = solver.solve_with_wishes(wishes, [number])
    return None if model is None else model.value(number)


def _hidden(rules: Sequence[KernelRule], number: Number) -> Formula:
    return logic.any_of(
        logic.compare(number, test.operator, logic.number(test.value))
        for rule in rules
        if rule.list is FilterList.FILESYSTEM and rule.action is Action.NEVER
        for test in rule.conditions
        if isinstance(test, Test) and test.field == "fstype" and isinstance(test.value, int)
    )


class HidingError(Exception):
    """Two sets hide the names of different file systems: A alone that of `filesystem`, or B."""

    def __init__(self, filesystem: int, *, by_a: bool) -> None:
        super().__init__("the rules of the list filesystem hide different names")
        self.filesystem, self.by_a = filesystem, by_a
