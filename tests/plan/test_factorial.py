from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from hardcost.controls.configuration import Configuration
from hardcost.errors import InputError
from hardcost.model.role import AxisLevel, Named
from hardcost.model.workload import Workload
from hardcost.plan.factorial import Overrides, block_of, plan, start_order
from hardcost.plan.plan import Plan, Trial
from hardcost.study.model import Study

CONFIGURATIONS = tuple(Configuration(Named(name)) for name in "abcde")
STUDY = Study(
    name="s",
    title="A study",
    description="",
    workloads=(Workload("syscalls"), Workload("command", (("file", "x"),))),
    configurations=CONFIGURATIONS,
    baseline="a",
    published="figures",
    seeds=(1, 2),
    notes=("a note",),
)


def name(trial: Trial) -> tuple[int, int, str, str]:
    return trial.repetition, trial.seed, str(trial.workload), trial.configuration.name


def test_every_combination_is_measured_once_in_the_studys_order() -> None:
    found = plan(STUDY)
    assert [name(trial) for trial in found.trials] == [
        (0, seed, workload, configuration)
        for seed in (1, 2)
        for workload in ("syscalls", "command file=x")
        for configuration in "abcde"
    ]
    assert (found.study, found.title, str(found.baseline)) == ("s", "A study", "a")
    assert (found.published, found.notes, found.instrument) == ("figures", ("a note",), "insn")
    assert found.configurations == CONFIGURATIONS


def test_along_a_successive_axis_the_baseline_is_the_one_at_the_same_level() -> None:
    points = tuple(
        Configuration(
            Named(f"{state} {kernel}", (AxisLevel("state", state), AxisLevel("kernel", kernel)))
        )
        for kernel in "67"
        for state in ("off", "on")
    )
    known = (*points, Configuration(Named("alone")))
    study = replace(STUDY, configurations=known, baseline="off 6", successive="kernel")
    found = plan(study)
    baselines = [str(found.baseline_of(one)) for one in known]
    assert baselines == ["off 6", "off 6", "off 7", "off 7", "off 6"]
    usual = plan(replace(study, successive=None))
    assert {str(usual.baseline_of(one)) for one in known} == {"off 6"}


def timed(repetitions: int = 5) -> Plan:
    return plan(STUDY, Overrides(instrument="time", seeds=(1,), repetitions=repetitions))


def test_an_instrument_that_is_not_exact_repeats_round_by_round() -> None:
    started = start_order(timed())
    rounds = [started[at : at + 10] for at in range(0, 50, 10)]
    assert len(started) == 50
    for number, one_round in enumerate(rounds):
        assert {trial.repetition for trial in one_round} == {number}
        assert len({trial.configuration.name + str(trial.workload) for trial in one_round}) == 10


def test_each_round_has_an_order_of_its_own_and_the_same_one_every_time() -> None:
    started = start_order(timed())
    orders = {tuple(name(trial)[2:] for trial in started[at : at + 10]) for at in range(0, 50, 10)}
    assert len(orders) == 5
    assert started == start_order(timed())


def test_the_order_favours_no_configuration() -> None:
    first = Counter(trial.configuration.name for trial in start_order(timed(500))[::10])
    assert all(70 < first[configuration.name] < 130 for configuration in CONFIGURATIONS)


def test_what_is_shown_keeps_the_studys_order_whatever_starts_first() -> None:
    assert timed().configurations == CONFIGURATIONS


def test_an_exact_instrument_starts_in_the_studys_order() -> None:
    assert start_order(plan(STUDY)) == plan(STUDY).trials


def test_what_the_user_wants_goes_before_what_the_study_says() -> None:
    overrides = Overrides((Workload("syscalls"),), "insn", (7,), 2)
    trials = plan(STUDY, overrides).trials
    assert [name(trial)[:3] for trial in trials] == [(0, 7, "syscalls")] * 5
    assert {trial.perturbations for trial in trials} == {(1, 2)}


@pytest.mark.parametrize(("instrument", "rounds"), [("insn", 1), ("time", 3)])
def test_a_studys_repetitions_are_for_instruments_that_need_them(
    instrument: str, rounds: int
) -> None:
    study = Study(**{**vars(STUDY), "repetitions": 3, "instrument": instrument})
    assert len(plan(study).trials) == rounds * 20


def test_an_unknown_instrument_is_the_users_error() -> None:
    with pytest.raises(InputError, match="no instrument 'clock'"):
        plan(STUDY, Overrides(instrument="clock"))


@pytest.mark.parametrize(("written", "found"), [(None, (1, 2, 3, 4, 5)), (2, (1, 2)), (1, (0,))])
def test_a_study_says_under_how_many_perturbations_what_moves_is_measured(
    written: int | None, found: tuple[int, ...]
) -> None:
    study = Study(**{**vars(STUDY), "seeds": (0,), "perturbations": written})
    trials = plan(study).trials
    assert {trial.perturbations for trial in trials if trial.workload.name == "syscalls"} == {found}
    assert {trial.perturbations for trial in trials if trial.workload.name == "command"} == {(0,)}


def test_a_block_ends_in_the_reverse_of_how_it_began() -> None:
    started = start_order(timed(4))
    names = [(trial.configuration.name, str(trial.workload)) for trial in started]
    size = len(names) // 4
    rounds = [names[at : at + size] for at in range(0, len(names), size)]
    assert rounds[1] == rounds[0][::-1]
    assert rounds[3] == rounds[2][::-1]
    assert [block_of(1, n) for n in range(4)] == [(1, 0), (1, 0), (1, 1), (1, 1)]
