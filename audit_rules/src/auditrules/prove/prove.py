"""Proves two sets of rules equal for all events, or finds an event that they treat differently."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace

from auditrules.kernel import records
from auditrules.kernel.semantics import Outcome, decide, load
from auditrules.kernel.signal_calls import notes_signals, signal_mask
from auditrules.model.kernel_lists import accepted_rules, check_distinct
from auditrules.model.kernel_rule import FilterList, KernelRule
from auditrules.prove import example, other_lists
from auditrules.prove.assumptions import assumptions
from auditrules.prove.call_classes import (
    CallClass,
    RuleRest,
    Source,
    classes,
    in_any_order,
)
from auditrules.prove.example import Example
from auditrules.prove.few_changes import changed_rules
from auditrules.prove.formulas import Atoms, UnsupportedError
from auditrules.prove.other_lists import HidingError
from auditrules.prove.outcome import disagreement, slots_needed, unlike, verdicts
from auditrules.prove.relation import Difference, ProverError, Relation, Result
from auditrules.prove.solver import (
    Effort,
    Formula,
    Solver,
    UndecidedError,
    all_of,
    any_of,
    constant,
    negation,
)
from auditrules.prove.unknown_ids import numbers_by_name, resolve_ids
from auditrules.prove.watch_kinds import settle_kinds, split_kinds, surely_directories
from auditrules.tables import lookup
from auditrules.tables.lookup import ARCHES

EXACT = Relation()

DEFAULT_SECONDS = 60.0
"""The processor time after which a proof is given up (seconds)."""


def prove_equal(  # noqa: PLR0913, PLR0917  (what is asked, and what is known)
    a: Sequence[KernelRule],
    b: Sequence[KernelRule],
    relation: Relation = EXACT,
    seconds: float = DEFAULT_SECONDS,
    release: lookup.Release = lookup.OLDEST,
    agreed: set[Hashable] | None = None,
) -> Result:
    """Say whether two sets satisfy the relation for all events, under a release of Linux.

    If a watched path may or may not be a directory, the answer holds for both kinds.
    `seconds` bounds all of the work, in processor time of this process. `agreed` holds questions
    that were answered before, in whichever proof: in what they ask about, no event is treated
    differently. Proofs of much the same rules, such as those for several releases, can share it.

    Raises:
        DuplicateError: A set holds a rule twice, so that the kernel refuses the later one.
        ProverError: A difference was found that `semantics` does not confirm.
    """
    for rules in (a, b):
        check_distinct(rules)
    known = set() if agreed is None else agreed
    return _Proof(tuple(a), tuple(b), relation, Effort(seconds), release, known).result()


class _Proof:
    """A proof about two sets in progress."""

    def __init__(  # noqa: PLR0913, PLR0917  (what is asked, and what is known)
        self,
        a: tuple[KernelRule, ...],
        b: tuple[KernelRule, ...],
        relation: Relation,
        effort: Effort,
        release: lookup.Release,
        agreed: set[Hashable],
    ) -> None:
        self.a, self.b, self.relation, self.effort = a, b, relation, effort
        self.release, self.agreed = release, agreed
        self.split_a, self.split_b = split_kinds(a), split_kinds(b)
        self.surely_directories = surely_directories((*a, *b))
        self.classes = self.solved = 0
        self.reasons: list[str] = []
        self.counted = other_lists.has_counted_rule(a), other_lists.has_counted_rule(b)
        self.raised_anyway = release in lookup.RAISED_WITHOUT_RULES
        self.noting = notes_signals(a), notes_signals(b)
        self.hiding: HidingError | None = None
        self.filesystem: int | None = None

    def result(self) -> Result:
        difference: Difference | None = None
        try:
            self._compare_hiding()
            difference = self._first_difference()
        except UndecidedError as error:
            self.reasons.append(str(error))
        found = Result(
            None,
            self.relation,
            assumptions(self.a, self.b, self.relation, self.release),
            classes=self.classes,
            solved=self.solved,
        )
        if difference is not None:
            return replace(found, equal=False, difference=difference)
        if self.reasons:
            return replace(found, reason="; ".join(dict.fromkeys(self.reasons)))
        return replace(found, equal=True)

    def _compare_hiding(self) -> None:
        at_least = self.relation.at_least
        try:
            self.filesystem = other_lists.visible_filesystem(
                self.a, self.b, self.effort, rather_by_b=at_least
            )
        except HidingError as error:
            self.hiding, self.filesystem = error, error.filesystem

    def _first_difference(self) -> Difference | None:
        elsewhere = other_lists.differences(
            self.a, self.b, self.relation, self.reasons, self.effort
        )
        found_elsewhere = next(elsewhere, None)
        if found_elsewhere is not None:
            return found_elsewhere
        best: Difference | None = None
        context = self._context()
        for question, found in self._open_classes():
            if (context, question) in self.agreed:
                continue
            try:
                difference = self._solve(found)
            except (UnsupportedError, UndecidedError) as error:
                self.reasons.append(str(error))
                continue
            if difference is None:
                self.agreed.add((context, question))
                continue
            if best is None or example.oddity(difference.event) < example.oddity(best.event):
                best = difference
            if example.oddity(best.event) == 0:  # no event looks more familiar
                break
        return best

    def _context(self) -> Hashable:
        """Return all but a class and its rules that decides whether the sets agree about it."""
        excluding = (other_lists.rules_on(FilterList.EXCLUDE, one) for one in (self.a, self.b))
        hidden = self.hiding and (self.hiding.filesystem, self.hiding.by_a)
        files = self.filesystem, hidden, self.surely_directories, self._files_differ()
        return self.relation, *excluding, *files, self._heard

    def _open_classes(self) -> list[tuple[Hashable, CallClass]]:
        """Return the classes in which the sets are not the same by their words, each but once.

        Before each is what is asked about it: the question is the same where that is.
        """
        arches = [arch for arch in ARCHES if not (self.relation.no_b32 and arch == "b32")]
        found: dict[Hashable, CallClass] = {}
        keys = not self.relation.ignore_keys
        for one in classes(self.split_a, self.split_b, arches, self.release, keys=keys):
            self.effort.check()
            self.classes += 1
            left, right = in_any_order(one.a), in_any_order(one.b)
            for part in self._by_signals(one):
                if left == right and not self._differs_anyway(part, left):
                    continue
                # Classes with the same rules left have the same answer: the most ordinary one is
                # solved.
                key = (part.source, left, right, self._notes_differ(part))
                known = found.setdefault(key, part)
                if example.rank(part) < example.rank(known):
                    found[key] = part
        self.solved = len(found)
        return sorted(found.items(), key=lambda one: (example.rank(one[1]), one[1].arch != "b64"))

    def _by_signals(self, found: CallClass) -> list[CallClass]:
        """Return a class, in two where one set alone notes whom some of its calls send signals."""
        sending = found.calls & signal_mask(found.arch)
        others = found.calls & ~sending
        if not sending or not others or not self._matters(*self.noting):
            return [found]
        return [replace(found, calls=sending), replace(found, calls=others)]

    def _matters(self, in_a: bool, in_b: bool) -> bool:  # noqa: FBT001  (of A and of B)
        """Return whether it matters that a record of one set says more than that of the other."""
        return in_a != in_b and not (self.relation.at_least and in_b)

    def _notes_differ(self, found: CallClass) -> bool:
        """Return whether records of a class's calls say in one set alone whom a signal went to."""
        return self._matters(*self.noting) and bool(found.calls & signal_mask(found.arch))

    def _differs_anyway(self, found: CallClass, rules: Sequence[RuleRest]) -> bool:
        """Return whether the sets may differ about a class for which they have the same rules."""
        if self._notes_differ(found) and self._can_record(rules):
            return True
        if self.hiding and (self._hidden_matters(rules) or slots_needed(rules)):
            return True
        return self.counted[0] != self.counted[1] and not self.relation.ignore_raised

    @property
    def _heard(self) -> tuple[bool, bool]:
        """Whether each set's machine writes a record that is asked for elsewhere."""
        return (True, True) if self.raised_anyway else self.counted

    def _files_differ(self) -> bool:
        """Return whether a requested record lacks its files under one set alone.

        That is so where a set without rules doesn't keep such records from being written.
        """
        agrees = self.relation.at_least and not self.counted[0]
        alone = self.counted[0] != self.counted[1] and not agrees
        return self.raised_anyway and alone and not self.relation.ignore_raised

    def _hidden_matters(self, rules: Sequence[RuleRest]) -> bool:
        """Return whether a record that lacks a file would be another one, and can be written."""
        if self.hiding is None or (self.relation.at_least and self.hiding.by_a):
            return False
        return self._can_record(rules)

    def _can_record(self, rules: Sequence[RuleRest]) -> bool:
        return not self.relation.ignore_raised or any(part.always for part in rules)

    def _agrees_by_changes(self, found: CallClass) -> bool:
        """Say whether the sets surely agree about a class, by the few rules in which they differ.

        Records have to be the same where the sets decide the same.
        """
        excluding = (other_lists.rules_on(FilterList.EXCLUDE, one) for one in (self.a, self.b))
        if self.hiding or self._files_differ() or self._notes_differ(found):
            return False
        if self._heard[0] != self._heard[1] or next(excluding) != next(excluding):
            return False
        pairs = changed_rules([part for _, part in found.a], [part for _, part in found.b])
        return pairs is not None and all(self._decide_alike(found.source, *pair) for pair in pairs)

    def _decide_alike(self, source: Source, a: Sequence[RuleRest], b: Sequence[RuleRest]) -> bool:
        """Say whether two lists surely decide the same about every call of a source."""
        atoms = Atoms(source, slots_needed([*a, *b]))
        keys = _number_keys([*a, *b])
        try:
            one, other = (verdicts(atoms, parts, keys) for parts in (a, b))
            return self._solver([unlike(one, other)], atoms).solve() is None
        except (UnsupportedError, UndecidedError):
            return False  # all rules may say it

    def _solver(self, formulas: Iterable[Formula], atoms: Atoms) -> Solver:
        """Return a solver with formulas and what holds of their unknowns."""
        solver = Solver(self.effort)
        solver.add([*formulas, *atoms.laws()])
        solver.add(held for path, held in atoms.kinds.items() if path in self.surely_directories)
        return solver

    def _solve(self, found: CallClass) -> Difference | None:
        if self._agrees_by_changes(found):
            return None
        # Who requested a record matters only where rules drop records by their type.
        asking = records.RAISING if self._excluding else records.RAISING[:1]
        each = (self._solve_for(found, kind) for kind in asking)
        return next((difference for difference in each if difference is not None), None)

    @property
    def _excluding(self) -> bool:
        """Whether any record may be dropped."""
        return any(rule.list is FilterList.EXCLUDE for rule in (*self.a, *self.b))

    def _solve_for(self, found: CallClass, raised_by: int) -> Difference | None:
        """Return a difference in a class; `raised_by` is the record type that requests a record."""
        atoms, differ = self._differences(found, raised_by)
        solver = self._solver([differ], atoms)
        if self.filesystem is None:  # rules hide the files of every file system
            solver.add(atoms.no_files())
        wishes = example.wishes(atoms, found.arch, example.best_call(found))
        model = solver.solve_with_wishes(wishes, example.numbers(atoms))
        if model is None:
            if self.hiding and slots_needed([part for _, part in (*found.a, *found.b)]):
                raise UnsupportedError(str(self.hiding))
            return None
        rules = (*self.a, *self.b)
        read = example.read(atoms, model, found, rules, self.filesystem or 0)
        event = replace(read.event, release=self.release, raised_by=raised_by)
        return self._confirm(replace(read, event=event))

    def _differences(self, found: CallClass, raised_by: int) -> tuple[Atoms, Formula]:
        """Return when the sets do not agree about a call of a class.

        Where they hide different names, only calls are meant all of whose names one set hides.
        """
        left, right = [part for _, part in found.a], [part for _, part in found.b]
        matters = self._hidden_matters([*left, *right]) or self._files_differ()
        atoms = Atoms(found.source, max(slots_needed([*left, *right]), int(matters)))
        seen = [atoms, atoms]
        if self.hiding:
            seen[0 if self.hiding.by_a else 1] = atoms.without_names()
        keys = _number_keys([*left, *right])
        said = [verdicts(one, parts, keys) for one, parts in zip(seen, (left, right), strict=True)]
        written = negation(other_lists.drops(atoms, self.a, records.OBJ_PID))
        noted = constant(value=self._notes_differ(found))
        noted_otherwise = all_of([noted, written])
        if matters:
            written = negation(other_lists.drops(atoms, self.a, records.PATH))
            named = all_of([atoms.visits(0), atoms.leads(0), written])
            noted_otherwise = any_of([noted_otherwise, named])
        return atoms, disagreement(
            said[0],
            said[1],
            self.relation,
            heard=self._heard,
            noted_otherwise=noted_otherwise,
            dropped=(
                other_lists.drops(atoms, self.a, records.SYSCALL),
                other_lists.drops(atoms, self.b, records.SYSCALL),
            ),
            unrequested=other_lists.drops(atoms, self.a, raised_by),
        )

    def _confirm(self, found: Example) -> Difference:
        outcomes: list[Outcome] = []
        for rules in (self.a, self.b):
            known = settle_kinds(resolve_ids(rules, found.resolved), found.directories.__contains__)
            outcomes.append(_outcome_of(known, found))
        if self.relation.agree(outcomes[0], outcomes[1]):
            raise ProverError(f"not confirmed: {found.event} {outcomes}")
        return Difference(
            found.event,
            found.files,
            outcomes[0],
            outcomes[1],
            numbers_by_name(found.resolved),
            asked=found.asked,
            directories=tuple(sorted(found.directories)),
            no_directories=tuple(sorted(found.no_directories)),
        )


