"""Hotspots as speedscope's JSON: for each metric the stacks without the hardening and with it.

Source of the format: speedscope's file-format-spec.ts.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hardcost.model.finding.calls import Calls, Hotspots
from hardcost.show.exports.export import Export
from hardcost.show.exports.stacks import ExportedStacks, exported_stacks

_SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def speedscope(profiles: Sequence[Hotspots], name: str) -> str:
    """Return the JSON; its weights are instructions, for which the format has no unit."""
    numbers: dict[str, int] = {}
    shown = [
        _profile(one, side, numbers)
        for one in exported_stacks(profiles)
        for side in ("before", "after")
    ]
    document = {
        "$schema": _SCHEMA,
        "name": name,
        "exporter": "hardcost",
        "activeProfileIndex": 1,
        "shared": {"frames": [{"name": frame} for frame in numbers]},
        "profiles": shown,
    }
    return json.dumps(document, indent=1) + "\n"


def _profile(one: ExportedStacks, side: str, numbers: dict[str, int]) -> dict[str, Any]:
    samples, weights = [], []
    for functions, before, after in one.stacks:
        weight = before if side == "before" else after
        if weight:
            samples.append([numbers.setdefault(name, len(numbers)) for name in functions])
            weights.append(weight)
    return {
        "type": "sampled",
        "name": f"{one.title}, {getattr(one, side)} ({one.unit})",
        "unit": "none",
        "startValue": 0,
        "endValue": sum(weights),
        "samples": samples,
        "weights": weights,
    }


SPEEDSCOPE = Export[Calls]("speedscope", lambda found: speedscope(found.hotspots, found.title))
