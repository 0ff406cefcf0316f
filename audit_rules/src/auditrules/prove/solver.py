"""Formulas over truth values and 32-bit numbers: the only module that uses the solver, z3.

Formulas are simplified as they are built: `TRUE` and `FALSE` never reach the solver.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NewType

import z3

from auditrules.model.kernel_rule import Operator

Formula = NewType("Formula", object)
"""Something that holds or not."""

NumberTerm = NewType("NumberTerm", object)
"""A number without sign of `BITS` bits."""

BITS = 32

TRUE = Formula(z3.BoolVal(val=True))
FALSE = Formula(z3.BoolVal(val=False))


def truth(name: str) -> Formula:
    """Return the unknown truth value of that name."""
    return Formula(z3.Bool(name))


def unknown_number(name: str) -> NumberTerm:
    """Return the unknown number of that name."""
    return NumberTerm(z3.BitVec(name, BITS))


def number_of(value: int) -> NumberTerm:
    """Return a number, cut to its bits."""
    return NumberTerm(z3.BitVecVal(value & 0xFFFFFFFF, BITS))


def constant(*, value: bool) -> Formula:
    """Return a formula that always holds, or never."""
    return TRUE if value else FALSE


def negation(formula: Formula) -> Formula:
    """Return the negation of a formula."""
    if formula is TRUE:
        return FALSE
    return TRUE if formula is FALSE else Formula(z3.Not(formula))


def all_of(formulas: Iterable[Formula]) -> Formula:
    """Return the conjunction of formulas."""
    parts = [formula for formula in formulas if formula is not TRUE]
    if any(part is FALSE for part in parts):
        return FALSE
    if len(parts) < 2:  # noqa: PLR2004  (one needs no And)
        return parts[0] if parts else TRUE
    return Formula(z3.And(parts))


def any_of(formulas: Iterable[Formula]) -> Formula:
    """Return the disjunction of formulas."""
    parts = [formula for formula in formulas if formula is not FALSE]
    if any(part is TRUE for part in parts):
        return TRUE
    if len(parts) < 2:  # noqa: PLR2004  (one needs no Or)
        return parts[0] if parts else FALSE
    return Formula(z3.Or(parts))


def implies(cause: Formula, effect: Formula) -> Formula:
    """Return that `cause` implies `effect`."""
    return any_of([negation(cause), effect])


def either(condition: Formula, held: Formula, otherwise: Formula) -> Formula:
    """Return `held` if `condition` holds, else `otherwise`."""
    if condition is TRUE or held is otherwise:
        return held
    if condition is FALSE:
        return otherwise
    if held is TRUE:
        return any_of([condition, otherwise])
    if held is FALSE:
        return all_of([negation(condition), otherwise])
    return Formula(z3.If(condition, held, otherwise))


def either_number(condition: Formula, held: NumberTerm, otherwise: NumberTerm) -> NumberTerm:
    """Return one of two numbers."""
    if condition is TRUE or held is otherwise:
        return held
    if condition is FALSE:
        return otherwise
    return NumberTerm(z3.If(condition, held, otherwise))


def are_equal(left: NumberTerm, right: NumberTerm) -> Formula:
    """Return that two numbers are equal."""
    return TRUE if left is right else Formula(_equal(left, right))


def compare(left: NumberTerm, operator: Operator, right: NumberTerm) -> Formula:
    """Return that the kernel's comparison of two numbers holds."""
    return Formula(_COMPARISONS[operator](left, right))


def low_bits(left: NumberTerm, bits: int, value: int) -> Formula:
    """Return that the lowest `bits` of a number have a value."""
    return Formula(_equal(z3.Extract(bits - 1, 0, left), z3.BitVecVal(value, bits)))


def _equal(left: object, right: object) -> object:
    # An object's own `==` would be a truth value to the type checker; z3's makes a formula.
    equal: object = left == right
    return equal


