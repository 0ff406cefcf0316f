"""`hardcost rules cost`: what audit rules cost each system call, predicted without booting.

The unit is instructions; with `--prices`, nanoseconds of a machine (`costintime.py`).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hardcost.auditrules import semantics
from hardcost.auditrules.cost.constants import Constants
from hardcost.auditrules.prove.unresolved import numbers_for, resolved
from hardcost.calibration import check, fitted
from hardcost.cli.console import note, show
from hardcost.cli.monitors import monitor_of, work_progress
from hardcost.cli.rules import common, costintime
from hardcost.cli.rules.priced import Priced
from hardcost.cli.waiting import until_done
from hardcost.errors import InputError
from hardcost.machines import names
from hardcost.machines.cache import Cache
from hardcost.machines.machine import Boot
from hardcost.machines.wanted import Wanted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hardcost.auditrules.kernelrule import KernelRule
    from hardcost.calibration.check import Row
    from hardcost.calibration.timeprices import TimePrices
    from hardcost.machines.machine import Machine

_CPU = "max"
_MACHINE = "vm"  # whose kernel the constants are of
_LIMIT_SECONDS = 600.0  # of host time, for one measurement


@common.for_machine
def cost(  # noqa: PLR0913  (click's options)
    texts: tuple[str, ...],
    *,
    histogram_file: Path | None,
    measure: bool,
    fit: bool,
    fit_on: str | None,
    prices_of: str | None,
    yes: bool,
    kernel: Path | None,
    cpu: str,
    machine: common.Machine,
    leave_out_faulty: bool,
    format: str,  # noqa: A002
) -> None:
    """Predict what audit rules cost each system call."""
    on = _timed_on(fit_on, prices_of, fit=fit, guest=measure or kernel is not None or cpu != _CPU)
    if not texts and not (on and fit):
        message = "name a file or folder of audit rules, or a rule in quotes"
        raise InputError(message, hint="`hardcost rules cost --help` has examples")
    prices = _prices(on, fit=fit, yes=yes)
    if prices is not None and not texts:
        _show_fitted(prices, format)
        return
    rules = common.read(texts, machine, leave_out_faulty=leave_out_faulty)
    mix = common.histogram(histogram_file)
    if prices is not None:
        constants, guest = prices.constants, None
    else:
        constants, guest = _constants(kernel, cpu, fit=fit, measure=measure)
    with work_progress() as tell:
        tell("loading the rules")
        rules = rules.loaded_by(fitted.auditctl(constants))
        numbers = numbers_for(rules.guessed, {})
        kept = resolved(rules.guessed, numbers)
        loaded = semantics.load(kept)
    priced = Priced(
        constants=constants,
        loaded=loaded,
        mix=mix,
        assumed=histogram_file is None,
        twice=tuple(rule for rule, _ in rules.found.twice),
        rows=_measured(guest, constants, kept) if measure and guest else (),
        source=_source(prices),
    )
    with work_progress() as tell:
        priced.work_out(tell)
    if format == "json":
        held_out = {} if prices is None else {"median_off": prices.median_off}
        found = {**priced.data(), **held_out, "left_out": rules.left_out_data()}
        print(json.dumps(common.ARCHITECTURE_DATA | found, indent=2))
    else:
        show(*priced.tables())
    common.note_guesses(rules)
    if numbers:
        names = ", ".join(sorted(name for _, name in numbers))
        note(f"priced as unused ids: {names}; --passwd and --group resolve them")
    for line in (*priced.notes(), common.ARCHITECTURE):
        note(line)


def _timed_on(fit_on: str | None, prices_of: str | None, *, fit: bool, guest: bool) -> str | None:
    """Return the machine whose times are wanted; None: it is about instructions.

    Raises:
        InputError: Options contradict each other.
    """
    if fit_on is not None and not fit:
        raise InputError(
            "--machine says where --fit measures", hint="--prices takes what was fitted there"
        )
    if prices_of is not None and fit:
        raise InputError("--fit fits prices, and --prices takes those that were: use one of them")
    on = prices_of if prices_of is not None else fit_on
    if on == _MACHINE and prices_of is None:
        return None
    if on is not None and guest:
        raise InputError("--measure, --kernel and --cpu are about guests, and prices in ns are not")
    return on


def _prices(on: str | None, *, fit: bool, yes: bool) -> TimePrices | None:
    if on is None:
        return None
    return costintime.fit(on, yes=yes) if fit else costintime.kept(on)


def _source(prices: TimePrices | None) -> tuple[str, ...]:
    return () if prices is None else (costintime.source(prices), costintime.worth(prices))


def _show_fitted(prices: TimePrices, form: str) -> None:
    if form == "json":
        print(json.dumps(costintime.data(prices), indent=2))
    else:
        show(*costintime.tables(prices))
    note(costintime.worth(prices))


def _constants(
    kernel: Path | None, cpu: str, *, fit: bool, measure: bool
) -> tuple[Constants, Machine | None]:
    """Return the constants for the kernel, and the machine if there is need of one."""
    if kernel is None and cpu == _CPU and not fit and not measure:
        return Constants.of_debian(), None
    wanted, cache = Wanted(kernel=kernel, cpu=cpu), Cache()
    names.check(_MACHINE, wanted)
    machine = until_done(names.make(_MACHINE, wanted, monitor_of("auto")))
    found = None if fit else fitted.kept(machine, cache)
    if found is None:
        shipped = Constants.of_debian()
        if not fit and fitted.fits(shipped, machine.environment(Boot())):
            return shipped, machine
        note("fitting the constants for this kernel in a guest; this takes about three minutes …")
        found = until_done(fitted.fitted(machine, cache))
    return found, machine


def _measured(
    machine: Machine, constants: Constants, rules: Sequence[KernelRule]
) -> tuple[Row, ...]:
    note("measuring in a guest with and without the rules …")

    async def compared() -> tuple[Row, ...]:
        baseline = await check.without_rules(machine, _LIMIT_SECONDS)
        return await check.compare(machine, constants, rules, baseline, _LIMIT_SECONDS)

    return until_done(compared())
