"""A control that was given up, as a decision's file records it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

_Number = Annotated[float, Field(allow_inf_nan=False)]


class GivenUp(BaseModel):
    """`[[given_up]]`: a control that a decision leaves out, and the cost that was the reason.

    `cost` is what leaving the control out of the whole profile saves on `metric`, in `unit`; [low,
    high] is its interval, and `baseline` what the metric is without the profile. Without a metric
    nothing is known of its cost. `place` is where it was written, as `file:line`, and `stands_for`
    has the lines written there if the control is a cheaper rule that replaces them. `conditions`
    says how that was measured. `ids` and `severity` are the benchmark's. `reason` is for
    the user to fill in.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    control: Annotated[str, Field(min_length=1)]
    place: str = ""
    stands_for: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    severity: Literal["high", "medium", "low", "info", "unknown", ""] = ""
    metric: str = ""
    cost: _Number = 0.0
    low: _Number = 0.0
    high: _Number = 0.0
    unit: str = ""
    baseline: _Number = 0.0
    conditions: str = ""
    reason: str = ""
