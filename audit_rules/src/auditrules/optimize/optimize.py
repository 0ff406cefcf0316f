"""A cheaper set of rules that records the same.

The changes are those of `changes.py`. Each is made only if, under the cost model, no call pays more
than under the original. At the end the whole set is proved equivalent to the original, or
discarded.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from auditrules.cost.constants import Constants
from auditrules.cost.predict import Histogram
from auditrules.model.kernel_lists import by_rank
from auditrules.model.kernel_rule import FilterList, KernelRule, Operator, is_test
from auditrules.optimize import never, signals
from auditrules.optimize.changes import RANGE, RuleChanges
from auditrules.optimize.lines import Candidate, Candidates
from auditrules.optimize.prices import TOLERANCE, Prices, no_directory
from auditrules.prove.prove import prove_equal
from auditrules.prove.relation import Relation, Result
from auditrules.tables.lookup import Arch

_SIGN = 1 << 31


@dataclass(frozen=True)
class OptimizeOptions:
    """The facts about the machine, and the properties that may be given up.

    `b32`: programs can use the 32-bit ABI. `never_first`: a `never` rule may be put at the front,
    with the loss that `never.GIVES_UP` describes. `keep_lines`: each rule keeps its text, for
    programs that look for lines. `likely_directory` says how to price a watched path of unknown
    kind. `thorough`: changes are made for any saving, and however hard a line is to read then.
    """

    b32: bool = True
    never_first: bool = False
    keep_lines: bool = False
    likely_directory: Callable[[str], bool] = no_directory
    thorough: bool = False

    @property
    def relation(self) -> Relation:
        """How the new set has to agree with the old."""
        return Relation(no_b32=not self.b32, ignore_raised=self.never_first)


@dataclass(frozen=True)
class MeanCost:
    """The cost of the rules for the workload's mean call (instructions)."""

    before: float
    after: float


@dataclass(frozen=True)
class Optimised:
    """A new set and its original.

    `original` are the input rules in the order in which they load, `lines` the new rules of the
    list `exit` by priority; their origins are indices into `original`. `dropped` are indices of
    rules without a replacement. `others` are the rules of other lists, which stay. `before` and
    `after` are the costs of the rules to each typical call (instructions); `walked` says against
    how many rules each call is checked, before and after. `proof` says whether the two sets agree;
    if they are not proved equal, nothing was changed, and `kept_because` says why.
    `dearer_failing` is the most that a failing call pays more (instructions), `dropped_saves` what
    the dropped rules cost the mean call. `prices` is what they were priced by, and `agreed` what
    other proofs about these sets need not ask again (`prove_equal`).
    """

    original: tuple[KernelRule, ...]
    lines: tuple[Candidate, ...]
    others: tuple[int, ...]
    dropped: tuple[int, ...]
    before: Mapping[tuple[Arch, int], float]
    after: Mapping[tuple[Arch, int], float]
    mean: MeanCost
    walked: tuple[int, int]
    proof: Result
    options: OptimizeOptions
    prices: Prices = field(repr=False, compare=False)
    agreed: set[Hashable] = field(repr=False, compare=False)
    kept_because: str = ""
    dearer_failing: float = 0.0
    dropped_saves: float = 0.0

    @property
    def rules(self) -> tuple[KernelRule, ...]:
        """All new rules, those of the list `exit` last."""
        return (
            *(self.original[number] for number in self.others),
            *(line.rule for line in self.lines),
        )

    @property
    def dearer(self) -> tuple[tuple[Arch, int], ...]:
        """The calls that pay more: at most the cost of passing `never` rules in front."""
        return tuple(
            call for call, cost in self.before.items() if self.after[call] > cost + TOLERANCE
        )

    @property
    def saves(self) -> bool:
        """Whether any call pays less."""
        return any(self.after[call] < cost - TOLERANCE for call, cost in self.before.items())


def optimise(
    rules: Sequence[KernelRule],
    constants: Constants,
    histogram: Histogram,
    options: OptimizeOptions | None = None,
    tell: Callable[[str], None] = lambda _doing: None,
) -> Optimised:
    """Return a cheaper set of rules, which are given in the order in which they load.

    `tell` is called now and then with the current step.

    Raises:
        DuplicateError: A rule stands twice, which the kernel refuses.
    """
    options = options or OptimizeOptions()
    prices = Prices(constants, histogram, options.b32, options.likely_directory)
    return _Work(tuple(rules), prices, options, tell).result()


