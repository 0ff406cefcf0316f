from __future__ import annotations

import dataclasses
import json
from typing import Any
from urllib.parse import unquote

from fluidattacks_core.sarif import SarifLog
from hypothesis import given

from hardcost.show.exports.annotations import github
from hardcost.show.exports.gate_sarif import gate_sarif
from hardcost.units import visible
from tests.show.exports.gates import ANY_TEXT, HOSTILE, NAMED, gate


def results(log: dict[str, Any]) -> list[dict[str, Any]]:
    (run,) = json.loads(json.dumps(log))["runs"]
    rules = run["tool"]["driver"]["rules"]
    for one in run["results"]:
        assert rules[one["ruleIndex"]]["id"] == one["ruleId"]
    found: list[dict[str, Any]] = run["results"]
    return found


def test_a_line_to_blame_is_an_error_with_file_and_line() -> None:
    log = gate_sarif(gate(), "1.2.3")
    assert (log["version"], log["runs"][0]["tool"]["driver"]["version"]) == ("2.1.0", "1.2.3")
    (one,) = results(log)
    assert (one["level"], one["ruleId"]) == ("error", "over-limit")
    physical = one["locations"][0]["physicalLocation"]
    assert physical == {"artifactLocation": {"uri": "rules.d/x.rules"}, "region": {"startLine": 7}}
    assert one["properties"] == {"how": "predicted", "adds": {"open": 10.0}}
    assert log["runs"][0]["invocations"][0]["exitCode"] == 1


def test_a_line_within_the_limits_is_a_note() -> None:
    (one,) = results(gate_sarif(gate(limit=0.5), "1"))
    assert (one["level"], one["ruleId"]) == ("note", "costs")


def test_what_no_line_explains_is_a_result_of_its_own() -> None:
    found = gate()
    (growth,) = found.growths
    found = dataclasses.replace(found, growths=(dataclasses.replace(growth, parts=()),))
    (one,) = results(gate_sarif(found, "1"))
    assert one["ruleId"] == "over-limit-unexplained"
    assert one["message"]["text"].startswith("open grew by +10.0% (predicted), limit 5.0%")


def test_what_is_over_perhaps_by_chance_is_a_warning() -> None:
    found = gate()
    (growth,) = found.growths
    found = dataclasses.replace(found, growths=(dataclasses.replace(growth, least=1000.0),))
    codes = [(one["level"], one["ruleId"]) for one in results(gate_sarif(found, "1"))]
    assert ("warning", "perhaps-over-limit") in codes
    ends = [
        gate_sarif(dataclasses.replace(found, strict=strict), "1")["runs"][0]["invocations"][0]
        for strict in (False, True)
    ]
    assert [one["exitCode"] for one in ends] == [0, 1]
    assert github(found).splitlines()[-1].startswith("::warning ")


def test_the_log_is_what_the_schema_says() -> None:
    for found in (gate(), gate(limit=0.5), dataclasses.replace(gate(), growths=(), lines=())):
        text = json.dumps(gate_sarif(found, "1"))
        SarifLog.model_validate_json(text, strict=True)
        rules = json.loads(text)["runs"][0]["tool"]["driver"]["rules"]
        assert len(rules) == 4
        assert all(one["help"]["text"] for one in rules)


@ANY_TEXT
@given(control=HOSTILE, file=NAMED)
def test_any_text_comes_out_as_data(control: str, file: str) -> None:
    (one,) = results(gate_sarif(gate(control, file), "1"))
    assert one["message"]["text"].endswith(f"The line: {visible(control)}")
    uri = one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert unquote(uri, errors="surrogateescape") == file