def _outcome_of(rules: Sequence[KernelRule], found: Example) -> Outcome:
    """Return the outcome of an example under a set; its names and paths are known.

    Rules that are the same under these are refused, but for the first; with that the set decides
    as before.
    """
    kept = accepted_rules(rules)
    outcome = decide(load([rules[index] for index in kept], found.files), found.event)
    by = outcome.decided_by
    return replace(outcome, decided_by=None if by is None else kept[by])


def _number_keys(parts: Sequence[RuleRest]) -> dict[str, int]:
    keys = sorted({"", *(part.key for part in parts)})
    return {key: index for index, key in enumerate(keys)}


def can_fire(rules: Sequence[KernelRule], index: int, seconds: float = 10.0) -> bool | None:
    """Say whether there is an event about which a rule decides; None if it is not known.

    A rule of the exit list decides if it is the first there to hold, one in a bucket if it is the
    first to hold for a name that nothing of higher priority decided about.
    """
    return fires(rules, seconds, only=frozenset({index}))[index]


def fires(
    rules: Sequence[KernelRule],
    seconds: float = DEFAULT_SECONDS,
    only: frozenset[int] | None = None,
) -> dict[int, bool | None]:
    """Say of each rule that calls are tested against whether it can decide (`can_fire`).

    Rules of other lists are not in the answer, unless asked for: then it is None.
    """
    effort = Effort(seconds)
    wanted = {
        index
        for index, rule in enumerate(rules)
        if rule.list is FilterList.EXIT or rule.in_a_bucket
    }
    if only is not None:
        wanted &= only
    answer: dict[int, bool | None] = dict.fromkeys(wanted, False)
    if only is not None:
        answer.update(dict.fromkeys(only - wanted))
    done: set[object] = set()
    for found in classes(rules, (), ARCHES, keys=False):
        key = (found.source, found.a)
        if key in done:
            continue
        done.add(key)
        for position, (index, _) in enumerate(found.a):
            if index in wanted and answer[index] is not True:
                answer[index] = _better(_fires_in(found, position, effort), answer[index])
    return answer


def _better(now: bool | None, before: bool | None) -> bool | None:  # noqa: FBT001  (answers)
    """Return the stronger of two answers: yes before unknown, and unknown before no."""
    if now or before is False:
        return now
    return before


def _fires_in(found: CallClass, position: int, effort: Effort) -> bool | None:
    parts = [part for _, part in found.a[: position + 1]]
    asked = parts[-1]
    if not asked.bucket and not any(part.conditions for part in parts):
        return True
    atoms = Atoms(found.source, slots_needed(parts))
    try:
        higher = [
            atoms.all_hold(list(part.conditions), 0 if part.bucket else None)
            for part in parts[:-1]
            if asked.bucket or not part.bucket
        ]
        own = atoms.all_hold(list(asked.conditions), 0 if asked.bucket else None)
        solver = Solver(effort)
        solver.add([own, negation(any_of(higher)), *atoms.laws()])
        if asked.bucket:
            solver.add([atoms.visits(0)])
        return solver.solve() is not None
    except (UnsupportedError, UndecidedError):
        return None
