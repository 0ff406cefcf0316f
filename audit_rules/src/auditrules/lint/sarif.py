"""Diagnostics in SARIF 2.1.0 (OASIS), which editors and code hosts show beside the lines.

Every code is in it, also those without a diagnostic, and a log without results is whole: a code
host closes the alerts that it no longer has.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from auditrules.lint.check import Documentation
from auditrules.lint.checks import documentations
from auditrules.lint.diagnostic import Diagnostic, Repair
from auditrules.model.location import Location

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


def log(
    diagnostics: Iterable[Diagnostic], program: str, version: str, repairs: Iterable[Repair] = ()
) -> dict[str, Any]:
    """Return the SARIF log of a program; `repairs` are the fixes of diagnostics."""
    rules = documentations()
    index = {rule.code: at for at, rule in enumerate(rules)}
    fixes = {(one.code, one.place.file, one.place.line): _fix(one) for one in repairs}
    seen: Counter[str] = Counter()
    results = []
    for diagnostic in diagnostics:
        # What stays when lines move: the diagnostic, its file and the rule's words.
        named = fingerprint(diagnostic.code, diagnostic.spot.file, diagnostic.text)
        seen[named] += 1
        result = _result(diagnostic, index[diagnostic.code], f"{named}:{seen[named]}")
        fix = fixes.get((diagnostic.code, diagnostic.spot.file, diagnostic.spot.line or 0))
        if fix is not None:
            result["fixes"] = [fix]
        results.append(result)
    return document(program, version, [_rule(rule) for rule in rules], results)


def document(
    name: str,
    version: str,
    rules: Sequence[Mapping[str, Any]],
    results: Sequence[Mapping[str, Any]],
    **more: object,
) -> dict[str, Any]:
    """Return the log of one run of a tool; `more` are further properties of the run."""
    driver = {"name": name, "version": version, "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", **more}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [{**run, "results": results}]}


def _rule(rule: Documentation) -> dict[str, Any]:
    said = rule.sections
    return description(
        rule.code,
        rule.level.value,
        rule.title,
        f"{said['What']} {said['Why']}",
        {
            "text": f"{said['Remedy']}\n\nExample:\n\n{said['Example']}",
            "markdown": f"{said['Remedy']}\n\nExample:\n\n```\n{said['Example']}\n```",
        },
    )


def description(
    code: str, level: str, title: str, text: str, remedy: Mapping[str, str]
) -> dict[str, Any]:
    """Return a log's entry for a code; the standard wants no name that is the code itself."""
    words = code.split("-")
    return {
        "id": code,
        **({"name": "".join(map(str.capitalize, words))} if len(words) > 1 else {}),
        "shortDescription": {"text": f"{title}."},
        "fullDescription": {"text": text},
        "help": remedy,
        "defaultConfiguration": {"level": level},
    }


def _result(diagnostic: Diagnostic, rule: int, named: str) -> dict[str, Any]:
    words = [f"{diagnostic.message}."]
    if diagnostic.remedy:
        words.append(f"Remedy: {diagnostic.remedy}.")
    if diagnostic.cost:
        words.append(f"Predicted cost: {diagnostic.cost}.")
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "ruleIndex": rule,
        "level": diagnostic.level.value,
        "message": {"text": " ".join(words)},
        "locations": [location(diagnostic.spot)],
        "partialFingerprints": {"rule/v2": named},
    }
    if diagnostic.related:
        result["relatedLocations"] = [
            {"id": at, **location(spot)} for at, spot in enumerate(diagnostic.related)
        ]
    if diagnostic.cost:
        result["properties"] = {
            "predictedInstructions": diagnostic.cost.instructions,
            "paid": diagnostic.cost.paid,
        }
    return result


def _fix(repair: Repair) -> dict[str, Any] | None:
    """Return a repair as a fix; None where a line's bytes are not text, as JSON can't hold them."""
    line, after = repair.place.line, repair.after
    try:
        f"{repair.before}{after}".encode()
    except UnicodeEncodeError:
        return None
    if after is None:
        replacement: dict[str, Any] = {
            "deletedRegion": {
                "startLine": line,
                "startColumn": 1,
                "endLine": repair.place.below(1).line,
                "endColumn": 1,
            }
        }
    else:
        replacement = {
            "deletedRegion": {
                "startLine": line,
                "startColumn": 1,
                "endLine": line,
                "endColumn": len(repair.before) + 1,
            },
            "insertedContent": {"text": after},
        }
    changed = {
        "artifactLocation": {"uri": _uri(repair.place.file)},
        "replacements": [replacement],
    }
    safety = "safe" if repair.safe else "unsafe"
    return {
        "description": {"text": f"{repair.what} ({safety})."},
        "artifactChanges": [changed],
        "properties": {"safety": safety},
    }


def location(spot: Location) -> dict[str, Any]:
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


def fingerprint(*words: str) -> str:
    """Return a result's fingerprint: equal words have the same."""
    return hashlib.sha256("\n".join(words).encode(errors="surrogateescape")).hexdigest()[:32]
