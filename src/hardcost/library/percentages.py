"""Percentages as they are written: budgets such as `open<=50%,5%`, limits, and single ones."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from hardcost.analysis.bill.budget import Budget
from hardcost.errors import RequestError

_ANY = "any"
_ONE = re.compile(r"(?P<metric>.*?)\s*<?=\s*(?P<share>[^=<]*)", re.DOTALL)


def budget(text: str, field: str = "budget") -> Budget:
    """Return the budget in text such as `5%` or `open<=50%,null=20%,5%`, a request's `field`.

    Raises:
        InputError: A part is no percentage, or a metric has two.
    """
    others: float | None = None
    metrics: dict[str, float] = {}
    for part in map(str.strip, text.split(",")):
        found = _ONE.fullmatch(part)
        metric = found["metric"].strip() if found else ""
        if found is None and others is None:
            others = fraction(field, part)
        elif found is None:
            raise RequestError(
                f"`{field}`: '{part}' is a second percentage for all metrics",
                hint="name a metric in front of it, such as open<=50%",
            )
        elif not metric or metric in metrics:
            why = "has two budgets" if metric else "is no metric"
            raise RequestError(f"`{field}`: '{metric}' {why}", hint="such as open<=50%,null=20%,5%")
        else:
            metrics[metric] = fraction(field, found["share"].strip())
    return Budget(others, metrics)


def limits(texts: Sequence[str]) -> Budget:
    """Return the limits in texts such as `open<=5%` and `any<=10%`.

    Raises:
        InputError: One is no limit, or a metric has two.
    """
    found: dict[str, float] = {}
    for text in texts:
        one = budget(text, "limits")
        if one.others is not None:
            raise RequestError(f"`limits`: '{text}' names no metric", hint="such as 'any<=10%'")
        for metric, share in one.metrics.items():
            if metric in found:
                raise RequestError(
                    f"`limits`: '{metric}' has two limits", hint="such as 'open<=5%'"
                )
            found[metric] = share
    others = found.pop(_ANY, None)
    return Budget(others, found)


def above_zero(field: str, text: str) -> float:
    """Return a percentage above 0 as a part of 1.

    Raises:
        InputError: It is none.
    """
    found = fraction(field, text)
    if not found:
        raise RequestError(f"`{field}`: '{text}' is not above 0", hint=f"such as `{field}` 1%")
    return found


def fraction(field: str, text: str) -> float:
    """Return `5%` as 0.05.

    Raises:
        InputError: It is no percentage.
    """
    try:
        found = float(text.removesuffix("%")) / 100
    except ValueError:
        found = -1.0
    if not 0 <= found < math.inf:
        raise RequestError(f"`{field}`: '{text}' is not a percentage", hint=f"such as `{field}` 5%")
    return found