def more_if_thorough(made: Optimised, tell: Callable[[str], None] = lambda _doing: None) -> float:
    """Return how much more all changes would save the mean call (instructions), not yet proved."""
    options = replace(made.options, thorough=True)
    return _Work(made.original, made.prices, options, tell).more_than(made.lines)


@dataclass
class _Work:
    """One optimisation."""

    original: tuple[KernelRule, ...]
    prices: Prices
    options: OptimizeOptions
    tell: Callable[[str], None]
    agreed: set[Hashable] = field(default_factory=set)

    def result(self) -> Optimised:
        self.tell(f"pricing {len(self.original)} rules")
        before = self.prices.of_set(self.original)
        reason = ""
        for lines, dropped in self._tries():
            worse = self._worse(before, lines)
            if worse:
                reason = "every other set that was found makes some call more expensive"
                continue
            self.tell(f"proving that {len(lines)} rules record the same")
            proof = self._prove(lines)
            if proof.equal:
                made = self._make_result(before, lines, dropped, proof)
                return replace(made, dearer_failing=self._dearer_failing(lines))
            reason = proof.reason or "the cheaper set does not record the same"
        # Nothing cheaper is proved: the original rules, in the order in which they decide.
        lines = tuple(
            Candidate(replace(self.original[number], prepend=False), (number,))
            for number in self._ranked
        )
        proof = self._prove(lines)
        return replace(self._make_result(before, lines, self._repeated, proof), kept_because=reason)

    def _prove(self, lines: Sequence[Candidate]) -> Result:
        relation, rules = self.options.relation, self._whole_set(lines)
        return prove_equal(self.original, rules, relation, agreed=self.agreed)

    def more_than(self, lines: Sequence[Candidate]) -> float:
        """Return how much less the cheapest set that is found costs the mean call than lines do."""
        (best, _), *_ = self._tries()
        return (self._price(lines) - self._price(best)) / (self.prices.weight or 1.0)

    def _make_result(
        self,
        before: Mapping[tuple[Arch, int], float],
        lines: tuple[Candidate, ...],
        dropped: tuple[int, ...],
        proof: Result,
    ) -> Optimised:
        after = self.prices.of_set(self._whole_set(lines))
        return Optimised(
            self.original,
            lines,
            self._others,
            dropped,
            before,
            after,
            MeanCost(self.prices.mean_of(before), self.prices.mean_of(after)),
            (self._count_walked(self.original), self._count_walked(line.rule for line in lines)),
            proof,
            self.options,
            self.prices,
            self.agreed,
            dropped_saves=self.prices.mean([self.original[at] for at in dropped]),
        )

    def _count_walked(self, rules: Iterable[KernelRule]) -> int:
        """Return how many rules of the list `exit` every call walks."""
        return sum(
            rule.list is FilterList.EXIT and not self.prices.resolve_rule(rule).in_a_bucket
            for rule in rules
        )

    @cached_property
    def _others(self) -> tuple[int, ...]:
        return tuple(
            number for number, rule in enumerate(self.original) if rule.list is not FilterList.EXIT
        )

    @cached_property
    def _ranked(self) -> tuple[int, ...]:
        """The rules of the list `exit` by priority, as indices, without repetitions."""
        first: dict[Hashable, int] = {}
        for number in self._by_priority:
            first.setdefault(self.original[number].sameness, number)
        return tuple(first.values())

    @cached_property
    def _repeated(self) -> tuple[int, ...]:
        """Rules (-A) that repeat a rule of higher priority, and decide no call."""
        return tuple(sorted({*self._by_priority} - {*self._ranked}))

    @cached_property
    def _by_priority(self) -> tuple[int, ...]:
        order = by_rank(self.original)
        return tuple(n for n in order if self.original[n].list is FilterList.EXIT)

    def _whole_set(self, lines: Sequence[Candidate]) -> tuple[KernelRule, ...]:
        others = [self.original[number] for number in self._others]
        return (*others, *(line.rule for line in lines))

    def _worse(
        self, before: Mapping[tuple[Arch, int], float], lines: Sequence[Candidate]
    ) -> list[tuple[Arch, int]]:
        """Return the calls that would pay more, but for passing a `never` rule in front."""
        after = self.prices.of_set(self._whole_set(lines))
        in_front = [line.rule for line in lines if never.NEVER_FIRST in line.done]
        worse = []
        for case in self.prices.typical:
            call = case.event.arch, case.event.call
            allowed = self.prices.of_rules(in_front, case.event) + TOLERANCE
            if after[call] > before[call] + allowed:
                worse.append(call)
        return worse

    def _dearer_failing(self, lines: Sequence[Candidate]) -> float:
        """Return the most that a call pays more if its error is one that a range was made of."""
        old, new = (
            self.prices.set_costs(rules) for rules in (self.original, self._whole_set(lines))
        )
        most = 0.0
        for line in lines:
            origins = [self.original[number] for number in line.origins]
            errors = _errors([line.rule], Operator.NOT_EQUAL) | _errors(origins, Operator.EQUAL)
            for case in self.prices.typical if RANGE in line.done else ():
                if not line.rule.names(case.event.call):
                    continue
                for error in errors:
                    failing = replace(case.event, exit=error)
                    kind = self.prices.kind(failing)
                    before, after = (under.walk(failing, kind).cost for under in (old, new))
                    most = max(most, after - before)
        return most

    def _tries(self) -> list[tuple[tuple[Candidate, ...], tuple[int, ...]]]:
        """Return sets to be tried, the best first."""
        ranked = [replace(self.original[number], prepend=False) for number in self._ranked]
        lines = Candidates.of(ranked, b32=self.options.b32)
        changes = RuleChanges(
            lines, self.prices, self.original, self.tell, thorough=self.options.thorough
        )
        dropped: list[int] = []
        if not self.options.keep_lines:
            dropped = [*changes.drop_dead(keep_one=not self._counted_elsewhere)]
            changes.trim()
            changes.narrow()
            changes.drop_shadowed()
            changes.join()
            # A joined rule may match fewer calls than its mask names, and need fewer conditions.
            changes.narrow()
            changes.trim()
            changes.reorder()
        others = [self.original[number] for number in self._others]
        # While a rule names a call that sends signals, the kernel collects their receivers.
        signals.keep(self.original, others, changes.lines, self.prices)
        arranged = [changes.lines.in_order()]
        deciding = self._deciding_lines(arranged[0])
        # The walk ends at the rule that decides, so those that decide about the workload come
        # first.
        if deciding:
            first = changes.lines.with_what_stands_before(deciding)
            arranged.append(changes.lines.in_order(lambda line: int(line not in first)))
        if self.options.never_first:
            # One order of priorities covers list and buckets: behind `never`, rules on files would
            # lose.
            above = changes.lines.in_order(lambda line: int(not line.rule.in_a_bucket))
            arranged.append(never.in_front(above, ranked, self.prices, b32=self.options.b32))
        arranged.sort(key=self._price)
        unused = tuple(sorted([*(self._ranked[number] for number in dropped), *self._repeated]))
        return [(self._with_input_indices(lines), unused) for lines in arranged]

    @property
    def _counted_elsewhere(self) -> bool:
        """Whether a rule of another list makes the kernel look at calls (`audit_n_rules`)."""
        counted = {FilterList.TASK, FilterList.IO_URING}
        return any(self.original[number].list in counted for number in self._others)

    def _price(self, lines: Sequence[Candidate]) -> float:
        """Return the cost of the rules for the workload (instructions)."""
        costs = self.prices.of_set([line.rule for line in lines])
        return sum(
            costs[case.event.arch, case.event.call] * case.weight for case in self.prices.typical
        )

    def _deciding_lines(self, lines: Sequence[Candidate]) -> set[Candidate]:
        """Return the lines that decide about a call of the workload."""
        under = self.prices.set_costs(line.rule for line in lines)
        found = set()
        for case in self.prices.typical:
            if case.weight:
                by = under.decided_by(case.event, case.kind)
                if by is not None:
                    found.add(lines[by])
        return found

    def _with_input_indices(self, lines: Sequence[Candidate]) -> tuple[Candidate, ...]:
        """Return lines whose origins are indices into the input."""
        found = []
        for line in lines:
            origins = tuple(sorted(self._ranked[at] for at in line.origins))
            before = self.prices.mean([self.original[at] for at in origins])
            saves = before - self.prices.mean([line.rule]) if line.done else 0.0
            found.append(replace(line, origins=origins, saves=saves))
        return tuple(found)


def _errors(rules: Iterable[KernelRule], operator: Operator) -> set[int]:
    """Return the results that rules compare with; negative ones are errors."""
    tests = (test for rule in rules for test in rule.conditions)
    return {
        # The number of 32 bits without a sign, as one with a sign.
        (int(test.value) ^ _SIGN) - _SIGN
        for test in tests
        if is_test(test, "exit") and test.operator is operator
    }
