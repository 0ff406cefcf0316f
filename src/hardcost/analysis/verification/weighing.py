"""The weighing of a profile: which groups to leave out until each control is confirmed or measured.

A coroutine: it asks for groups to be left out of the whole profile, is sent what each saves, and
returns what it confirmed. It measures nothing itself, and the same answers always lead to the same
questions.

1. Controls whose cost can't be predicted, such as rules that fire, are left out one by one. The
   others are left out all together, and in the groups of `groups.py`.
2. Where a group saves other than predicted, the control that explains all groups that are off is
   left out by itself; where none does, the smallest of these groups is halved. A measured saving
   takes the place of its prediction in every group. Controls whose prediction was wrong are
   measured alone, too.
3. Some of it is no single control's: two that were measured by themselves save more or less
   together, or a daemon is woken, and each of its calls walks the rules, too. What explains all
   groups to within chance is taken as their expectation.
4. If both halves of a group are in order, no single control makes it odd: it was chance, or two
   that act only together, which is part of the bill's interaction. On a metric that moves, others
   that are off by less than twice as much are then in order, and confirm no better than that.

It ends when all groups are in order, or when it has asked for as many as there are controls: then
the rest is left out one by one.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from hardcost.analysis.estimates.estimates import Estimate, on_grid
from hardcost.analysis.verification import decoding
from hardcost.analysis.verification.decoding import Numbers
from hardcost.analysis.verification.groups import HALF, Group, Predictions, separating_groups
from hardcost.model.workload import MetricId
from hardcost.units import join_in_prose

FEWEST = 5
"""Controls that are worth weighing: of fewer there would be more groups than controls."""

_TWICE = 2  # so much more than once seen may others be off
_SEVERAL = 2  # metrics, or groups, that say more together than each by itself

Savings = Mapping[MetricId, Estimate]
"""What leaving out a group saved, by metric."""


@dataclass(frozen=True)
class WeighingTask:
    """The controls to be weighed, by their index in the profile, and what is known of them.

    `suspects` are measured by themselves from the start; `booting` change the boot line.
    `predicted` is the saving of leaving out a group of the others, `least` the smallest
    distinguishable cost by metric, `seed` what shuffles the groups. With `alone`, suspects, and
    controls whose prediction was wrong, are measured alone, too. `plain` is the metric of a call
    that does nothing: what is saved on it is saved on each call of a daemon.
    """

    controls: tuple[int, ...]
    suspects: frozenset[int]
    booting: frozenset[int]
    predicted: Callable[[Group], Predictions]
    least: Predictions
    seed: str
    alone: bool = True
    plain: MetricId | None = None


@dataclass(frozen=True)
class GroupQuestion:
    """Groups to be left out of the whole, each in a trial, and controls to be measured alone."""

    left_out: tuple[Group, ...]
    alone: tuple[int, ...]
    why: str


@dataclass(frozen=True)
class Confirmed:
    """A predicted cost, and the groups that confirmed it: how many, the smallest of how many.

    Its interval is that of the group that confirmed it best, and at least the smallest
    distinguishable cost to each side.
    """

    cost: Estimate
    groups: int
    smallest: int


@dataclass(frozen=True)
class Weighed:
    """The result: predictions that groups confirmed, by control and metric.

    `groups` were left out of the whole. `wrong` are the controls whose prediction was found to be
    off, beside the suspects.
    """

    confirmed: Mapping[int, Mapping[MetricId, Confirmed]]
    groups: tuple[Group, ...]
    wrong: tuple[int, ...]


GroupQuestions = Generator[GroupQuestion, Sequence[Savings], Weighed]


def weigh(task: WeighingTask) -> GroupQuestions:
    """Yield what to leave out; return the predictions that were confirmed."""
    state = _State(task)
    question = state.first_question()
    while question is not None:
        answers = yield question
        state.learn(question, answers)
        question = state.next_question()
    return state.result()


@dataclass
class _State:
    """The groups that were weighed so far, and the controls that were measured by themselves.

    `explained` are groups that are off on a metric for no single control's sake.
    """

    task: WeighingTask
    groups: dict[Group, Savings] = field(default_factory=dict)
    single: dict[int, Savings] = field(default_factory=dict)
    explained: set[tuple[Group, MetricId]] = field(default_factory=set)
    _chance: dict[MetricId, float] = field(default_factory=dict)  # where groups showed more
    _together: dict[MetricId, dict[Group, float]] = field(default_factory=dict)  # by pair
    _daemons_calls: dict[MetricId, float] = field(default_factory=dict)
    _shared_by: dict[MetricId, int] = field(default_factory=dict)  # groups and controls known then
    _alone: set[int] = field(default_factory=set)
    _guesses: dict[MetricId, list[int]] = field(default_factory=dict)
    _jointly: list[int] = field(default_factory=list)
    _misled_by: int = 0  # groups
    _halves: dict[Group, tuple[Group, ...]] = field(default_factory=dict)
    _predicted: dict[Group, Predictions] = field(default_factory=dict)

    def first_question(self) -> GroupQuestion | None:
        """Ask for the suspects one by one, all others together, and the separating groups."""
        task = self.task
        rest = [one for one in task.controls if one not in task.suspects]
        if len(rest) < FEWEST:
            self._alone |= set(task.controls)
            return _ask_one_by_one(
                task.controls, "leaving out each control by itself", alone=task.alone
            )
        suspects = sorted(task.suspects)
        self._alone |= task.suspects
        groups = dict.fromkeys([frozenset(rest), *separating_groups(rest, task.booting, task.seed)])
        return GroupQuestion(
            (*map(_only, suspects), *groups),
            tuple(suspects) if task.alone else (),
            _words({"group": len(groups), "control by itself": len(suspects)}),
        )

    def learn(self, question: GroupQuestion, answers: Sequence[Savings]) -> None:
        """Take what was measured."""
        for group, saved in zip(question.left_out, answers, strict=True):
            if len(group) == 1:
                self.single[next(iter(group))] = saved
            else:
                self.groups[group] = saved

    def next_question(self) -> GroupQuestion | None:
        """Ask for what explains the groups that are off; None: all are in order."""
        off = {metric: found for metric in self.task.least if (found := self._unexplained(metric))}
        if not off:
            unconfirmed = _ask_one_by_one(
                self._unconfirmed(), "leaving out by itself what is in no group that is in order"
            )
            return unconfirmed or self._ask_alone()
        likely = set(self._guess_jointly(off))
        likely |= {one for metric, found in off.items() for one in self._guess(metric, found)}
        if likely:
            return self._ask_by_themselves(likely)
        unclear = []
        for metric in off:
            guessed = self._explain_by_shared(metric)
            likely |= set(guessed or ())
            if guessed is None:
                unclear.append(metric)
        if likely:
            return self._ask_by_themselves(likely)
        if len(unclear) < len(off):
            return self.next_question()
        return self._ask_halves(Counter(group for metric in unclear for group in off[metric]))

    def _ask_by_themselves(self, likely: Collection[int]) -> GroupQuestion:
        """Ask for controls by themselves, and alone: a guess is rarely wrong, and both can run."""
        fits = len(self.groups) + len(self._alone) + len(likely) <= len(self.task.controls)
        return GroupQuestion(
            tuple(map(_only, sorted(likely))),
            self._wanted_alone(sorted(likely)) if fits else (),
            _words({"control by itself": len(likely)}),
        )

    def _ask_halves(self, off: Mapping[Group, int]) -> GroupQuestion | None:
        """Ask for the halves of one group, the one that is off on most metrics.

        Of what they show depends which is the next.
        """
        whole = [one for one in off if one not in self._halves]
        # Each control may yet have to be left out by itself; twice as many trials are the most.
        if not whole or len(self.groups) + len(self._alone) + 2 > len(self.task.controls):
            return _ask_one_by_one(
                self._unknown, "many predictions are off: leaving out each control by itself"
            )
        group = min(whole, key=lambda one: (-off[one], len(self._unknown_of(one)), sorted(one)))
        single = sorted(self._halve(group))
        parts = [one for one in self._halves[group] if one not in self.groups]
        if not single and not parts:  # they were weighed already
            return self.next_question()
        return GroupQuestion(
            (*map(_only, single), *parts),
            (),
            _words({"part of a group that is off": len(parts), "control by itself": len(single)}),
        )

    def _ask_alone(self) -> GroupQuestion | None:
        """Ask what those cost alone whose prediction was wrong."""
        wanted = self._wanted_alone(self._wrong())
        if not wanted:
            return None
        return GroupQuestion((), wanted, "what was predicted wrongly is measured alone")

    def _wanted_alone(self, controls: Sequence[int]) -> tuple[int, ...]:
        """Return those of the controls that are yet to be measured alone.

        No more than let all trials be two for each control.
        """
        if not self.task.alone:
            return ()
        left = 2 * len(self.task.controls) - len(self.groups) - len(self.single) - len(self._alone)
        wanted = [one for one in controls if one not in self._alone][: max(left, 0)]
        self._alone |= set(wanted)
        return tuple(wanted)

    def _wrong(self) -> list[int]:
        """Return the controls that were found to save other than predicted."""
        return sorted(
            one
            for one in self.single
            if one not in self.task.suspects and self._is_wrong_anywhere(one)
        )

    def _is_wrong(self, one: int, metric: MetricId) -> bool:
        saved = self.single[one].get(metric)
        return saved is not None and self._differs(saved, self._predict(_only(one), metric), metric)

    def _differs(
        self, saved: Estimate, expected: float, metric: MetricId, corrected: int = 0
    ) -> bool:
        """Say whether a saving is another than expected, and not by chance.

        The expectation has so many `corrected` predictions in it, each by a measurement in which
        chance has a part, too.
        """
        by = saved.value - expected
        half = saved.value - saved.low if by > 0 else saved.high - saved.value
        wider = math.sqrt(1 + corrected)
        return abs(by) > max(HALF, wider * max(self._least(metric), half))

    def _halve(self, group: Group) -> set[int]:
        """Part a group in two, of which single controls are returned."""
        members = self._unknown_of(group)
        middle = len(members) // 2
        halves = (frozenset(members[:middle]), frozenset(members[middle:]))
        self._halves[group] = tuple(one for one in halves if len(one) > 1)
        return {one for half in halves if len(half) == 1 for one in half}

    def _unexplained(self, metric: MetricId) -> dict[Group, float]:
        """Return the groups that are off on a metric, without those that no control explains.

        Those have no unknown member left, or two halves that are in order.
        """
        off = self._off(metric)
        for group in list(off):
            halves = self._halves.get(group)
            in_order = halves is not None and not any(one in off for one in halves)
            if group in off and (not self._unknown_of(group) or in_order):
                self.explained.add((group, metric))
                alike = self._explain_alike(metric)
                few = len(self._corrected(group, metric)) < _SEVERAL  # that may act together
                if in_order and few and not alike and len(off) > 1 and self._moves(metric):
                    self._chance[metric] = max(self._least(metric), _TWICE * abs(off[group]))
                off = self._off(metric)
        return off

    def _explain_by_shared(self, metric: MetricId) -> list[int] | None:
        """Expect what no single control saves, if it explains all groups; None: it doesn't.

        That is what two measured controls save beyond their sum, and on a metric that moves what is
        saved on a daemon's calls. It may take one more control, which is returned. Else what a
        metric that moves is off by may be no control's at all. It is tried again once more is
        known.
        """
        known = len(self.groups) + len(self.single)
        if self._shared_by.get(metric) == known:
            return None
        self._shared_by[metric] = known
        groups = [one for one in self.groups if (one, metric) not in self.explained]
        residuals = [self._residual(one, metric) for one in groups]
        pairs = self._pairs_of_wrong()
        columns = [[float(pair <= group) for group in groups] for pair in pairs]
        if self._moves(metric) and self.task.plain:
            columns.append([self._model(group, self.task.plain) for group in groups])
        allowed = np.array([self._allowance(one, metric) for one in groups])
        unknown = self._unknown
        off = np.array(residuals) / allowed
        found = decoding.explain_by_few(
            off,
            np.array(columns).T.reshape(len(groups), -1) / allowed[:, None],
            decoding.matrix(groups, unknown) / allowed[:, None],
        )
        if found.control is not None and self._guessed_well(metric):
            self._guesses[metric] = [unknown[found.control]]
            return self._guesses[metric]
        if not found.taken:
            if not (self._moves(metric) and self._is_chance(groups, off)):
                return None
            self._chance[metric] = max(map(abs, residuals))
        for at, size in found.taken.items():
            if at < len(pairs):
                together = self._together.setdefault(metric, {})
                together[pairs[at]] = together.get(pairs[at], 0.0) + size
            else:
                self._daemons_calls[metric] = self._daemons_calls.get(metric, 0.0) + size
        if found.miss > 1:
            self._chance[metric] = found.miss * float(allowed.max())
        return []

    @staticmethod
    def _is_chance(groups: Sequence[Group], off: Numbers) -> bool:
        """Say whether no control is to blame for what groups are `off` by, in units of chance.

        All groups are off to the same side, but no control is in all of them; or several are off by
        the same, which one control or two would explain.
        """
        beyond = off[np.abs(off) > 1]
        if len(beyond) <= _SEVERAL or not (beyond.min() > 0 or beyond.max() < 0):
            return False
        everywhere = len(beyond) == len(groups) and not frozenset.intersection(*groups)
        return everywhere or bool(np.ptp(beyond) <= 1)

    def _pairs_of_wrong(self) -> list[Group]:
        """Return the pairs of controls that were found to be wrong on any metric."""
        wrong = [one for one in sorted(self.single) if self._is_wrong_anywhere(one)]
        return [frozenset(one) for one in itertools.combinations(wrong, 2)]

    def _explain_alike(self, metric: MetricId) -> bool:
        """Set aside the other groups that are off if two controls acting together explain all."""
        off = self._off(metric)
        if not off:
            return True
        residuals = np.array([self._residual(one, metric) for one in self.groups])
        within = decoding.matrix(list(self.groups), self.task.controls)
        alike = decoding.explain_by_interaction(residuals, within, self._tolerance(metric))
        if alike:
            self.explained |= {(one, metric) for one in off}
        return alike

    def _guess_jointly(self, off: Mapping[MetricId, Mapping[Group, float]]) -> list[int]:
        """Return the controls that could explain all metrics that are off together.

        Once such a guess was wrong, none is made until other groups are known.
        """
        known = len(self.groups)
        if len(off) < _SEVERAL or known <= self._misled_by:
            return []
        unknown = self._unknown
        groups = [one for one in self.groups if not any((one, it) in self.explained for it in off)]
        if len(groups) < _SEVERAL:
            return []
        by = [[self._residual(one, it) / self._tolerance(it) for it in off] for one in groups]
        found = decoding.explain_jointly(np.array(by), decoding.matrix(groups, unknown))
        guessed = [unknown[one] for one in found]
        if not guessed or not all(map(self._is_wrong_anywhere, self._jointly)):
            self._misled_by = known
            self._jointly = []
            return []
        self._jointly = guessed
        return guessed

    def _is_wrong_anywhere(self, one: int) -> bool:
        return any(self._is_wrong(one, metric) for metric in self.task.least)

    def _guess(self, metric: MetricId, off: Mapping[Group, float]) -> list[int]:
        """Return the controls that could explain the groups that are off on a metric."""
        tolerance = self._tolerance(metric)
        if len(off) == 1 and self._moves(metric):
            return []  # likely chance, which would have innocent ones measured
        unknown = self._unknown
        known = [one for one in self.groups if (one, metric) not in self.explained]
        residuals = np.array([self._residual(one, metric) for one in known])
        within = decoding.matrix(known, unknown)
        guessed = decoding.explain_by_one(residuals, within, tolerance)[:1]
        if not guessed and self._guessed_well(metric):
            guessed = list(decoding.explain_by_two(residuals, within, tolerance) or ())
        self._guesses[metric] = [unknown[one] for one in guessed]
        return self._guesses[metric]

    def _guessed_well(self, metric: MetricId) -> bool:
        """Say whether the controls that were guessed for a metric were wrong indeed."""
        return all(self._is_wrong(one, metric) for one in self._guesses.get(metric, ()))

    def _off(self, metric: MetricId) -> dict[Group, float]:
        """Return by how much groups saved other than expected, where that is not chance."""
        found = {}
        for group, savings in self.groups.items():
            saved = savings.get(metric)
            if saved is None or (group, metric) in self.explained:
                continue
            expected = self._expected(group, metric)
            if self._differs(saved, expected, metric, len(self._corrected(group, metric))):
                found[group] = saved.value - expected
        return found

    def _residual(self, group: Group, metric: MetricId) -> float:
        return self.groups[group][metric].value - self._expected(group, metric)

    def _least(self, metric: MetricId) -> float:
        """Return the smallest saving of a group that is distinguishable from chance."""
        return max(self.task.least[metric], self._chance.get(metric, 0.0))

    def _moves(self, metric: MetricId) -> bool:
        return self.task.least[metric] > HALF

    def _tolerance(self, metric: MetricId) -> float:
        return max(self._least(metric), HALF)

    def _allowance(self, group: Group, metric: MetricId) -> float:
        """Return by how much a group may save other than expected, by chance."""
        saved, corrected = self.groups[group][metric], len(self._corrected(group, metric))
        half = max(saved.high - saved.value, saved.value - saved.low)
        return max(HALF, math.sqrt(1 + corrected) * max(self._least(metric), half))

    def _expected(self, group: Group, metric: MetricId) -> float:
        """Return the predicted saving of a group, with measured ones in place of wrong ones.

        What measured ones save together joins them.
        """
        corrections = (
            self.single[one][metric].value - self._predict(_only(one), metric)
            for one in self._corrected(group, metric)
        )
        together = (by for pair, by in self._together.get(metric, {}).items() if pair <= group)
        return self._predict(group, metric) + math.fsum(corrections) + math.fsum(together)

    def _corrected(self, group: Group, metric: MetricId) -> list[int]:
        """Return a group's controls whose prediction was found to be wrong."""
        return [one for one in self.single if one in group and self._is_wrong(one, metric)]

    def _predict(self, group: Group, metric: MetricId) -> float:
        """Return the predicted saving of a group, on a daemon's calls, too."""
        calls = self._daemons_calls.get(metric, 0.0)
        more = calls * self._model(group, self.task.plain) if calls and self.task.plain else 0.0
        return self._model(group, metric) + more

    def _model(self, group: Group, metric: MetricId) -> float:
        if group not in self._predicted:
            self._predicted[group] = self.task.predicted(group)
        return self._predicted[group].get(metric, 0.0)

    @property
    def _unknown(self) -> list[int]:
        """The controls that were not measured by themselves."""
        return [one for one in self.task.controls if one not in self.single]

    def _unknown_of(self, group: Group) -> list[int]:
        return sorted(one for one in group if one not in self.single)

    def _in_order(self, metric: MetricId) -> list[Group]:
        """Return the groups that saved what was expected."""
        off = self._off(metric)
        return [
            one for one in self.groups if one not in off and (one, metric) not in self.explained
        ]

    def _unconfirmed(self) -> list[int]:
        """Return the controls that no group in order has, on some metric."""
        confirmed = set(self._unknown)
        for metric in self.task.least:
            confirmed &= frozenset[int]().union(*self._in_order(metric))
        return [one for one in self._unknown if one not in confirmed]

    def result(self) -> Weighed:
        """Return the predictions that groups confirmed."""
        confirmed: dict[int, dict[MetricId, Confirmed]] = {one: {} for one in self._unknown}
        for metric in self.task.least:
            in_order = self._in_order(metric)
            for one, costs in confirmed.items():
                groups = [group for group in in_order if one in group]
                half = min(self._half(it, metric) for it in groups)
                cost = on_grid(self._predict(_only(one), metric))
                costs[metric] = Confirmed(
                    Estimate(cost, cost - half, cost + half), len(groups), min(map(len, groups))
                )
        return Weighed(confirmed, tuple(self.groups), tuple(self._wrong()))

    def _half(self, group: Group, metric: MetricId) -> float:
        """Return to within what a group that is in order confirms its sum."""
        saved = self.groups[group][metric]
        wider = math.sqrt(1 + len(self._corrected(group, metric)))
        spread = max(saved.high - saved.value, saved.value - saved.low)
        return on_grid(wider * max(self._least(metric), spread))


def _words(numbers: Mapping[str, int]) -> str:
    """Return what is left out, such as `leaving out 9 groups and 4 controls by themselves`."""
    plurals = {
        "group": "groups",
        "control by itself": "controls by themselves",
        "part of a group that is off": "parts of groups that are off",
    }
    said = [
        f"{number} {name if number == 1 else plurals[name]}"
        for name, number in numbers.items()
        if number
    ]
    return f"leaving out {join_in_prose(said)}"


def _only(one: int) -> Group:
    return frozenset({one})


def _ask_one_by_one(
    controls: Sequence[int], why: str, *, alone: bool = False
) -> GroupQuestion | None:
    if not controls:
        return None
    return GroupQuestion(tuple(map(_only, controls)), tuple(controls) if alone else (), why)
