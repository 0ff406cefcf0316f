"""`hardcost rules cost` in nanoseconds: fitting a machine's prices, and predicting by them."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any

from rich.table import Table

from hardcost.calibration import timedrounds, timeprices
from hardcost.cli.console import note
from hardcost.cli.monitors import ProgressLine, monitor_of
from hardcost.cli.waiting import until_done
from hardcost.errors import InputError
from hardcost.machines import names
from hardcost.machines.cache import Cache
from hardcost.machines.machine import Boot
from hardcost.machines.wanted import Wanted
from hardcost.report.text import visible
from hardcost.run import timing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hardcost.calibration.heldout import Checked
    from hardcost.calibration.timeprices import TimePrices
    from hardcost.machines.machine import Machine

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


def fit(name: str, *, yes: bool) -> TimePrices:
    """Fit the prices of a machine, keep and return them.

    Raises:
        InputError: The machine can't be changed, or is none.
        MachineError: A trial failed.
    """
    if names.is_known(name) and not names.is_running(name):
        raise timedrounds.not_running(name)
    machine = _machine(name, yes=yes)
    timedrounds.check(machine)
    note(f"timing rules on {machine.name} in {timedrounds.ROUNDS} rounds …")
    line, began = ProgressLine(), time.monotonic()

    def hear(done: int, trials: int) -> None:
        passed = time.monotonic() - began
        left = timing.left(None, passed, done, trials)
        line.show(f"trial {done} of {trials}; {timing.left_said(left)}", passed)

    try:
        return until_done(timeprices.measured(machine, Cache(), hear))
    finally:
        line.end()


def kept(name: str) -> TimePrices:
    """Return the prices that were fitted for a machine.

    Raises:
        InputError: None were.
        MachineError: The machine can't be reached.
    """
    if names.is_known(name) and not names.is_running(name):
        raise timedrounds.not_running(name)
    machine = _machine(name, yes=False)
    found = timeprices.kept(machine, Cache())
    if found is None:
        raise InputError(
            f"no prices were fitted for {name} as it is: its kernel, command line and processor",
            hint=f"`hardcost rules cost --fit --machine {name}` fits them in some ten minutes",
        )
    boot = machine.identity(Boot()).get("boot_id", "")
    if boot != found.constants.about.get("boot", ""):
        note(f"{name} has booted since its prices were fitted; the kernel is the same")
    return found


def _machine(name: str, *, yes: bool) -> Machine:
    wanted = Wanted(yes=yes, instrument="time", exact=False)
    names.check(name, wanted)
    return until_done(names.make(name, wanted, monitor_of("auto")))


# What was fitted ----------------------------------------------------------------------------------


def worth(prices: TimePrices) -> str:
    """Return what a prediction by these prices is worth, in words."""
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
    """Yield what was fitted, and how far it is off, for a terminal."""
    yield _steps(prices)
    yield _lengths(prices)
    yield _checked(prices.checked)


def data(prices: TimePrices) -> dict[str, Any]:
    """Return all of it for JSON."""
    constants = prices.constants
    return {
        "unit": "ns",
        "constants": dict(constants.about),
        "fitted": {
            table: {
                str(key): {"value": value, "low": low, "high": high}
                for key, value in getattr(constants, table).items()
                for low, high in [prices.intervals[table].get(str(key), (None, None))]
            }
            for table in prices.intervals
        },
        "held_out": [
            {
                "set": row.set,
                "rules": row.rules,
                "operation": row.operation,
                "predicted": row.predicted,
                "measured": row.measured,
                "low": row.low,
                "high": row.high,
                "off": row.off,
            }
            for row in prices.checked
        ],
        "median_off": prices.median_off,
    }


def _steps(prices: TimePrices) -> Table:
    about = prices.constants.about
    table = _titled(f"fitted on {visible(about.get('machine', ''))}: what each step takes")
    for name in ("step", "ns", "interval"):
        table.add_column(name, justify="left" if name == "step" else "right")
    for what, group, key in _STEPS:
        value = getattr(prices.constants, group).get(key)
        low, high = prices.intervals[group].get(key, (None, None))
        if value is not None:
            known = low is not None and high is not None
            table.add_row(what, f"{value:,.1f}", f"{low:,.1f}..{high:,.1f}" if known else "")
    return table


def _lengths(prices: TimePrices) -> Table:
    table = _titled("fitted: what a list of so many rules takes beyond its rules' own time")
    for name in ("rules", "ns", "interval"):
        table.add_column(name, justify="right")
    for length, value in sorted(prices.constants.crowding.items()):
        low, high = prices.intervals["crowding"][str(length)]
        table.add_row(str(length), f"{value:,.1f}", f"{low:,.1f}..{high:,.1f}")
    return table


def _checked(rows: Sequence[Checked]) -> Table:
    table = _titled("rule sets held out: what they add to a call, predicted and measured")
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


def _titled(title: str) -> Table:
    return Table(title=title, title_justify="left")