_COMPARISONS: Mapping[Operator, Callable[..., object]] = MappingProxyType({
    Operator.EQUAL: _equal,
    Operator.NOT_EQUAL: lambda left, right: z3.Not(_equal(left, right)),
    Operator.LESS: z3.ULT,
    Operator.LESS_OR_EQUAL: z3.ULE,
    Operator.GREATER: z3.UGT,
    Operator.GREATER_OR_EQUAL: z3.UGE,
    Operator.ANY_BIT: lambda left, right: (left & right) != 0,
    Operator.ALL_BITS: lambda left, right: (left & right) == right,
})  # fmt: skip


class Model:
    """Values that satisfy all of a solver's formulas."""

    def __init__(self, model: z3.ModelRef) -> None:
        self._model = model

    def holds(self, formula: Formula) -> bool:
        """Say whether a formula holds."""
        return bool(z3.is_true(self._model.eval(formula, model_completion=True)))

    def value(self, term: NumberTerm) -> int:
        """Return a number's value."""
        return int(self._model.eval(term, model_completion=True).as_long())


OUT_OF_TIME = "it takes too long"
"""The reason of an unknown answer when time ran out."""


class Effort:
    """How much work may still be done: seconds of this process's own processor time.

    The load by other programs therefore does not affect the answer.
    """

    def __init__(self, seconds: float) -> None:
        self._end = time.process_time() + seconds

    def check(self) -> None:
        """Go on if there is time left.

        Raises:
            UndecidedError: There is none.
        """
        if time.process_time() >= self._end:
            raise UndecidedError(OUT_OF_TIME)


_OUT_OF_STEPS = ("resource", "canceled")
"""Words of the solver's reason where it has used up its steps."""

_FIRST_ATTEMPT = 1_000_000
"""The solver's first limit in steps; it takes some millions per second."""


class Solver:
    """Formulas that must all hold."""

    def __init__(self, effort: Effort) -> None:
        """Make an empty one; its questions take their time from `effort`."""
        self._solver = z3.SolverFor("QF_BV")
        self._effort = effort

    def add(self, formulas: Iterable[Formula]) -> None:
        """Add formulas."""
        self._solver.add([formula for formula in formulas if formula is not TRUE])

    def solve(self, extra: Sequence[Formula] = ()) -> Model | None:
        """Return values under which all holds, with `extra` for this time; None if there are none.

        Raises:
            UndecidedError: It took too long.
        """
        asked = [formula for formula in extra if formula is not TRUE]
        steps = _FIRST_ATTEMPT
        while True:
            self._effort.check()
            self._solver.set("rlimit", steps)
            found = self._solver.check(*asked)
            if found == z3.sat:
                return Model(self._solver.model())
            if found == z3.unsat:
                return None
            if not any(word in self._solver.reason_unknown() for word in _OUT_OF_STEPS):
                raise UndecidedError(str(self._solver.reason_unknown()))
            steps *= 2

    def solve_with_wishes(
        self, wishes: Iterable[Formula], wanted: Sequence[NumberTerm] = ()
    ) -> Model | None:
        """Return values under which all holds; None if there are none.

        Each of the `wishes` holds too, unless it contradicts those before it or can't be decided;
        after them each of the `wanted` numbers is the smallest that those before it leave. So the
        values are the same whatever was asked before, unless a question takes too long.

        Raises:
            UndecidedError: It took too long.
        """
        model = self.solve()
        if model is None:
            return None  # so no further wishes need be made
        for wish in wishes:
            if not model.holds(wish):
                better = self._try(wish)
                if better is None:
                    continue
                model = better
            self.add([wish])
        for one in wanted:
            model = self._with_smallest(one, model)
        return model

    def _with_smallest(self, wanted: NumberTerm, model: Model) -> Model:
        """Return a model with the smallest value that a number can have, and demand that value."""
        least, most = 0, model.value(wanted)
        limit = most - 1  # a wish holds the number in most cases, and nothing lies below
        while least < most:
            better = self._try(compare(wanted, Operator.LESS_OR_EQUAL, number_of(limit)))
            if better is None:
                least = limit + 1
            else:
                model, most = better, better.value(wanted)
            limit = (least + most) // 2
        self.add([are_equal(wanted, number_of(most))])
        return model

    def _try(self, wish: Formula) -> Model | None:
        try:
            return self.solve([wish])
        except UndecidedError:
            return None


class UndecidedError(Exception):
    """The solver gave up."""
