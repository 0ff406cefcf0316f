"""Fitting, on levels that the model itself yields: what went in has to come out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from auditrules.auditctl.translate import translate
from auditrules.cost import events
from auditrules.cost.constants import Constants
from auditrules.kernel.event import FileId
from auditrules.kernel.semantics import load
from auditrules.model.rule import Rule
from hardcost.calibration import check, rule_set_costs
from hardcost.calibration.experiments import FILES, Experiment, experiments
from hardcost.calibration.fit import fit

WITHOUT = 5000.0  # instructions of any operation without rules
DEBIAN = Constants.of_debian()
TRUE = replace(DEBIAN, walk={**DEBIAN.walk, "bucket": 13.0})  # 0 in Linux 6.1, 13 in 6.12
HELD = {path: FileId(0, 1, 1000 + at) for at, path in enumerate(FILES)}
HELD |= {path: FileId(0, 1, 2010 + at) for at, path in enumerate(rule_set_costs.PROGRAMS)}
NEAR = 1.1  # a file whose bucket is not known meets a rule, and an empty bucket less, with 1/32


def levels(one: Experiment) -> dict[str, float]:
    loaded = load([translate(Rule(line)) for line in one.rules], HELD)
    wanted = rule_set_costs.RuleSetRequest(one.rules, one.how_often())
    (visited,) = rule_set_costs.calls_by_set((wanted,), HELD)
    return {
        name: WITHOUT + check.predict_operation(TRUE, loaded, variants)
        for name, variants in visited.items()
    }


@pytest.fixture(scope="module")
def found() -> Constants:
    without = dict.fromkeys(events.operations(), WITHOUT)
    return fit({one.name: levels(one) for one in experiments()}, TRUE.about, without)


@pytest.mark.parametrize("table", ["walk", "field", "each", "operator", "permission", "record"])
def test_constants_come_out_of_the_levels_that_they_make(found: Constants, table: str) -> None:
    assert getattr(found, table) == pytest.approx(dict(getattr(TRUE, table)), abs=NEAR)


@pytest.mark.parametrize("table", ["base", "idle"])
def test_the_bases_of_calls_come_out_as_well(found: Constants, table: str) -> None:
    assert getattr(found, table) == pytest.approx(dict(getattr(TRUE, table)), abs=NEAR)


def test_what_each_operation_takes_without_rules_is_kept(found: Constants) -> None:
    assert found.without == dict.fromkeys(events.operations(), WITHOUT)
    assert Constants.from_toml(found.to_toml()).without == found.without


def test_constants_kept_before_that_was_fitted_can_still_be_read() -> None:
    earlier = replace(DEBIAN, without={}).to_toml()
    assert "[without]" not in earlier
    assert Constants.from_toml(earlier).without == {}


def test_each_experiment_has_a_name_of_its_own() -> None:
    names = [one.name for one in experiments()]
    assert len(set(names)) == len(names)
