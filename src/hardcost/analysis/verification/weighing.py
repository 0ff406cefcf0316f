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

from collections import Counter
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hardcost.analysis.estimates.estimates import Estimate, on_grid
from hardcost.analysis.verification import decoding
from hardcost.analysis.verification.decoding import Numbers
from hardcost.analysis.verification.expectations import Expectations, Savings, only
from hardcost.analysis.verification.groups import Group, Predictions, separating_groups
from hardcost.model.workload import MetricId
from hardcost.units import join_in_prose

FEWEST = 5
"""Controls that are worth weighing: of fewer there would be more groups than controls."""

_TWICE = 2  # so much more than once seen may others be off
_SEVERAL = 2  # metrics, or groups, that say more together than each by itself


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
    state = _Questions(task)
    question = state.first_question()
    while question is not None:
        answers = yield question
        state.learn(question, answers)
        question = state.next_question()
    return state.result()


class _Questions:
    """What was asked so far, and what is asked next."""

    def __init__(self, task: WeighingTask) -> None:
        self.task = task
        self._now = Expectations(task.controls, task.predicted, task.least, task.plain)
        self._alone: set[int] = set()
        self._halves: dict[Group, tuple[Group, ...]] = {}
        self._guesses: dict[MetricId, list[int]] = {}
        self._jointly: list[int] = []
        self._misled_by = 0  # groups
        self._shared_by: dict[MetricId, int] = {}  # groups and controls known then

    @property
    def _asked(self) -> int:
        """The trials of groups, and of controls alone."""
        return len(self._now.groups) + len(self._alone)

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
            (*map(only, suspects), *groups),
            tuple(suspects) if task.alone else (),
            _words({"group": len(groups), "control by itself": len(suspects)}),
        )

    def learn(self, question: GroupQuestion, answers: Sequence[Savings]) -> None:
        """Take what was measured."""
        for group, saved in zip(question.left_out, answers, strict=True):
            self._now.learn(group, saved)

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
        fits = self._asked + len(likely) <= len(self.task.controls)
        return GroupQuestion(
            tuple(map(only, sorted(likely))),
            self._wanted_alone(sorted(likely)) if fits else (),
            _words({"control by itself": len(likely)}),
        )

    def _ask_halves(self, off: Mapping[Group, int]) -> GroupQuestion | None:
        """Ask for the halves of one group, the one that is off on most metrics.

        Of what they show depends which is the next.
        """
        whole = [one for one in off if one not in self._halves]
        # Each control may yet have to be left out by itself; twice as many trials are the most.
        if not whole or self._asked + 2 > len(self.task.controls):
            return _ask_one_by_one(
                self._now.unknown, "many predictions are off: leaving out each control by itself"
            )
        group = min(whole, key=lambda one: (-off[one], len(self._now.unknown_of(one)), sorted(one)))
        single = sorted(self._halve(group))
        parts = [one for one in self._halves[group] if one not in self._now.groups]
        if not single and not parts:  # they were weighed already
            return self.next_question()
        return GroupQuestion(
            (*map(only, single), *parts),
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
        left = 2 * len(self.task.controls) - self._asked - len(self._now.single)
        wanted = [one for one in controls if one not in self._alone][: max(left, 0)]
        self._alone |= set(wanted)
        return tuple(wanted)

    def _wrong(self) -> list[int]:
        """Return the controls that were found to save other than predicted."""
        return sorted(
            one
            for one in self._now.single
            if one not in self.task.suspects and self._now.is_wrong_anywhere(one)
        )

    def _halve(self, group: Group) -> set[int]:
        """Part a group in two, of which single controls are returned."""
        members = self._now.unknown_of(group)
        middle = len(members) // 2
        halves = (frozenset(members[:middle]), frozenset(members[middle:]))
        self._halves[group] = tuple(one for one in halves if len(one) > 1)
        return {one for half in halves if len(half) == 1 for one in half}

    def _unexplained(self, metric: MetricId) -> dict[Group, float]:
        """Return the groups that are off on a metric, without those that no control explains.

        Those have no unknown member left, or two halves that are in order.
        """
        off = self._now.off(metric)
        for group in list(off):
            halves = self._halves.get(group)
            in_order = halves is not None and not any(one in off for one in halves)
            if group in off and (not self._now.unknown_of(group) or in_order):
                self._now.explained.add((group, metric))
                alike = self._explain_alike(metric)
                few = len(self._now.corrected(group, metric)) < _SEVERAL  # that may act together
                if in_order and few and not alike and len(off) > 1 and self._now.moves(metric):
                    self._now.allow(metric, _TWICE * abs(off[group]))
                off = self._now.off(metric)
        return off

    def _explain_by_shared(self, metric: MetricId) -> list[int] | None:
        """Expect what no single control saves, if it explains all groups; None: it doesn't.

        That is what two measured controls save beyond their sum, and on a metric that moves what is
        saved on a daemon's calls. It may take one more control, which is returned. Else what a
        metric that moves is off by may be no control's at all. It is tried again once more is
        known.
        """
        known = len(self._now.groups) + len(self._now.single)
        if self._shared_by.get(metric) == known:
            return None
        self._shared_by[metric] = known
        groups = self._now.weighed(metric)
        residuals = [self._now.residual(one, metric) for one in groups]
        pairs = self._now.pairs_of_wrong()
        columns = [[float(pair <= group) for group in groups] for pair in pairs]
        if self._now.moves(metric) and self.task.plain:
            columns.append([self._now.model(group, self.task.plain) for group in groups])
        allowed = np.array([self._now.allowance(one, metric) for one in groups])
        unknown = self._now.unknown
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
            if not (self._now.moves(metric) and self._is_chance(groups, off)):
                return None
            self._now.allow(metric, max(map(abs, residuals)))
        for at, size in found.taken.items():
            if at < len(pairs):
                self._now.save_together(pairs[at], metric, size)
            else:
                self._now.wake_daemon(metric, size)
        if found.miss > 1:
            self._now.allow(metric, found.miss * float(allowed.max()))
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

    def _explain_alike(self, metric: MetricId) -> bool:
        """Set aside the other groups that are off if two controls acting together explain all.

        Return whether none is off any more.
        """
        off = self._now.off(metric)
        if not off:
            return True
        residuals = np.array([self._now.residual(one, metric) for one in self._now.groups])
        within = decoding.matrix(list(self._now.groups), self.task.controls)
        alike = decoding.explain_by_interaction(residuals, within, self._now.tolerance(metric))
        if alike:
            self._now.explained |= {(one, metric) for one in off}
        return alike

    def _guess_jointly(self, off: Mapping[MetricId, Mapping[Group, float]]) -> list[int]:
        """Return the controls that could explain all metrics that are off together.

        Once such a guess was wrong, none is made until other groups are known.
        """
        known = len(self._now.groups)
        if len(off) < _SEVERAL or known <= self._misled_by:
            return []
        unknown = self._now.unknown
        groups = [
            one
            for one in self._now.groups
            if not any((one, it) in self._now.explained for it in off)
        ]
        if len(groups) < _SEVERAL:
            return []
        by = [
            [self._now.residual(one, it) / self._now.tolerance(it) for it in off] for one in groups
        ]
        found = decoding.explain_jointly(np.array(by), decoding.matrix(groups, unknown))
        guessed = [unknown[one] for one in found]
        if not guessed or not all(map(self._now.is_wrong_anywhere, self._jointly)):
            self._misled_by = known
            self._jointly = []
            return []
        self._jointly = guessed
        return guessed

    def _guess(self, metric: MetricId, off: Mapping[Group, float]) -> list[int]:
        """Return the controls that could explain the groups that are off on a metric."""
        tolerance = self._now.tolerance(metric)
        if len(off) == 1 and self._now.moves(metric):
            return []  # likely chance, which would have innocent ones measured
        unknown = self._now.unknown
        known = self._now.weighed(metric)
        residuals = np.array([self._now.residual(one, metric) for one in known])
        within = decoding.matrix(known, unknown)
        guessed = decoding.explain_by_one(residuals, within, tolerance)[:1]
        if not guessed and self._guessed_well(metric):
            guessed = list(decoding.explain_by_two(residuals, within, tolerance) or ())
        self._guesses[metric] = [unknown[one] for one in guessed]
        return self._guesses[metric]

    def _guessed_well(self, metric: MetricId) -> bool:
        """Say whether the controls that were guessed for a metric were wrong indeed."""
        return all(self._now.is_wrong(one, metric) for one in self._guesses.get(metric, ()))

    def _unconfirmed(self) -> list[int]:
        """Return the controls that no group in order has, on some metric."""
        confirmed = set(self._now.unknown)
        for metric in self.task.least:
            confirmed &= frozenset[int]().union(*self._now.in_order(metric))
        return [one for one in self._now.unknown if one not in confirmed]

    def result(self) -> Weighed:
        """Return the predictions that groups confirmed."""
        confirmed: dict[int, dict[MetricId, Confirmed]] = {one: {} for one in self._now.unknown}
        for metric in self.task.least:
            in_order = self._now.in_order(metric)
            for one, costs in confirmed.items():
                groups = [group for group in in_order if one in group]
                half = min(self._now.half(it, metric) for it in groups)
                cost = on_grid(self._now.predict(only(one), metric))
                costs[metric] = Confirmed(
                    Estimate(cost, cost - half, cost + half), len(groups), min(map(len, groups))
                )
        return Weighed(confirmed, tuple(self._now.groups), tuple(self._wrong()))


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


def _ask_one_by_one(
    controls: Sequence[int], why: str, *, alone: bool = False
) -> GroupQuestion | None:
    if not controls:
        return None
    return GroupQuestion(tuple(map(only, controls)), tuple(controls) if alone else (), why)
