"""Prices in nanoseconds that were fitted on a machine, and how far predictions are off."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Literal

from rich.table import Table

from auditrules.cost.measurement import PriceCheck, TimePrices
from auditrules.show.parts import Amount, RulesDocument
from auditrules.words import visible

_MOST = 0.9  # the part of predictions that a note speaks of, beside the median
_STEPS = (
    ("a call, where there is any rule", "walk", "call"),
    ("each file that a call visits (an estimate)", "walk", "name"),
    ("a rule that does not name the call", "walk", "unnamed"),
    ("a rule that names it", "walk", "enter"),
    ("and a condition on auid", "field", "auid"),
    ("and a condition on the directory", "field", "dir"),
    ("and a condition on the permission", "field", "perm"),
    ("a record of getppid", "record", "getppid"),
    ("a record of openat", "record", "openat"),
)
"""The constants that a reader is shown: what, table, and name; JSON has all."""


class FittedPrice(RulesDocument):
    """A price in nanoseconds with its interval."""

    value: Amount
    low: Amount | None
    high: Amount | None


class HeldOutSet(RulesDocument):
    """A rule set that was kept out of the fit: predicted, and measured."""

    set: str
    rules: int
    operation: str
    predicted: Amount
    measured: Amount
    low: Amount
    high: Amount
    off: Amount


class FittedDocument(RulesDocument):
    """The prices that `hardcost rules cost --fit --machine` has measured."""

    unit: Literal["ns"]
    constants: dict[str, str]
    fitted: dict[str, dict[str, FittedPrice]]
    held_out: tuple[HeldOutSet, ...]
    median_off: Amount


def worth(prices: TimePrices) -> str:
    """Return the error of a prediction by these prices, in words."""
    off = sorted(abs(row.off) for row in prices.checked)
    if not off:
        return "how far predictions are off is not known"
    sets = len({row.set for row in prices.checked})
    return (
        f"for {sets} rule sets that the prices were not fitted from, half of the predictions are"
        f" within {statistics.median(off):.0%} of the measured cost, nine of ten within"
        f" {off[int(_MOST * (len(off) - 1))]:.0%}"
    )


def source(prices: TimePrices) -> str:
    """Return where the prices are from, in words."""
    about = prices.constants.about
    return (
        f"predicted, not measured: by prices that were fitted on {about.get('machine')}"
        f" ({about.get('cpu_model', 'an unknown processor')}, Linux"
        f" {about.get('kernel', 'unknown').split()[0]}) on {about.get('date')}"
    )


def tables(prices: TimePrices) -> Iterator[Table]:
    """Yield the fitted prices and their errors, for a terminal."""
    yield _step_table(prices)
    yield _length_table(prices)
    yield _check_table(prices.checked)


def document(prices: TimePrices) -> FittedDocument:
    """Return all of it for JSON."""
    constants = prices.constants
    return FittedDocument(
        unit="ns",
        constants=dict(constants.about),
        fitted={
            table: {
                str(key): FittedPrice(value=value, low=low, high=high)
                for key, value in getattr(constants, table).items()
                for low, high in [prices.intervals[table].get(str(key), (None, None))]
            }
            for table in prices.intervals
        },
        held_out=tuple(HeldOutSet(**asdict(row), off=row.off) for row in prices.checked),
        median_off=prices.median_off,
    )


def _step_table(prices: TimePrices) -> Table:
    about = prices.constants.about
    table = _table(f"fitted on {visible(about.get('machine', ''))}: what each step takes")
    for name in ("step", "ns", "interval"):
        table.add_column(name, justify="left" if name == "step" else "right")
    for what, group, key in _STEPS:
        value = getattr(prices.constants, group).get(key)
        low, high = prices.intervals[group].get(key, (None, None))
        if value is not None:
            known = low is not None and high is not None
            table.add_row(what, f"{value:,.1f}", f"{low:,.1f}..{high:,.1f}" if known else "")
    return table


def _length_table(prices: TimePrices) -> Table:
    table = _table("fitted: what a list of so many rules takes beyond its rules' own time")
    for name in ("rules", "ns", "interval"):
        table.add_column(name, justify="right")
    for length, value in sorted(prices.constants.crowding.items()):
        low, high = prices.intervals["crowding"][str(length)]
        table.add_row(str(length), f"{value:,.1f}", f"{low:,.1f}..{high:,.1f}")
    return table


def _check_table(rows: Sequence[PriceCheck]) -> Table:
    table = _table("rule sets held out: what they add to a call, predicted and measured")
    for name in ("set", "operation", "predicted ns", "measured ns", "interval", "off by"):
        table.add_column(name, justify="left" if name in {"set", "operation"} else "right")
    for row in rows:
        table.add_row(
            visible(row.set),
            row.operation,
            f"{row.predicted:,.0f}",
            f"{row.measured:,.0f}",
            f"{row.low:,.0f}..{row.high:,.0f}",
            f"{row.off:+.1%}",
        )
    return table


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left")
