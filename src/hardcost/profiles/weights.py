"""The value of keeping a control: by the user's weights, else the benchmark's severity, else 1."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from auditrules.library import files
from hardcost.controls.control import Control
from hardcost.errors import InputError, Problem
from hardcost.toml.read import LARGEST, parse

SEVERITIES: Mapping[str, float] = MappingProxyType({"high": 10.0, "medium": 5.0, "low": 2.0})
"""The values of severities: one of high severity is worth two of medium, or five of low."""

UNKNOWN = 1.0
"""The value of a control without a severity."""

MOST = 1e6
"""The largest finite weight."""

_PATTERN = frozenset("*?[")


@dataclass(frozen=True)
class Weights:
    """Weights by control: its whole text, one of its ids, or a pattern of either.

    What names a control exactly comes before patterns; of several, the last one counts.
    """

    of: Mapping[str, float]

    def find(self, control: Control) -> float | None:
        """Return the weight of a control; None if the file does not name it."""
        names = (control.name, *control.ids)
        exact = [weight for key, weight in self.of.items() if key in names]
        alike = [
            weight
            for key, weight in self.of.items()
            if _PATTERN & set(key) and any(fnmatch.fnmatchcase(name, key) for name in names)
        ]
        return exact[-1] if exact else (alike[-1] if alike else None)


def value_of(control: Control, weights: Weights | None = None) -> float:
    """Return the value of keeping a control: 0 or more, infinite if it has to be kept."""
    own = None if weights is None else weights.find(control)
    return SEVERITIES.get(control.severity, UNKNOWN) if own is None else own


def read_weights(path: Path, controls: Sequence[Control]) -> Weights:
    """Return the weights in a file, whose keys are texts, ids or patterns of `controls`.

    Raises:
        InputError: The file is not TOML, a weight is no number from 0 to `MOST` or `inf`, or a key
            names none of the controls; all mistakes are reported, each with its line.
    """
    file = parse(files.content(path, "the weights", LARGEST), str(path))
    problems: list[Problem] = []
    found: dict[str, float] = {}
    for key, weight in file.data.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float):
            hint = f'a key with dots or blanks needs quotes, such as "{key}.x" = 5'
            problems.append(file.problem(f"the weight of '{key}' is no number", key, hint=hint))
        elif not (0 <= weight <= MOST or weight == math.inf):
            hint = f"give a number from 0 to {MOST:,.0f}, or inf for what has to be kept"
            problems.append(file.problem(f"the weight of '{key}' is {weight}", key, hint=hint))
        else:
            found[key] = float(weight)
            alone = Weights({key: 1.0})
            if not any(alone.find(control) is not None for control in controls):
                hint = "give a control's whole text, one of its ids, or a pattern such as 'SRG-*'"
                problems.append(file.problem(f"'{key}' names no control here", key, hint=hint))
    if problems:
        raise InputError.of(tuple(problems))
    return Weights(found)
