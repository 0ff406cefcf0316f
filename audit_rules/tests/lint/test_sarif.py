from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlparse

import pytest
from fluidattacks_core.sarif import SarifLog
from pydantic import ValidationError

from auditrules.lint import checks, sarif
from auditrules.lint.context import Context
from auditrules.lint.diagnostic import Diagnostic, Level
from auditrules.model.location import Location
from auditrules.repair import repairs

LINES = (
    "-a always,exit -F arch=b33 -S open -k x",
    "-w /etc/shadow -p wa -k x",
    "-w /etc/shadow -p wa -k x",
    "-w /etc/ -p wa",
)


@pytest.fixture
def log(context_of: Callable[..., Context]) -> dict[str, Any]:
    found = checks.findings_in(context_of(*LINES))
    written: dict[str, Any] = json.loads(json.dumps(sarif.log(found, "hardcost", "1.2.3")))
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
        assert {*rule, "name"} == {
            "id", "name", "shortDescription", "fullDescription", "help", "defaultConfiguration",
        }  # fmt: skip
        assert ("name" in rule) == ("-" in rule["id"])
        assert re.fullmatch("([A-Z0-9][a-z0-9]*)+", rule.get("name", "X"))
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
        assert re.fullmatch("[0-9a-f]{32}:1", result["partialFingerprints"]["rule/v2"])


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
        finding = Diagnostic("cannot-load", Level.ERROR, "no", Location(file))
        physical = sarif.log([finding], "hardcost", "1")["runs"][0]["results"][0]["locations"][0]
        assert set(physical["physicalLocation"]) == {"artifactLocation"}
        found: str = physical["physicalLocation"]["artifactLocation"]["uri"]
        return found

    assert uri("rules.d/10 a.rules") == "rules.d/10%20a.rules"
    assert uri("/etc/audit/ä.rules") == "file:///etc/audit/%C3%A4.rules"
    assert uri("a:b#?.rules") == "a%3Ab%23%3F.rules"
    assert urlparse(uri("/etc/x")).path == "/etc/x"
    assert uri("\udcff.rules") == "%FF.rules"


def test_a_log_is_what_the_schema_says_with_fixes_and_without_findings(
    context_of: Callable[..., Context],
) -> None:
    context = context_of(*LINES)
    done = repairs.repair_lines((context.readings,), context)
    logs = [
        sarif.log(checks.findings_in(context), "hardcost", "1", (*done.repairs, *done.offered)),
        sarif.log((), "hardcost", "1"),
    ]
    for written in logs:
        text = json.dumps(written)
        SarifLog.model_validate_json(text, strict=True)
        assert [one["id"] for one in only_run(json.loads(text))["tool"]["driver"]["rules"]] == list(
            checks.CODES
        )
    with pytest.raises(ValidationError):
        SarifLog.model_validate_json(text.replace('"columnKind"', '"columnKinds"'), strict=True)


def test_a_fix_replaces_the_line_or_removes_it_and_says_whether_it_is_safe(
    context_of: Callable[..., Context],
) -> None:
    context = context_of(*LINES)
    done = repairs.repair_lines((context.readings,), context)
    found = sarif.log(checks.findings_in(context), "hardcost", "1", (*done.repairs, *done.offered))
    by_code = {result["ruleId"]: result for result in only_run(found)["results"]}
    (removed,), (mended,) = (by_code[code]["fixes"] for code in ("duplicate-rule", "cannot-load"))
    safety = [one["properties"]["safety"] for one in (removed, mended)]
    assert safety == ["safe", "unsafe"]
    assert applied(LINES, removed) == (*LINES[:2], LINES[3])
    assert applied(LINES, mended)[0] == LINES[0].replace("b33", "b32")
    assert "fixes" not in by_code["every-call"]


def applied(lines: tuple[str, ...], fix: dict[str, Any]) -> tuple[str, ...]:
    """Return lines with a fix made, as an editor reads it."""
    (change,) = fix["artifactChanges"]
    assert change["artifactLocation"]["uri"] == "x.rules"
    (replacement,) = change["replacements"]
    text, region = "\n".join(lines) + "\n", replacement["deletedRegion"]
    starts = [0, *(at + 1 for at, char in enumerate(text) if char == "\n")]
    begin = starts[region["startLine"] - 1] + region["startColumn"] - 1
    end = starts[region["endLine"] - 1] + region["endColumn"] - 1
    new = replacement.get("insertedContent", {"text": ""})["text"]
    return tuple((text[:begin] + new + text[end:]).splitlines())


def test_a_fingerprint_stays_when_lines_move_and_is_no_other_findings(
    context_of: Callable[..., Context],
) -> None:
    def fingerprints(*lines: str) -> list[str]:
        run = only_run(
            sarif.log(checks.findings_in(context_of(*lines), {"no-key"}), "hardcost", "1")
        )
        return [one["partialFingerprints"]["rule/v2"] for one in run["results"]]

    same = ["-w /a -p wa", "-w /b -p wa", "-d exit,always -F path=/a -F perm=wa", "-w /a -p wa"]
    found = fingerprints(*same)
    assert found == fingerprints("# moved", "", *same)
    assert len(set(found)) == len(found) > 1
