"""What holds of the search, on simulated machines whose culprits are known."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hardcost.errors import InputError, TrialError
from hardcost.plan.search import blame, noise
from hardcost.plan.search.group_testing import configurations_bound, search, statement
from hardcost.plan.search.lattice import Lattice
from hardcost.plan.search.measurements import Measurements
from hardcost.plan.search.questions import Culprit, SearchSettings, SearchTask
from hardcost.plan.search.state import SearchState, split_point
from tests.plan.search.simulated_costs import (
    BASELINE,
    CONTROLS,
    SHAPES,
    Machine,
    Run,
    Term,
    draw,
    problem,
    run,
)

DRAWS = 200
EXACT = SearchSettings()
MARKS = (25, 39, 40, 54, 65, 79, 86, 94)  # where the groups of the kernel's options end


def additive(costs: Mapping[int, float]) -> Machine:
    return Machine(tuple((Term(frozenset({index}), cost),) for index, cost in costs.items()))


def only(found: Run) -> Culprit:
    (culprit,) = found.outcome.culprits
    return culprit


# Without noise


@pytest.mark.parametrize("shape", SHAPES)
def test_an_exact_search_finds_just_the_planted_within_its_bound(shape: str) -> None:
    for seed in range(DRAWS):
        generator = np.random.default_rng(seed)
        machine, asked = draw(shape, generator, costs=(0.03, 0.1), dependencies=seed % 2 == 1)
        lattice = Lattice(asked)
        guilty = machine.guilty(lattice, EXACT.threshold)
        found = run(machine, asked, EXACT)
        assert found.found == guilty, seed
        assert found.outcome.configurations <= configurations_bound(CONTROLS, len(guilty)), seed
        assert found.outcome.remains_below, seed
        assert_sound(found, lattice)


def assert_sound(found: Run, lattice: Lattice) -> None:
    """Each question was a configuration that there is, and none came twice."""
    assert all(lattice.closure(one.on) == frozenset(one.on) for one in found.questions)
    assert max(Counter(one.on for one in found.questions).values()) == 1
    assert {one.repetitions for one in found.questions} == {1}
    assert len(found.questions) == found.outcome.configurations == len(found.outcome.steps)


def test_costs_are_the_differences_that_the_machine_makes() -> None:
    machine = additive({7: 0.05, 40: -0.03})
    cost, saving = run(machine, problem(requires={9: frozenset({7})}), EXACT).outcome.culprits
    assert (cost.index, cost.dropped) == (7, (9,))
    for estimate in (cost.saved, cost.own, cost.alone, cost.together):
        assert estimate is not None
        assert estimate.value == pytest.approx(0.05 * BASELINE)
        assert estimate.low == estimate.value == estimate.high
    assert saving.index == 40
    assert saving.own is not None
    assert saving.own.value == pytest.approx(-0.03 * BASELINE)
    assert (cost.confirmed, saving.confirmed) == (True, True)


def test_the_requirements_of_a_culprit_are_no_part_of_its_cost() -> None:
    asked = problem(requires={50: frozenset({20}), 20: frozenset({60})})
    found = run(additive({50: 0.04, 20: 0.02}), asked, EXACT)
    assert found.found == {20, 50}
    last = next(one for one in found.outcome.culprits if one.index == 50)
    first = next(one for one in found.outcome.culprits if one.index == 20)
    assert last.alone is not None
    assert last.alone.value == pytest.approx(0.04 * BASELINE)
    assert first.saved is not None
    assert first.own is not None
    assert first.saved.value == pytest.approx(0.06 * BASELINE)
    assert first.own.value == pytest.approx(0.02 * BASELINE)
    assert found.outcome.adds_up


def test_partners_name_each_other() -> None:
    found = run(Machine(((Term(frozenset({3, 30, 60}), 0.05),),)), problem(), EXACT)
    assert {one.index: one.partners for one in found.outcome.culprits} == {
        3: (30, 60),
        30: (3, 60),
        60: (3, 30),
    }
    assert not found.outcome.adds_up
    assert "cost only together" in found.outcome.explanation


def test_the_masked_are_found_in_what_remains() -> None:
    machine = Machine(((Term(frozenset({3}), 0.05), Term(frozenset({60}), 0.04)),))
    found = run(machine, problem(), EXACT)
    assert found.found == {3, 60}
    assert found.outcome.remains_below
    assert not found.outcome.adds_up
    assert "mask" in found.outcome.explanation


def test_equal_costs_are_all_found() -> None:
    found = run(additive(dict.fromkeys((0, 31, 32, 63), 0.02)), problem(), EXACT)
    assert found.found == {0, 31, 32, 63}
    assert found.outcome.adds_up


def test_neighbours_are_distinguished() -> None:
    assert run(additive({31: 0.02, 32: -0.02, 33: 0.05}), problem(), EXACT).found == {31, 32, 33}


def test_one_that_undoes_the_cost_of_another_is_a_saving() -> None:
    machine = Machine(
        ((Term(frozenset({10}), 0.1),), (Term(frozenset({10, 50}), -0.08),)),
    )
    found = run(machine, problem(), EXACT)
    assert found.found == {10, 50}
    saving = next(one for one in found.outcome.culprits if one.index == 50)
    assert saving.partners == (10,)
    assert saving.together is not None
    assert saving.together.value == pytest.approx(-0.08 * BASELINE)


def test_a_cost_and_a_saving_that_cancel_in_a_stretch_are_not_seen() -> None:
    found = run(additive({10: 0.05, 20: -0.05}), problem(), EXACT)
    assert found.found == frozenset()
    assert found.outcome.configurations == 2


def test_many_small_costs_are_a_stretch_and_no_culprit() -> None:
    found = run(additive(dict.fromkeys(range(64), 0.001)), problem(), EXACT)
    assert found.outcome.culprits == ()
    assert all(one.spread for one in found.outcome.unresolved)
    assert sum(one.cost.value for one in found.outcome.unresolved) == pytest.approx(
        64e-3 * BASELINE
    )
    assert found.outcome.remains is not None
    assert found.outcome.remains.value == pytest.approx(64e-3 * BASELINE)
    assert not found.outcome.remains_below


@pytest.mark.parametrize("costs", [{}, {0: 0.05}])
def test_a_single_control_takes_two_configurations(costs: dict[int, float]) -> None:
    found = run(additive(costs), problem(1), EXACT)
    assert found.found == costs.keys()
    assert found.outcome.configurations == 2


def test_an_empty_profile_is_its_own_baseline() -> None:
    outcome = run(additive({}), problem(0), EXACT).outcome
    assert (outcome.configurations, outcome.culprits, outcome.order) == (1, (), ())
    assert outcome.baseline == outcome.profile
    assert outcome.remains_below


@given(st.data())
@settings(deadline=None)
def test_whatever_the_machine_a_search_is_sound(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 12))
    one = st.integers(0, count - 1)
    terms = st.builds(Term, st.frozensets(one, min_size=1, max_size=3), st.floats(-0.2, 0.3))
    groups = data.draw(st.lists(st.lists(terms, min_size=1, max_size=2).map(tuple), max_size=3))
    edges = data.draw(st.lists(st.tuples(one, one).filter(lambda edge: edge[0] != edge[1])))
    requires: dict[int, frozenset[int]] = {}
    for edge in edges:
        requires[max(edge)] = requires.get(max(edge), frozenset()) | {min(edge)}
    most = data.draw(st.none() | st.integers(2, 30))
    marks = tuple(data.draw(st.lists(st.integers(0, count))))
    asked = SearchTask(tuple(f"c{index}" for index in range(count)), requires, marks=marks)
    machine = Machine(tuple(groups))
    found = run(machine, asked, SearchSettings(most=most))
    assert_sound(found, Lattice(asked))
    assert most is None or found.outcome.configurations <= most
    # No control is blamed that makes no difference (but for rounding).
    assert found.found <= machine.guilty(Lattice(asked), EXACT.threshold * (1 - 1e-9))
    every = frozenset(range(count))
    for culprit in found.outcome.culprits:
        if culprit.saved is not None:
            without = every - {culprit.index, *culprit.dropped}
            saved = machine.value(every) - machine.value(without)
            assert culprit.saved.value == pytest.approx(saved, abs=1e-3)


def test_the_same_answers_lead_to_the_same_search() -> None:
    for spread in (0.0, 0.02):
        machine, asked = draw("a pair and one", np.random.default_rng(5), costs=(0.1, 0.2))
        machine = dataclasses.replace(machine, noise=spread)
        first, second = (
            run(machine, asked, SearchSettings(noise=spread), seed=9) for _ in range(2)
        )
        assert first == second


# With a limit


def one_that_dominates(place: int, seed: int) -> Machine:
    generator = np.random.default_rng([seed, place])
    others = [int(one) for one in generator.permutation(95) if one != place]
    costs = {other: float(generator.uniform(0.003, 0.015)) for other in others[:6]}
    return additive({place: 0.1, **costs})


@pytest.mark.parametrize("place", range(25, 39))
@pytest.mark.parametrize("requires", [{}, {38: frozenset({24}), 30: frozenset({2})}])
def test_twelve_configurations_confirm_the_one_that_dominates_a_kernels_options(
    place: int, requires: dict[int, frozenset[int]]
) -> None:
    names = tuple(f"CONFIG_{index}" for index in range(95))
    asked = SearchTask(names, requires, marks=MARKS)
    for seed in range(10):
        found = run(one_that_dominates(place, seed), asked, SearchSettings(most=12))
        culprit = found.outcome.culprits[0]
        assert (culprit.index, culprit.confirmed) == (place, True)
        assert culprit.own is not None
        assert culprit.alone is not None
        assert culprit.own.value == pytest.approx(0.1 * BASELINE)
        assert culprit.alone.value == pytest.approx(0.1 * BASELINE)
        assert found.outcome.configurations <= 12


@pytest.mark.parametrize("most", range(2, 30))
def test_a_limit_is_kept_and_what_is_left_over_is_said(most: int) -> None:
    costs = {5: 0.05, 25: 0.04, 45: 0.03}
    found = run(additive(costs), problem(), SearchSettings(most=most)).outcome
    assert found.configurations <= most
    named = {one.index for one in found.culprits}
    told = named.union(*(one.controls for one in found.unresolved))
    assert named <= costs.keys() <= told
    total = sum(costs[index] for index in named) * BASELINE
    total += sum(one.cost.value for one in found.unresolved)
    assert total == pytest.approx(0.12 * BASELINE)
    assert not any(one.spread for one in found.unresolved)
    for segment in found.unresolved:
        assert found.order[segment.start : segment.stop] == segment.controls
    if most >= configurations_bound(CONTROLS, 3) // 2:
        assert all(one.confirmed for one in found.culprits)
        assert named == costs.keys()


def test_a_suspect_for_which_nothing_is_left_is_not_confirmed() -> None:
    culprit = only(run(additive({0: 0.05}), problem(4), SearchSettings(most=4)))
    assert (culprit.index, culprit.confirmed, culprit.own) == (0, False, None)
    assert "no configurations are left" in culprit.shown


# With noise


NOISES = ((0.01, (0.03, 0.1)), (0.05, (0.08, 0.2)))
NOISY_SHAPES = ("no culprit", "one", "three", "a pair", "two that mask, and one")


@pytest.mark.parametrize(("deviation", "costs"), NOISES)
@pytest.mark.parametrize("shape", NOISY_SHAPES)
def test_with_noise_culprits_are_found_and_innocents_seldom_blamed(
    shape: str, deviation: float, costs: tuple[float, float]
) -> None:
    wanted = SearchSettings(noise=deviation)
    alarms = hits = 0
    for seed in range(DRAWS):
        generator = np.random.default_rng([seed, 77])
        machine, asked = draw(shape, generator, costs=costs, dependencies=seed % 2 == 1)
        machine = dataclasses.replace(machine, noise=deviation)
        found = run(machine, asked, wanted, seed)
        lattice = Lattice(asked)
        alarms += bool(found.found - machine.guilty(lattice, 0.0))
        hits += found.found >= machine.guilty(lattice, found.outcome.resolution)
    # Even the upper end of the interval of Clopper and Pearson is below the stated level.
    assert stats.binomtest(alarms, DRAWS).proportion_ci(0.9).high < wanted.level
    assert hits >= 0.95 * DRAWS, f"{hits} of {DRAWS}"


def test_the_chance_that_any_of_several_innocents_is_confirmed_is_below_the_level() -> None:
    machine = Machine((), noise=0.01)
    alarms = sum(confirmed_of_innocents(machine, seed) > 0 for seed in range(400))
    high = stats.binom.ppf(0.99, 400, 0.05)
    assert 5 < alarms <= high


def confirmed_of_innocents(machine: Machine, seed: int) -> int:
    """Return how many of five innocents are confirmed if luck has made them suspects."""
    lattice = Lattice(problem(5))
    wanted = SearchSettings(noise=machine.noise)
    case = SearchState(lattice, Measurements(lattice, wanted))
    generator = np.random.default_rng([seed, 78])
    case.measurements.precision = noise.precision(0.01, 30, 0.01)
    for judging in (
        case.measurements.value(frozenset(), ""),
        *(blame._judge(case, index, (), 1) for index in range(5)),
    ):
        try:
            question = next(judging)
            while True:
                question = judging.send(machine.answer(question, generator))
        except StopIteration:
            pass
    return sum(one.confirmed for one in case.culprits.values())


def test_an_instrument_that_is_exact_after_all_is_no_error() -> None:
    found = run(additive({5: 0.05, 40: 0.02}), problem(), SearchSettings(noise=0.01))
    assert found.found == {5, 40}
    assert found.outcome.resolution == 0.01


def test_too_much_noise_raises_the_resolution_and_says_so() -> None:
    found = run(
        dataclasses.replace(additive({5: 0.3}), noise=0.05), problem(), SearchSettings(noise=0.05)
    )
    assert found.found == {5}
    assert found.outcome.repetitions == noise.MOST_REPETITIONS
    assert 0.03 < found.outcome.resolution < 0.07
    assert max(one.repetitions for one in found.questions) <= 2 * noise.MOST_REPETITIONS
    culprit = only(found)
    assert culprit.own is not None
    assert culprit.own.low < 0.3 * BASELINE < culprit.own.high


@pytest.mark.parametrize("deviation", [0.001, 0.01, 0.05])
def test_rises_of_the_resolution_are_reported_from_none(deviation: float) -> None:
    generator = np.random.default_rng(3)
    told = noise.precision(deviation, 10**6, 0.01)
    means = generator.standard_normal((2, 100_000)) * deviation / np.sqrt(told.repetitions)
    rises = means[0] - means[1]
    missed = np.mean(rises + told.resolution <= told.cut)
    false = np.mean(np.abs(rises) > told.cut)
    assert missed == pytest.approx(0.005, abs=0.001)
    assert false <= 0.011


def test_a_difference_is_tested_as_welch_does() -> None:
    generator = np.random.default_rng(4)
    more, fewer = generator.normal(10, 1, 12), generator.normal(9.5, 3, 20)
    ours = noise.difference(tuple(more), tuple(fewer))
    theirs = stats.ttest_ind(more, fewer, equal_var=False, alternative="greater")
    interval = stats.ttest_ind(more, fewer, equal_var=False).confidence_interval(0.95)
    assert ours.chance(1) == pytest.approx(theirs.pvalue)
    assert ours.chance(-1) == pytest.approx(1 - theirs.pvalue)
    assert (ours.estimate.low, ours.estimate.high) == pytest.approx(tuple(interval))


# Order, splits, words


def test_requirements_come_first_and_otherwise_the_order_is_kept() -> None:
    lattice = Lattice(
        SearchTask(tuple("abcdef"), {1: frozenset({4}), 2: frozenset({1})}, marks=(1, 3))
    )
    assert lattice.order == (0, 3, 4, 1, 2, 5)
    assert lattice.requirements(2) == {1, 4}
    assert lattice.dependents(4) == {1, 2}
    assert lattice.marks == {1}  # the first three are others now


@given(st.integers(2, 300), st.sets(st.integers(0, 300)), st.integers(0, 50))
def test_whatever_is_preferred_a_split_leaves_no_more_halvings(
    width: int, preferred: set[int], start: int
) -> None:
    point = split_point(start, start + width, preferred.__contains__)
    parts = (point - start, start + width - point)
    assert min(parts) >= 1
    assert max(parts) <= 2 ** ((width - 1).bit_length() - 1)


def test_a_mark_near_the_middle_is_where_a_stretch_is_split() -> None:
    assert split_point(0, 95, MARKS.__contains__) in {40, 54}
    assert split_point(25, 39, MARKS.__contains__) == 32


def test_the_log_names_controls_and_draws_conclusions() -> None:
    names = tuple(f"init_on_{index}" for index in range(64))
    outcome = run(additive({20: 0.05}), SearchTask(names), EXACT).outcome
    assert [one.number for one in outcome.steps] == [*range(1, len(outcome.steps) + 1)]
    assert outcome.steps[0].why == "the baseline"
    assert "the profile costs +5.00%" in outcome.steps[1].conclusion.lower()
    for step in outcome.steps[2:]:
        assert "init_on_" in step.why
    told = " ".join(step.conclusion for step in outcome.steps)
    assert "init_on_20 makes +5.00%, so it is a suspect" in told
    assert "init_on_20 makes +5.00% in the profile and +5.00% alone: confirmed." in told


def test_what_a_search_will_take_is_said_before() -> None:
    asked = SearchTask(tuple(str(index) for index in range(95)), marks=MARKS)
    assert "at most 28 for one culprit, 56 for two" in statement(asked, EXACT)
    assert "1.00%" in statement(asked, EXACT)
    assert "ends after at most 12" in statement(asked, SearchSettings(most=12))
    assert "64 repetitions, which resolve 4.86%" in statement(asked, SearchSettings(noise=0.05))


# What is refused


def refused(asked: SearchTask, wanted: SearchSettings = EXACT) -> InputError:
    with pytest.raises(InputError) as caught:
        next(search(asked, wanted))
    return caught.value


def test_those_that_exclude_each_other_are_named_with_a_remedy() -> None:
    error = refused(SearchTask(("a", "b", "c"), excludes=frozenset({(0, 2)})))
    assert str(error) == "'a' and 'c' cannot both be on"
    assert error.problems[0].hint == "leave one of them out of the profile"


def test_those_that_require_each_other_are_named_with_a_remedy() -> None:
    cycle = {0: frozenset({1}), 1: frozenset({2}), 2: frozenset({0})}
    error = refused(SearchTask(("a", "b", "c", "d"), cycle))
    assert all(repr(name) in str(error) for name in "abc")
    assert "'d'" not in str(error)
    assert "as one control" in str(error.problems[0].hint)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (SearchTask(("a",), {0: frozenset({1})}), "none has the index 1"),
        (SearchTask(("a",), excludes=frozenset({(0, -1)})), "none has the index -1"),
        (SearchTask(("a", "b", "a")), "two controls are called 'a'"),
        (SearchTask(("a",), marks=(2,)), "a group ends after 2 of 1"),
    ],
)
def test_a_problem_that_makes_no_sense_is_refused(asked: SearchTask, said: str) -> None:
    assert said in str(refused(asked))


def test_all_settings_that_make_no_sense_are_reported_at_once() -> None:
    error = refused(problem(), SearchSettings(threshold=0, most=1, noise=-1, level=1))
    assert len(error.problems) == 4


@pytest.mark.parametrize("answer", [(), (0.0,), (-1.0,), (float("nan"),), (float("inf"),)])
def test_an_answer_that_is_no_measurement_ends_the_search(answer: tuple[float, ...]) -> None:
    searching = search(problem(), EXACT)
    next(searching)
    with pytest.raises(TrialError, match="samples above 0"):
        searching.send(answer)


def test_the_simulated_machine_knows_its_guilty() -> None:
    machine = Machine(((Term(frozenset({0}), 0.05), Term(frozenset({1}), 0.02)),))
    assert machine.guilty(Lattice(problem(2)), 0.01) == {0, 1}
    # With 0 always on, 1 is masked for good: nothing could show that it costs something.
    assert machine.guilty(Lattice(problem(2, {1: frozenset({0})})), 0.01) == {0}
    values = [machine.value(on) for on in itertools.chain([()], [(0,)], [(1,)], [(0, 1)])]
    assert values == [BASELINE * factor for factor in (1, 1.05, 1.02, 1.05)]
