"""Wrong predictions are found by groups, and nothing is confirmed that no group confirmed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

import pytest

from hardcost.analysis.estimates.estimates import Estimate
from hardcost.analysis.verification.expectations import Savings
from hardcost.analysis.verification.groups import (
    HALVES,
    Group,
    escaping_share,
    separating_groups,
)
from hardcost.analysis.verification.weighing import (
    GroupQuestion,
    Weighed,
    WeighingTask,
    weigh,
)
from hardcost.measure.asking import answer_questions
from hardcost.model.workload import MetricId

EACH = 19.0  # what each control is predicted to cost
STILL = tuple(MetricId(name) for name in ("null", "read"))
MOVING: Mapping[MetricId, float] = {MetricId("fork"): 30.0, MetricId("open"): 3.0}
METRICS = (*STILL, *MOVING)

Errors = Mapping[int, float]


@dataclass
class Bench:
    """A profile of so many controls, whose costs on a metric are off by `errors`.

    `pairs` cost something only together. Metrics that move scatter, if `noisy`. During `open` a
    daemon makes so many `calls`. What is left of the profile costs `step` more on `fork` where a
    dozen controls of the first half are left out. What is exact else may be so much less (`below`).
    """

    controls: int
    errors: Errors = field(default_factory=dict)
    metric: MetricId = STILL[0]
    pairs: Mapping[tuple[int, int], float] = field(default_factory=dict)
    suspects: frozenset[int] = frozenset()
    noisy: bool = False
    calls: float = 0.0
    step: float = 0.0
    below: float = 0.0
    seed: int = 0
    trials: int = 0
    alone: list[int] = field(default_factory=list)

    def weigh(self) -> Weighed:
        self.trials, self.alone = 0, []
        task = WeighingTask(
            controls=tuple(range(self.controls)),
            suspects=self.suspects,
            booting=frozenset(),
            predicted=lambda group: dict.fromkeys(METRICS, EACH * len(group)),
            least={one: MOVING.get(one, 0.0) for one in METRICS},
            seed=str(self.seed),
            plain=STILL[0],
        )
        return answer_questions(weigh(task), self._measure)

    def _measure(self, question: GroupQuestion) -> Sequence[Savings]:
        self.trials += len(question.left_out) + len(question.alone)
        self.alone += question.alone
        return [{one: self._saved(group, one) for one in METRICS} for group in question.left_out]

    def _saved(self, group: Group, metric: MetricId) -> Estimate:
        value = EACH * len(group)
        if metric == self.metric:
            value += math.fsum(self.errors.get(one, 0.0) for one in group)
            value += math.fsum(cost for pair, cost in self.pairs.items() if group.issuperset(pair))
        if metric.name == "open":
            value += self.calls * EACH * len(group)
        if metric.name == "fork" and sum(one < self.controls / 2 for one in group) >= 12:
            value -= self.step
        if not self.noisy or metric not in MOVING:
            return Estimate(value, value - self.below, value)
        spread = MOVING[metric] / 3.36  # what placebos would have a least cost of
        value += Random(f"{self.seed} {sorted(group)} {metric}").gauss(0, spread)  # noqa: S311
        return Estimate(value, value - spread, value + spread)


def missed(bench: Bench, found: Weighed) -> list[int]:
    """Return the controls whose cost was confirmed, and is another, on the metric with errors."""
    return [
        one
        for one, costs in found.confirmed.items()
        if abs(costs[bench.metric].cost.value - EACH - bench.errors.get(one, 0.0)) > 0.5
    ]


@pytest.mark.parametrize("controls", [6, 10, 34, 300])
def test_right_predictions_take_few_trials(controls: int) -> None:
    bench = Bench(controls)
    found = bench.weigh()
    assert set(found.confirmed) == set(range(controls))
    assert not found.wrong
    assert bench.trials <= 2 * math.log2(controls) + 2
    assert all(one.groups >= 2 for costs in found.confirmed.values() for one in costs.values())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("errors", [(1,), (50, -50), (30, 20, -50), (-7, 3, 40, -50, 1, 3, -1, 9)])
def test_wrong_predictions_are_found_and_measured(errors: tuple[float, ...], seed: int) -> None:
    wrong = Random(seed).sample(range(60), len(errors))  # noqa: S311
    bench = Bench(60, dict(zip(wrong, errors, strict=True)), seed=seed)
    found = bench.weigh()
    assert missed(bench, found) == []
    assert set(found.wrong) == set(wrong)
    assert sorted(bench.alone) == sorted(wrong)
    assert bench.trials <= 2 * 60


@pytest.mark.parametrize("seed", range(3))
def test_errors_above_the_least_cost_are_found_on_a_metric_that_moves(seed: int) -> None:
    bench = Bench(40, {7: 100.0, 21: -100.0}, MetricId("fork"), noisy=True, seed=seed)
    found = bench.weigh()
    assert {7, 21} <= set(found.wrong)
    assert bench.trials <= 2 * 40


def test_chance_on_a_metric_that_moves_blames_nobody() -> None:
    for seed in range(6):
        bench = Bench(40, noisy=True, seed=seed)
        found = bench.weigh()
        assert not found.wrong
        assert bench.trials < 40


def test_two_that_cost_only_together_are_left_to_the_interaction() -> None:
    bench = Bench(40, pairs={(3, 17): 25.0})
    found = bench.weigh()
    assert not found.wrong
    assert missed(bench, found) == []
    assert bench.trials < 40


@pytest.mark.parametrize("seed", range(3))
def test_two_wrong_ones_that_save_other_together_blame_nobody_else(seed: int) -> None:
    bench = Bench(60, {8: 900.0, 31: 400.0}, pairs={(8, 31): -250.0}, noisy=True, seed=seed)
    found = bench.weigh()
    assert set(found.wrong) == {8, 31}
    assert missed(bench, found) == []
    assert bench.trials <= 40


@pytest.mark.parametrize("seed", range(3))
def test_what_rules_cost_on_a_daemons_calls_is_found_by_the_groups(seed: int) -> None:
    bench = Bench(60, {8: 900.0}, noisy=True, calls=9.3, seed=seed)
    found = bench.weigh()
    assert set(found.wrong) == {8}
    assert bench.trials <= 20
    costs = [found.confirmed[one][MetricId("open")].cost for one in found.confirmed]
    assert all(one.low <= 10.3 * EACH <= one.high for one in costs)


@pytest.mark.parametrize("seed", range(3))
def test_a_step_in_what_moves_is_no_controls(seed: int) -> None:
    bench = Bench(100, {8: 900.0}, noisy=True, step=3000.0, seed=seed)
    found = bench.weigh()
    assert set(found.wrong) == {8}
    assert missed(bench, found) == []
    assert bench.trials <= 60


def test_a_verified_cost_is_known_to_within_the_wider_side_of_its_groups() -> None:
    found = Bench(40, below=7.0).weigh()
    costs = [one[STILL[0]].cost for one in found.confirmed.values()]
    assert {(one.value - one.low, one.high - one.value) for one in costs} == {(7.0, 7.0)}


def test_suspects_are_measured_by_themselves_and_alone_and_are_in_no_group() -> None:
    bench = Bench(34, {4: 1000.0}, suspects=frozenset({4, 9}))
    found = bench.weigh()
    assert not {4, 9} & set(found.confirmed)
    assert not any({4, 9} & group for group in found.groups)
    assert sorted(bench.alone) == [4, 9]


def test_few_controls_are_each_measured() -> None:
    bench = Bench(4)
    assert not bench.weigh().confirmed
    assert bench.trials == 8


def test_if_all_predictions_are_wrong_each_is_measured_within_single_trials() -> None:
    bench = Bench(30, {one: 1.0 + one for one in range(30)})
    found = bench.weigh()
    assert not found.confirmed
    assert bench.trials <= 2 * 30


@pytest.mark.parametrize("seed", range(60))
def test_whatever_is_wrong_it_ends_within_single_trials(seed: int) -> None:
    random = Random(seed)  # noqa: S311
    size = random.choice([5, 6, 8, 10, 17, 34])
    wrong = random.sample(range(size), min(size, random.choice([1, 2, 4, 10])))
    errors = {one: random.choice([-1, 1]) * random.randint(1, 100) for one in wrong}
    pairs = {(0, one): 7 for one in random.sample(range(1, size), random.choice([0, 0, 2]))}
    suspects = frozenset(random.sample(range(size), random.choice([0, 1, 3])))
    metric = random.choice(METRICS)
    bench = Bench(size, errors, metric, pairs, suspects, noisy=seed % 3 == 0, seed=seed)
    found = bench.weigh()
    # Without everything the profile is the baseline, which is no trial of its own.
    assert bench.trials - (not suspects) <= 2 * size
    if metric in STILL and not pairs and len(errors) < 4:
        assert missed(bench, found) == []


@pytest.mark.parametrize("controls", [11, 12, 57, 200])
def test_any_two_controls_are_apart_in_a_group_and_each_is_in_two(controls: int) -> None:
    booting = {1, 3}
    groups = separating_groups(range(controls), booting, "any")
    by_digits = groups[: len(groups) - HALVES]
    for one, other in itertools.combinations(range(controls), 2):
        assert any((one in group) != (other in group) for group in by_digits)
    assert all(sum(one in group for group in by_digits) >= 2 for one in range(controls))
    assert sum(bool(booting & group) for group in groups) <= 3
    assert groups == separating_groups(range(controls), booting, "any")


def test_the_share_of_errors_that_escape_is_that_of_a_coin() -> None:
    coins = Random(5)  # noqa: S311
    groups, draws = 2, 20_000
    escaped = 0
    for _ in range(draws):
        tosses = [[coins.random() < 0.5 for _ in range(4)] for _ in range(groups)]
        escaped += all(a + b == c + d for a, b, c, d in tosses)
    assert escaped / draws == pytest.approx(escaping_share(groups), rel=0.1)


@dataclass
class ManyMetrics:
    """Controls some of which are wrong on several metrics each; half of the metrics scatter."""

    controls: int
    wrong: Sequence[int]
    seed: int
    trials: int = 0

    def weigh(self) -> Weighed:
        least = {MetricId(f"m{at}"): 0.0 if at < 9 else 7.0 * at for at in range(18)}
        random = Random(self.seed)  # noqa: S311
        sizes = (-9749, -19, 0, 0, 0, 500, 9749)
        errors = {
            one: {metric: random.choice(sizes) + 3 * by for metric, by in least.items()}
            for one in self.wrong
        }

        def measure(question: GroupQuestion) -> Sequence[Savings]:
            self.trials += len(question.left_out) + len(question.alone)
            return [{it: saved(group, it) for it in least} for group in question.left_out]

        def saved(group: Group, metric: MetricId) -> Estimate:
            spread = least[metric] / 3.36
            value = EACH * len(group) + sum(errors[one][metric] for one in group if one in errors)
            value += Random(f"{self.seed} {sorted(group)} {metric}").gauss(0, spread)  # noqa: S311
            return Estimate(value, value - spread, value + spread)

        task = WeighingTask(
            controls=tuple(range(self.controls)),
            suspects=frozenset(),
            booting=frozenset(),
            predicted=lambda group: dict.fromkeys(least, EACH * len(group)),
            least=least,
            seed=str(self.seed),
        )
        return answer_questions(weigh(task), measure)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("number", [2, 5])
def test_several_metrics_tell_together_which_controls_are_wrong(number: int, seed: int) -> None:
    """Chance in what was measured of the wrong ones has no innocent ones measured."""
    wrong = Random(seed).sample(range(107), number)  # noqa: S311
    bench = ManyMetrics(107, wrong, seed)
    found = bench.weigh()
    assert set(found.wrong) == set(wrong)
    assert bench.trials <= 10 + 4 * number
