"""A gate in SARIF 2.1.0, which code hosts show beside the lines of a change."""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import Any

from auditrules.lint import sarif
from auditrules.model.location import Location
from auditrules.read.ignore_comments import OVER_LIMIT, comment
from hardcost.model.finding.change import ChangeLine, Gate, Growth
from hardcost.show.exports.export import Export
from hardcost.show.sentences.gate import (
    any_rule,
    any_rule_words,
    conditions,
    limit,
    line_cost,
    signed_percent,
)
from hardcost.units import visible

OVER, COSTS, UNEXPLAINED = OVER_LIMIT, "costs", "over-limit-unexplained"
UNCLEAR = "perhaps-over-limit"

NO_LINE = "no single line of the change explains it"

_ACCEPT = (
    "Make the line cheaper, raise the limit, or accept the cost by a comment on the line above:"
    f" {comment([OVER_LIMIT])}"
)

_RULES = (
    (OVER, "error", "A line of the change makes a metric grow beyond its limit", _ACCEPT),
    (
        COSTS,
        "note",
        "A line of the change costs instructions or time, within the limits",
        "Nothing has to be done.",
    ),
    (
        UNEXPLAINED,
        "error",
        "A metric grew beyond its limit, and no single line explains it",
        "See whether rules were removed or moved; `hardcost bill` measures each rule of a state.",
    ),
    (
        UNCLEAR,
        "warning",
        "A metric is beyond its limit, but perhaps by chance",
        "Measure again with more trials, or raise the limit.",
    ),
)


def gate_sarif(gate: Gate, version: str) -> dict[str, Any]:
    """Return a SARIF log; `version` is hardcost's own.

    A removed line has no place in the later state, so it makes no result.
    """
    results = [_of_line(gate, line) for line in gate.counted_of_head]
    results += [
        _of_metric(gate, growth, UNEXPLAINED, f"{NO_LINE}{_fixed_cost_words(growth)}")
        for growth in gate.unexplained
    ]
    results += [
        _of_metric(gate, growth, UNCLEAR, "but perhaps by chance") for growth in gate.unclear
    ]
    notes = (*_any_rule(gate), *conditions(gate))
    invocation = {
        "executionSuccessful": True,
        "exitCode": 1 if gate.failed else 0,
        "toolExecutionNotifications": [
            {"level": "note", "message": {"text": text}} for text in notes
        ],
    }
    rules = [_rule(*one) for one in _RULES]
    return sarif.document("hardcost gate", version, rules, results, invocations=[invocation])


def _any_rule(gate: Gate) -> list[str]:
    """Return the price of having any rule; it belongs to no line, and so has no location."""
    return [] if gate.any_rule is None else [f"{any_rule_words(gate.any_rule)}."]


def _rule(code: str, level: str, text: str, help_text: str) -> dict[str, Any]:
    whole = f"{text}. Costs are instructions or ns for one operation."
    return sarif.description(code, level, text, whole, {"text": help_text})


def _of_line(gate: Gate, line: ChangeLine) -> dict[str, Any]:
    over = bool(gate.metrics_exceeded_by(line))
    text = f"{line_cost(gate, line)}. The line: {visible(line.control)}"
    return {
        **_result(OVER if over else COSTS, text, line.control),
        "locations": [] if line.place is None else [sarif.location(line.place)],
        "properties": {
            "how": gate.how,
            "adds": {growth.name: part.cost for growth, part in gate.parts_of(line)},
        },
    }


def _of_metric(gate: Gate, growth: Growth, code: str, why: str) -> dict[str, Any]:
    text = (
        f"{visible(growth.name)} grew by {signed_percent(growth.share)} ({gate.how}), limit"
        f" {limit(growth)}; {why}"
    )
    files = dict.fromkeys(line.place.file for line in gate.lines if line.place is not None)
    return {
        **_result(code, text, growth.name),
        "locations": [sarif.location(Location(file)) for file in list(files)[:1]],
        "properties": {"how": gate.how, "difference": growth.difference},
    }


def _fixed_cost_words(growth: Growth) -> str:
    return f" ({any_rule(growth)})" if growth.fixed else ""


def _result(code: str, text: str, what: str) -> dict[str, Any]:
    at = next(nth for nth, one in enumerate(_RULES) if one[0] == code)
    return {
        "ruleId": code,
        "ruleIndex": at,
        "level": _RULES[at][1],
        "message": {"text": text},
        "partialFingerprints": {"change/v1": sarif.fingerprint(code, what)},
    }


SARIF = Export[Gate](
    "sarif", lambda gate: json.dumps(gate_sarif(gate, version("hardcost")), indent=2)
)
