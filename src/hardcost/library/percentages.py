"""Percentages on the command line: budgets such as `open<=50%,5%`, and single ones."""

from __future__ import annotations

import math
import re

from hardcost.analysis.budget import Budget
from hardcost.errors import InputError

_ONE = re.compile(r"(?P<metric>.*?)\s*<?=\s*(?P<share>[^=<]*)", re.DOTALL)


def budget(text: str, option: str = "--budget") -> Budget:
    """Return the budget in text such as `5%` or `open<=50%,null=20%,5%`; `option` is where it is.

    Raises:
        InputError: A part is no percentage, or a metric has two.
    """
    others: float | None = None
    metrics: dict[str, float] = {}
    for part in map(str.strip, text.split(",")):
        found = _ONE.fullmatch(part)
        metric = found["metric"].strip() if found else ""
        if found is None and others is None:
            others = fraction(option, part)
        elif found is None:
            raise InputError(
                f"{option}: '{part}' is a second percentage for all metrics",
                hint="name a metric in front of it, such as open<=50%",
            )
        elif not metric or metric in metrics:
            why = "has two budgets" if metric else "is no metric"
            raise InputError(f"{option}: '{metric}' {why}", hint="such as open<=50%,null=20%,5%")
        else:
            metrics[metric] = fraction(option, found["share"].strip())
    return Budget(others, metrics)


def above_zero(option: str, text: str) -> float:
    """Return a percentage above 0 as a part of 1.

    Raises:
        InputError: It is none.
    """
    found = fraction(option, text)
    if not found:
        raise InputError(f"{option}: '{text}' is not above 0", hint=f"such as {option} 1%")
    return found


def fraction(option: str, text: str) -> float:
    """Return `5%` as 0.05.

    Raises:
        InputError: It is no percentage.
    """
    try:
        found = float(text.removesuffix("%")) / 100
    except ValueError:
        found = -1.0
    if not 0 <= found < math.inf:
        raise InputError(f"{option}: '{text}' is not a percentage", hint=f"such as {option} 5%")
    return found
