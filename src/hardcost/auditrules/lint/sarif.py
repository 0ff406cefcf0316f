"""Findings in SARIF 2.1.0 (OASIS), which editors and code hosts show beside the lines."""

from __future__ import annotations

import hashlib
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from hardcost.auditrules.lint.checks import documentations

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hardcost.auditrules.lint.diagnostic import Diagnostic, Documentation, Spot

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


def log(findings: Iterable[Diagnostic], version: str) -> dict[str, Any]:
    """Return a SARIF log; `version` is hardcost's own."""
    rules = documentations()
    index = {rule.code: at for at, rule in enumerate(rules)}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "hardcost",
                        "version": version,
                        "rules": [_rule(rule) for rule in rules],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(finding, index[finding.code]) for finding in findings],
            }
        ],
    }


def _rule(rule: Documentation) -> dict[str, Any]:
    said = rule.sections
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.code.split("-")),
        "shortDescription": {"text": f"{rule.title}."},
        "fullDescription": {"text": f"{said['What']} {said['Why']}"},
        "help": {
            "text": f"{said['Remedy']}\n\nExample:\n\n{said['Example']}",
            "markdown": f"{said['Remedy']}\n\nExample:\n\n```\n{said['Example']}\n```",
        },
        "defaultConfiguration": {"level": rule.level.value},
    }


def _result(finding: Diagnostic, rule: int) -> dict[str, Any]:
    words = [f"{finding.message}."]
    if finding.remedy:
        words.append(f"Remedy: {finding.remedy}.")
    if finding.cost:
        words.append(f"Predicted cost: {finding.cost}.")
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": finding.level.value,
        "message": {"text": " ".join(words)},
        "locations": [location(finding.spot)],
        "partialFingerprints": {"rule/v1": _fingerprint(finding)},
    }
    if finding.related:
        result["relatedLocations"] = [
            {"id": at, **location(spot)} for at, spot in enumerate(finding.related)
        ]
    if finding.cost:
        result["properties"] = {
            "predictedInstructions": finding.cost.instructions,
            "paid": finding.cost.paid,
        }
    return result


def location(spot: Spot) -> dict[str, Any]:
    """Return a place as a SARIF location."""
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(spot.file)}}
    if spot.line is not None:
        physical["region"] = {"startLine": spot.line}
        if spot.column is not None:
            physical["region"]["startColumn"] = spot.column
    return {"physicalLocation": physical}


def _uri(file: str) -> str:
    """Return a file's name as a reference: relative as it was given, absolute with its scheme."""
    escaped = quote(PurePath(file).as_posix(), errors="surrogateescape")
    if escaped.startswith("/"):
        return f"file://{escaped}"
    # A colon in the first part would end a scheme's name; quote escapes it.
    return escaped


def _fingerprint(finding: Diagnostic) -> str:
    """Return what stays when lines move: the finding and the rule's words."""
    text = f"{finding.code}\n{finding.text}".encode(errors="surrogateescape")
    return hashlib.sha256(text).hexdigest()[:32]
