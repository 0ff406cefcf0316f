from __future__ import annotations

import dataclasses
import json
import math

from hypothesis import given

from hardcost.show.json import to_json
from tests.show.exports.gates import ANY_TEXT, HOSTILE, gate, line


def test_every_number_is_there_and_a_prediction_is_called_one() -> None:
    found = json.loads(to_json(gate()))
    assert (found["predicted"], found["passed"]) == (True, False)
    (metric,) = found["metrics"]
    assert metric["growth"] == 0.1
    assert (metric["cost_before"], metric["cost_after"], metric["over"]) == (20.0, 30.0, True)
    assert metric["lines"][0]["adds"] == 10.0
    assert metric["rest"] == 0.0


def test_the_price_of_having_any_rule_is_beside_the_lines() -> None:
    found = json.loads(to_json(gate(fixed=50.0)))
    assert found["fixed"] == [{"metric": "open", "cost": 50.0}]
    (metric,) = found["metrics"]
    assert (metric["difference"], metric["lines"][0]["adds"], metric["rest"]) == (60.0, 10.0, 0.0)
    assert json.loads(to_json(gate()))["fixed"] == [{"metric": "open", "cost": 0.0}]
    assert json.loads(to_json(gate(fixed=None)))["fixed"] == []


def test_a_line_whose_part_is_not_predicted_has_null_and_the_reason() -> None:
    found = gate(grows=0.0)
    unpriced = ((line("-a never,exit"), "not predicted: a reason"),)
    growth = dataclasses.replace(found.growths[0], unpriced=unpriced)
    (metric,) = json.loads(to_json(dataclasses.replace(found, growths=(growth,))))["metrics"]
    (said,) = metric["lines"]
    assert (said["adds"], said["why"]) == (None, "not predicted: a reason")


def test_what_has_no_number_is_null() -> None:
    (metric,) = json.loads(to_json(gate(grows=math.nan)))["metrics"]
    assert metric["difference"] is None


@ANY_TEXT
@given(control=HOSTILE, name=HOSTILE)
def test_any_text_comes_out_as_it_went_in(control: str, name: str) -> None:
    text = to_json(gate(control, name=name))
    assert text.isascii()
    found = json.loads(text)
    assert (found["base"], found["lines"][0]["control"]) == (name, control)
