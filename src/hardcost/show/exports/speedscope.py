"""A profile as speedscope's JSON: for each metric a profile without the hardening and one with it.

Source of the format: speedscope's file-format-spec.ts.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hardcost.report.exports.exported import exported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.analysis.finding import Profiled
    from hardcost.report.exports.exported import Exported

_SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def speedscope(profiles: Sequence[Profiled], name: str) -> str:
    """Return the JSON; its weights are instructions, for which the format has no unit."""
    numbers: dict[str, int] = {}
    shown = [
        _profile(one, side, numbers) for one in exported(profiles) for side in ("before", "after")
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


def _profile(one: Exported, side: str, numbers: dict[str, int]) -> dict[str, Any]:
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
