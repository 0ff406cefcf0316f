"""Prices of audit rules in nanoseconds: fitted on a machine once, and kept for that machine.

They belong to a machine, its kernel, that kernel's command line, and a processor. A new boot keeps
them: they are differences between trials of one run. When they were fitted is kept with them.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from auditrules.cost.constants import NANOSECONDS, Constants, ConstantsError
from auditrules.cost.measurement import PriceCheck, TimePrices
from hardcost.calibration.nanoseconds import rounds, validation
from hardcost.calibration.nanoseconds.fit import Fitted, fit_rounds
from hardcost.calibration.nanoseconds.rounds import Needed, Timed, TimedSetRequest
from hardcost.calibration.nanoseconds.rule_sets import timed_sets
from hardcost.calibration.nanoseconds.validation import HeldOut
from hardcost.machines.machine import Machine
from hardcost.protocol.boot import Boot
from hardcost.supply.cache.cache import Cache, digest

_FOLDER = "constants"  # of the cache
_FILE = "prices.toml"
_CHECKED = "checked.json"
_OF_ONE_RUN = frozenset({"boot_id", "programs"})  # parts of a trial's identity that prices outlive
_SHOWN = ("kernel", "cpu_model", "host", "measured on")


def place(machine: Machine, cache: Cache) -> Path:
    """Return the folder in the cache where a machine's prices are kept."""
    identity = machine.identity(Boot())
    named = {key: value for key, value in identity.items() if key not in _OF_ONE_RUN}
    return cache.root / _FOLDER / digest(named)


def kept_prices(machine: Machine, cache: Cache) -> TimePrices | None:
    """Return the prices that were fitted for a machine; None if none were."""
    folder = place(machine, cache)
    if cache.find(folder.parent.name, folder.name) is None:
        return None
    try:
        return prices_from_text((folder / _FILE).read_text(), (folder / _CHECKED).read_text())
    except (OSError, ConstantsError, ValueError, TypeError, KeyError):
        return None


def sets_to_time(sets: Sequence[HeldOut]) -> tuple[TimedSetRequest, ...]:
    """Return all that a fit measures, with the sets that it is checked by."""
    experiments = (TimedSetRequest(one, Needed(*one.watched)) for one in timed_sets())
    return (*experiments, *(one.asked for one in sets))


def prices_of_rounds(timed: Timed, sets: Sequence[HeldOut], about: Mapping[str, str]) -> TimePrices:
    """Return the prices that rounds give, checked by the sets that were held out."""
    found: Fitted = fit_rounds(timed.rounds, about)
    rows = validation.check_predictions(found.constants, sets, timed.rounds)
    return TimePrices(found.constants, found.intervals, rows)


async def measured_prices(
    machine: Machine, cache: Cache, hear: Callable[[int, int], None]
) -> TimePrices:
    """Measure on a machine, fit its prices, keep and return them.

    Raises:
        InputError: The machine is none whose times can be measured under rules.
        MachineError: A trial failed.
    """
    rounds.check(machine)
    sets = validation.held_out()
    timed = await rounds.time_rounds(machine, sets_to_time(sets), rounds.ROUNDS, hear)
    prices = prices_of_rounds(timed, sets, _describe_machine(machine, timed))
    _keep(machine, cache, prices)
    return prices


def prices_to_text(prices: TimePrices) -> tuple[str, str]:
    """Return prices as two texts: constants as TOML, the rest as JSON."""
    rest = {
        "intervals": prices.intervals,
        "checked": [dataclasses.asdict(row) for row in prices.checked],
    }
    return prices.constants.to_toml(), json.dumps(rest, indent=1)


def _describe_machine(machine: Machine, timed: Timed) -> dict[str, str]:
    environment = machine.environment(Boot())
    return {
        "unit": NANOSECONDS,
        "machine": machine.name,
        **{key: environment[key] for key in _SHOWN if key in environment},
        "boot": machine.identity(Boot()).get("boot_id", ""),
        "rounds": str(len(timed.rounds)),
        "trials": str(timed.trials),
        "disturbed": str(timed.disturbed),
        "date": datetime.now(UTC).date().isoformat(),
    }


def _keep(machine: Machine, cache: Cache, prices: TimePrices) -> None:
    folder = place(machine, cache)
    title = f"prices of rules in ns: {machine.name}, {prices.constants.about.get('kernel', '')}"
    constants, rest = prices_to_text(prices)
    cache.throw_away(folder.parent.name, folder.name)
    with cache.building(folder.parent.name, folder.name, title) as made:
        if made is not None:  # else another run has just measured the same
            (made / _FILE).write_text(constants)
            (made / _CHECKED).write_text(rest)


def prices_from_text(constants: str, rest: str) -> TimePrices:
    """Return the prices in two texts that `prices_to_text` wrote.

    Raises:
        ConstantsError, ValueError, TypeError, KeyError: They are not such texts.
    """
    data: dict[str, Any] = json.loads(rest)
    intervals = {
        table: {name: (float(low), float(high)) for name, (low, high) in rows.items()}
        for table, rows in data["intervals"].items()
    }
    checked = tuple(PriceCheck(**row) for row in data["checked"])
    return TimePrices(Constants.from_toml(constants), intervals, checked)
