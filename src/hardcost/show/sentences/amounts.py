"""Amounts in sentences: units in words, and how much something grew."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from hardcost.analysis.bill.weights import AVERAGE, WHOLE
from hardcost.model.workload import MetricId
from hardcost.show.text import MISSING, decimals, percent, ratio, signed_number
from hardcost.units import Identity, is_rate, join_in_prose, visible

_WORDS = {
    "insn/op": "instructions per operation",
    "insn": "instructions",
    "parallel insn/op": "parallel instructions per operation",
    "parallel insn": "parallel instructions",
    "ns/op": "ns per operation",
    "ns": "ns",
    "index": "index points",
}

_INSTRUMENTS = {
    "insn": ": instructions executed, not time",
    "parallel": ": how long the processors take together, in instructions, not time",
}

_TIMES = {"ns", "ns/op"}

_METRICS = {
    "null": "the cheapest system call (getppid)",
    WHOLE: "the whole run",
    "user": "the part in user space",
    "system": "the part in the kernel",
}
"""Metrics whose names say little by themselves."""

_TWICE = 2
"""From this factor on a program's growth is a multiple."""

_NEAR = (0.9, 1.1)
"""Between these factors a percentage is clearer than a multiple."""


class MetricInterval(Protocol):
    """A ratio to the baseline with its interval, such as that of a cell."""

    @property
    def ratio(self) -> float:
        """The cost as a multiple of the baseline's."""

    @property
    def ratio_low(self) -> float:
        """The lower end of the interval."""

    @property
    def ratio_high(self) -> float:
        """The upper end of the interval."""


class MetricChange(Protocol):
    """A metric without and with a change."""

    @property
    def metric(self) -> MetricId:
        """The metric's name."""

    @property
    def unit(self) -> str:
        """The unit of the values."""

    @property
    def baseline(self) -> float:
        """The value without the change."""

    @property
    def with_profile(self) -> float:
        """The value with the change."""


def unit_words(unit: str) -> str:
    """Return a unit in words, such as `instructions per operation`."""
    return _WORDS.get(str(unit), visible(str(unit)))


def instrument_words(name: str) -> str:
    """Return an instrument's name in a sentence; of instructions also what they are not."""
    what = _INSTRUMENTS.get(name, "")
    return f"instrument {visible(name)}{what}"


def quote_name(name: str | Identity) -> str:
    """Return a name for use in a sentence: in quotes if it contains a space."""
    shown = visible(name)
    return f"'{shown}'" if " " in shown else shown


def join_names(names: Sequence[str]) -> str:
    """Return names as a list in prose, each in quotes if it contains a space."""
    return join_in_prose([f"'{name}'" if " " in name else name for name in names])


def cost_factor(before: float, after: float, unit: str) -> float:
    """Return the cost as a multiple of `before`: for a rate, the inverse. NaN if unknown."""
    over, under = (before, after) if is_rate(unit) else (after, before)
    return over / under if under else math.nan


def growth_words(factor: float, unit: str) -> str:
    """Return `2.1 times as expensive`, or the wording for a time or a small change."""
    dear, cheap = ("longer", "shorter") if unit in _TIMES else ("more expensive", "cheaper")
    if not math.isfinite(factor):
        return "unknown"
    if _NEAR[0] < factor < _NEAR[1]:
        return f"{percent(abs(factor - 1))} {dear if factor >= 1 else cheap}"
    return f"{ratio(factor)[1:]} times as {'long' if unit in _TIMES else 'expensive'}"


def growth_clause(factor: float, base: str, unit: str) -> str:
    """Return `is 2.1 times as expensive as none`, or the wording for a time or a small change."""
    verb, words = "takes" if unit in _TIMES else "is", growth_words(factor, unit)
    return f"{verb} {words} {'as' if ' times ' in words else 'than'} {base}"


def metric_words(metric: MetricId) -> str:
    """Return what a metric is, for a sentence: `the average system call`, or its name."""
    if metric == AVERAGE:
        return "the average system call"
    words = _METRICS.get(metric.name)
    if words is None:
        return quote_name(metric)
    return words if metric.workload is None else f"{words} of {quote_name(metric.workload)}"


def change(of: MetricChange, cell: MetricInterval | None, program: str = "the program") -> str:
    """Return how a metric changes: `makes open 2.1 times as expensive (+3,812 …)`.

    The ratio's interval replaces the difference if it is more than a point. `program` is what the
    metric `wall` is of.
    """
    unit = str(of.unit)
    difference = of.with_profile - of.baseline
    digits = decimals((of.baseline, of.with_profile))
    per = "instructions" if of.metric == AVERAGE and unit == "insn/op" else unit_words(unit)
    added = f"{signed_number(difference, digits)} {per}"
    factor = cost_factor(of.baseline, of.with_profile, unit)
    name = metric_words(of.metric)
    if of.metric.name == WHOLE:
        name = program if of.metric.workload is None else quote_name(of.metric.workload)
    if not math.isfinite(factor):
        return f"adds {added} to {name}"
    if is_rate(unit):
        verb = "lowers" if difference < 0 else "raises"
        words = f"{verb} {name} to {percent(of.with_profile / of.baseline)} of the baseline's"
    elif of.metric.name == WHOLE and unit not in _TIMES:
        words = f"makes {name} execute {_execution_words(factor)}"
    else:
        verb = "take " if unit in _TIMES else ""
        words = f"makes {name} {verb}{growth_words(factor, unit)}"
    span = _span(cell)
    if of.metric.name == WHOLE and unit not in _TIMES and factor < _TWICE:
        span = _span_of_shares(cell)
    return f"{words} ({span})" if span else f"{words} ({added})"


def _execution_words(factor: float) -> str:
    """Return how many more instructions a program executes: `40.0% more instructions`."""
    if factor >= _TWICE:
        return f"{ratio(factor)[1:]} times as many instructions"
    return f"{percent(abs(factor - 1))} {'more' if factor >= 1 else 'fewer'} instructions"


def _span_of_shares(cell: MetricInterval | None) -> str:
    """Return the interval of what is added, as shares; nothing if it is a point when rounded."""
    if not _span(cell) or cell is None:
        return ""
    return f"95% interval {percent(cell.ratio_low - 1)} to {percent(cell.ratio_high - 1)}"


def _span(cell: MetricInterval | None) -> str:
    """Return the interval of a ratio in words; nothing if it is a point when rounded."""
    if cell is None:
        return ""
    low, middle, high = map(ratio, (cell.ratio_low, cell.ratio, cell.ratio_high))
    if low == middle == high or MISSING in {low, middle, high}:
        return ""
    return f"95% interval {low[1:]} to {high[1:]} times the baseline"
