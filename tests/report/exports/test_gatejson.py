from __future__ import annotations

import json
import math

from hypothesis import given
from tests.report.exports.gates import ANY_TEXT, HOSTILE, gate

from hardcost.report.exports.gatejson import gate_json


def test_every_number_is_there_and_a_prediction_is_called_one() -> None:
    found = json.loads(gate_json(gate()))
    assert (found["predicted"], found["passed"]) == (True, False)
    (metric,) = found["metrics"]
    assert metric["growth"] == 0.1
    assert (metric["cost_before"], metric["cost_after"], metric["over"]) == (20.0, 30.0, True)
    assert metric["lines"][0]["adds"] == 10.0
    assert metric["rest"] == 0.0


def test_what_has_no_number_is_null() -> None:
    (metric,) = json.loads(gate_json(gate(grows=math.nan)))["metrics"]
    assert metric["difference"] is None


@ANY_TEXT
@given(control=HOSTILE, name=HOSTILE)
def test_any_text_comes_out_as_it_went_in(control: str, name: str) -> None:
    text = gate_json(gate(control, name=name))
    assert text.isascii()
    found = json.loads(text)
    assert (found["base"], found["lines"][0]["control"]) == (name, control)
