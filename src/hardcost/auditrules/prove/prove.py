"""Are two sets of rules equal, for all events? A proof, or an event that they treat differently."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from hardcost.auditrules.kernelrule import FilterList, KernelRule
from hardcost.auditrules.prove import example, lists, logic
from hardcost.auditrules.prove.assumptions import assumptions
from hardcost.auditrules.prove.atoms import Atoms, UnsupportedError
from hardcost.auditrules.prove.classes import classes, in_any_order
from hardcost.auditrules.prove.lists import HidingError
from hardcost.auditrules.prove.outcome import disagreement, slots_needed, verdicts
from hardcost.auditrules.prove.relation import Difference, ProverError, Relation, Result
from hardcost.auditrules.prove.unresolved import resolved, shown
from hardcost.auditrules.semantics import DuplicateError, decide, load
from hardcost.auditrules.tables.lookup import ARCHES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.auditrules.prove.classes import CallClass, Part
    from hardcost.auditrules.prove.example import Example
    from hardcost.auditrules.prove.logic import Formula

EXACT = Relation()

DEFAULT_SECONDS = 60.0
"""How long a proof may take before the answer is that it is not known."""


def prove(
    a: Sequence[KernelRule],
    b: Sequence[KernelRule],
    relation: Relation = EXACT,
    seconds: float = DEFAULT_SECONDS,
) -> Result:
    """Say whether two sets treat all events as the relation wants it.

    Raises:
        DuplicateError: A set holds a rule twice, so that the kernel refuses the later one.
        ProverError: A difference was found that `semantics` does not confirm.
    """
    load(a)
    load(b)
    return _Proof(tuple(a), tuple(b), relation, time.monotonic() + seconds).result()


class _Proof:
    """Two sets, and what was found out about them so far."""

    def __init__(
        self,
        a: tuple[KernelRule, ...],
        b: tuple[KernelRule, ...],
        relation: Relation,
        end: float,
    ) -> None:
        self.a, self.b, self.relation, self.end = a, b, relation, end
        self.classes = self.solved = 0
        self.reasons: list[str] = []
        self.heard = lists.any_counted(a), lists.any_counted(b)
        self.hiding: HidingError | None = None
        self.filesystem: int | None = None
        try:
            self.filesystem = lists.visible_filesystem(a, b)
        except HidingError as error:
            self.hiding, self.filesystem = error, error.filesystem

    def result(self) -> Result:
        difference = self._first_difference()
        found = Result(
            None,
            self.relation,
            assumptions(self.a, self.b, self.relation),
            classes=self.classes,
            solved=self.solved,
        )
        if difference is not None:
            return replace(found, equal=False, difference=difference)
        if self.reasons:
            return replace(found, reason="; ".join(dict.fromkeys(self.reasons)))
        return replace(found, equal=True)

    def _first_difference(self) -> Difference | None:
        elsewhere = next(lists.differences(self.a, self.b, self.relation, self.reasons), None)
        if elsewhere is not None:
            return elsewhere
        best: Difference | None = None
        for found in self._open_classes():
            try:
                difference = self._solve(found)
            except (UnsupportedError, logic.UndecidedError) as error:
                self.reasons.append(str(error))
                continue
            if difference is None:
                continue
            if best is None or example.oddity(difference.event) < example.oddity(best.event):
                best = difference
            if example.oddity(best.event) == 0:
                break
        return best

    def _open_classes(self) -> list[CallClass]:
        """Return the classes in which the sets are not the same by their words, each but once."""
        arches = [arch for arch in ARCHES if not (self.relation.no_b32 and arch == "b32")]
        found: dict[object, CallClass] = {}
        keys = not self.relation.ignore_keys
        for one in classes(self.a, self.b, arches, keys=keys):
            self.classes += 1
            left, right = in_any_order(one.a), in_any_order(one.b)
            if left == right and not self._differs_anyway(left):
                continue
            known = found.setdefault((one.source, left, right), one)
            if example.rank(one) < example.rank(known):
                found[one.source, left, right] = one
        self.solved = len(found)
        return sorted(found.values(), key=lambda one: (example.rank(one), one.arch != "b64"))

    def _differs_anyway(self, rules: Sequence[Part]) -> bool:
        """Return whether the sets may differ about a class for which they have the same rules."""
        if self.hiding and slots_needed(rules):
            return True
        return self.heard[0] != self.heard[1] and not self.relation.ignore_raised

    def _solve(self, found: CallClass) -> Difference | None:
        atoms, differ = self._differences(found)
        solver = logic.Solver(self._seconds_left())
        solver.add([differ, *atoms.laws()])
        if self.filesystem is None:
            solver.add(atoms.no_files())
        wishes = example.wishes(atoms, found.arch, example.best_call(found))
        model = solver.solve_with_wishes(wishes, example.numbers(atoms))
        if model is None:
            if self.hiding and atoms.slots:
                raise UnsupportedError(str(self.hiding))
            return None
        rules = (*self.a, *self.b)
        return self._checked(example.read(atoms, model, found, rules, self.filesystem or 0))

    def _differences(self, found: CallClass) -> tuple[Atoms, Formula]:
        """Return when the sets do not agree about a call of a class.

        Where they hide different names, only calls are meant all of whose names one set hides.
        """
        left, right = [part for _, part in found.a], [part for _, part in found.b]
        atoms = Atoms(found.source, slots_needed([*left, *right]))
        seen = [atoms, atoms]
        if self.hiding:
            seen[0 if self.hiding.by_a else 1] = atoms.without_names()
        keys = _numbered([*left, *right])
        said = [verdicts(one, parts, keys) for one, parts in zip(seen, (left, right), strict=True)]
        return atoms, disagreement(said[0], said[1], self.relation, heard=self.heard)

    def _checked(self, found: Example) -> Difference:
        a, b = (resolved(rules, found.resolved) for rules in (self.a, self.b))
        try:
            outcomes = [decide(load(rules, found.files), found.event) for rules in (a, b)]
        except DuplicateError as error:
            raise logic.UndecidedError("they differ where two names are one user") from error
        if self.relation.agree(*outcomes):
            raise ProverError(f"not confirmed: {found.event} {outcomes}")
        return Difference(
            found.event,
            found.files,
            outcomes[0],
            outcomes[1],
            shown(found.resolved),
            asked=found.asked,
        )

    def _seconds_left(self) -> float:
        left = self.end - time.monotonic()
        if left <= 0:
            raise logic.UndecidedError("it takes too long")
        return left


def _numbered(parts: Sequence[Part]) -> dict[str, int]:
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
    end = time.monotonic() + seconds
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
                answer[index] = _better(_fires_in(found, position, end), answer[index])
    return answer


def _better(now: bool | None, before: bool | None) -> bool | None:  # noqa: FBT001  (answers)
    """Return what is known after two answers: that it can, that it is not known, that it can't."""
    if now or before is False:
        return now
    return before


def _fires_in(found: CallClass, position: int, end: float) -> bool | None:
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
        solver = logic.Solver(max(0.001, end - time.monotonic()))
        solver.add([own, logic.negation(logic.any_of(higher)), *atoms.laws()])
        if asked.bucket:
            solver.add([atoms.visited(0)])
        return solver.solve() is not None
    except (UnsupportedError, logic.UndecidedError):
        return None
