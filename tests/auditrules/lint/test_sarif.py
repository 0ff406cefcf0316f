from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlparse

import pytest

from hardcost.auditrules.lint import checks, sarif
from hardcost.auditrules.lint.diagnostic import Diagnostic, Level, Spot

if TYPE_CHECKING:
    from collections.abc import Callable

    from hardcost.auditrules.lint.context import Context

LINES = (
    "-a always,exit -F arch=b33 -S open -k x",
    "-w /etc/shadow -p wa -k x",
    "-w /etc/shadow -p wa -k x",
    "-w /etc/ -p wa",
)


@pytest.fixture
def log(context_of: Callable[..., Context]) -> dict[str, Any]:
    found = checks.lint(context_of(*LINES))
    written: dict[str, Any] = json.loads(json.dumps(sarif.log(found, "1.2.3")))
    return written


def only_run(log: dict[str, Any]) -> dict[str, Any]:
    (run,) = log["runs"]
    assert isinstance(run, dict)
    return run


def test_the_log_says_what_it_is(log: dict[str, Any]) -> None:
    assert set(log) == {"$schema", "version", "runs"}
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("/sarif-schema-2.1.0.json")


def test_the_tool_names_its_rules_with_all_that_the_standard_knows_of_them(
    log: dict[str, Any],
) -> None:
    driver = only_run(log)["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("hardcost", "1.2.3")
    assert [rule["id"] for rule in driver["rules"]] == list(checks.CODES)
    for rule in driver["rules"]:
        assert set(rule) == {
            "id", "name", "shortDescription", "fullDescription", "help", "defaultConfiguration",
        }  # fmt: skip
        assert re.fullmatch("([A-Z0-9][a-z0-9]*)+", rule["name"])
        assert rule["shortDescription"]["text"].endswith(".")
        assert rule["fullDescription"]["text"]
        assert set(rule["help"]) == {"text", "markdown"}
        assert rule["defaultConfiguration"]["level"] in {"error", "warning", "note"}


def test_each_result_names_its_rule_level_message_and_place(log: dict[str, Any]) -> None:
    run = only_run(log)
    rules = run["tool"]["driver"]["rules"]
    assert run["results"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in {"error", "warning", "note"}
        assert result["message"]["text"]
        (location,) = result["locations"]
        region = location["physicalLocation"]["region"]
        assert location["physicalLocation"]["artifactLocation"]["uri"] == "x.rules"
        assert region["startLine"] >= 1
        assert region.get("startColumn", 1) >= 1
        assert re.fullmatch("[0-9a-f]{32}", result["partialFingerprints"]["rule/v1"])


def test_place_related_lines_and_costs_are_reported(log: dict[str, Any]) -> None:
    by_code = {result["ruleId"]: result for result in only_run(log)["results"]}
    assert by_code["cannot-load"]["locations"][0]["physicalLocation"]["region"] == {
        "startLine": 1,
        "startColumn": 19,
    }
    (related,) = by_code["duplicate-rule"]["relatedLocations"]
    assert (related["id"], related["physicalLocation"]["region"]) == (0, {"startLine": 2})
    assert by_code["every-call"]["properties"]["predictedInstructions"] > 0
    assert "Predicted cost: " in by_code["every-call"]["message"]["text"]


def test_a_finding_of_a_whole_file_has_no_region_and_any_name_is_a_reference() -> None:
    def uri(file: str) -> str:
        finding = Diagnostic("cannot-load", Level.ERROR, "no", Spot(file))
        physical = sarif.log([finding], "1")["runs"][0]["results"][0]["locations"][0]
        assert set(physical["physicalLocation"]) == {"artifactLocation"}
        found: str = physical["physicalLocation"]["artifactLocation"]["uri"]
        return found

    assert uri("rules.d/10 a.rules") == "rules.d/10%20a.rules"
    assert uri("/etc/audit/ä.rules") == "file:///etc/audit/%C3%A4.rules"
    assert uri("a:b#?.rules") == "a%3Ab%23%3F.rules"
    assert urlparse(uri("/etc/x")).path == "/etc/x"
    assert uri("\udcff.rules") == "%FF.rules"
