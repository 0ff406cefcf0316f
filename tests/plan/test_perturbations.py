"""What moves is measured under several perturbations, what does not is measured once."""

from __future__ import annotations

import pytest

from hardcost.measure.prepare import prepare
from hardcost.model.role import Baseline, Fired
from hardcost.model.workload import Workload
from hardcost.plan.leave_one_out import bill_plan
from hardcost.plan.perturbations import UNPERTURBED, USUAL, perturbations_by_trial
from hardcost.profiles import catalogue
from hardcost.protocol.requests import Perturb
from tests.fakes.machine import FakeMachine

STILL = Workload("syscalls", (("calls", "null+open"),))
MOVING = Workload("syscalls", (("calls", "null+fork"),))
SERVICE = Workload("apache-prefork")


def test_what_does_not_move_is_measured_once() -> None:
    assert perturbations_by_trial(STILL, "insn") == (UNPERTURBED,)
    assert perturbations_by_trial(Workload("command", (("file", "x"),)), "insn") == (UNPERTURBED,)


def test_calls_that_move_are_perturbed_within_one_trial() -> None:
    assert perturbations_by_trial(MOVING, "insn") == (tuple(range(1, USUAL + 1)),)
    assert perturbations_by_trial(MOVING, "insn", wanted=2, usual=9) == ((1, 2),)
    assert perturbations_by_trial(MOVING, "insn", wanted=1) == (UNPERTURBED,)


def test_each_trial_of_a_service_has_another_perturbation() -> None:
    assert perturbations_by_trial(SERVICE, "insn") == tuple((n,) for n in range(1, USUAL + 1))
    assert perturbations_by_trial(SERVICE, "insn", usual=2) == ((1,), (2,))
    assert perturbations_by_trial(SERVICE, "insn", usual=1) == (UNPERTURBED,)


@pytest.mark.parametrize("workload", [STILL, MOVING, SERVICE])
def test_an_instrument_that_is_not_exact_perturbs_nothing(workload: Workload) -> None:
    assert perturbations_by_trial(workload, "time", usual=9) == (UNPERTURBED,) * 5


def test_a_perturbation_comes_after_the_controls_and_is_part_of_the_identity() -> None:
    machine = FakeMachine(lambda _boot, _job: ())
    plan = bill_plan(catalogue.load("stig-reduced"), [SERVICE], repetitions=2)
    mine = [prepare(one, machine) for one in plan.trials if one.configuration.role == Baseline()]
    numbers = [[r.number for r in one.job if isinstance(r, Perturb)] for one in mine]
    assert numbers == [[1], [2]]
    assert mine[0].identity != mine[1].identity
    kinds = [request.do for request in mine[0].job]
    assert kinds.index("audit") < kinds.index("perturb") < kinds.index("start")


def test_a_plan_says_that_it_perturbs_and_only_then() -> None:
    profile = catalogue.load("stig-reduced")
    said = [
        any("under 5 perturbations" in note for note in bill_plan(profile, [workload]).notes)
        for workload in (STILL, MOVING, SERVICE)
    ]
    assert said == [False, True, True]


def test_several_layouts_are_draws_by_themselves_and_are_not_perturbed() -> None:
    plan = bill_plan(catalogue.load("stig-reduced"), [MOVING], seeds=(1, 2))
    assert {trial.perturbations for trial in plan.trials} == {UNPERTURBED}


def test_what_fired_is_counted_once_and_unperturbed() -> None:
    plan = bill_plan(catalogue.load("stig-reduced"), [SERVICE, MOVING])
    fired = [one for one in plan.trials if one.configuration.role == Fired()]
    assert [one.perturbations for one in fired] == [UNPERTURBED] * 2
