"""The cost of audit rules for each system call, predicted without booting.

The unit is instructions; by a machine's own prices, nanoseconds.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from pathlib import Path

from auditrules.cost.constants import Constants
from auditrules.cost.measurement import OperationCost, TimePrices
from auditrules.cost.totals import Priced
from auditrules.library.cost import CostRequest, price
from auditrules.library.reading import read
from auditrules.model.kernel_rule import KernelRule
from hardcost.calibration import check, kernel_constants
from hardcost.calibration.nanoseconds import rounds
from hardcost.calibration.nanoseconds.prices import kept_prices, measured_prices
from hardcost.errors import InputError
from hardcost.library.interrupt import until_done
from hardcost.library.rules.profile_caller import ProfileCaller
from hardcost.machines import names
from hardcost.machines.machine import Machine
from hardcost.machines.options import MachineOptions
from hardcost.measure.monitor import Monitor, Silent
from hardcost.protocol.boot import Boot
from hardcost.supply.cache.cache import Cache
from hardcost.supply.packages import debian, guest_release

DEFAULT_CPU = "max"
_MACHINE = "vm"  # whose kernel the constants are of
_LIMIT_SECONDS = 600.0  # of host time, for one measurement


@dataclass(frozen=True)
class MeasuredCostRequest(CostRequest):
    """A request for the cost of rules, which may be measured, too.

    The unit is instructions on the `kernel` and `cpu` of a `guest` under `qemu`, as
    `MachineOptions` has them, which `measure` also measures there; with `timed_on`, nanoseconds on
    that machine. `fit` measures the prices again. `yes` lets it change this host, or a machine
    where users are logged in.
    """

    _: KW_ONLY
    timed_on: str | None = None
    fit: bool = False
    measure: bool = False
    guest: str | None = None
    kernel: Path | None = None
    cpu: str = DEFAULT_CPU
    qemu: str | None = None
    yes: bool = False


def cost(request: MeasuredCostRequest, monitor: Monitor | None = None) -> Priced:
    """Predict the cost of rules for each call.

    Raises:
        InputError: A rule can't be read or loaded, or the machine has no prices.
        MachineError: A trial failed.
    """
    monitor = monitor or Silent()
    prices = None
    if request.timed_on is not None:
        on = request.timed_on
        prices = fit(on, monitor, yes=request.yes) if request.fit else _kept(on, monitor)
    release = guest_release.codename(request.guest)
    caller = ProfileCaller(monitor, partial(debian.package_root, release=release))
    rules = read(request, caller)
    if prices is not None:
        return price(rules, prices.constants, request.mix, caller, prices=prices)
    constants, guest = _constants(request, monitor)
    if guest is None or not request.measure:
        return price(rules, constants, request.mix, caller)

    def measure(kept: Sequence[KernelRule]) -> tuple[OperationCost, ...]:
        return _measured(guest, constants, kept, monitor)

    return price(rules, constants, request.mix, caller, measure=measure)


def fit(name: str, monitor: Monitor | None = None, *, yes: bool = False) -> TimePrices:
    """Fit the prices of a machine, keep and return them.

    Raises:
        InputError: The machine can't be changed, or is none.
        MachineError: A trial failed.
    """
    monitor = monitor or Silent()
    machine = _machine(name, monitor, yes=yes)
    rounds.check(machine)
    monitor.note(f"timing rules on {machine.name} in {rounds.ROUNDS} rounds …")
    with contextlib.ExitStack() as stage:
        advance: Callable[[], None] | None = None

        def hear(_done: int, trials: int) -> None:
            nonlocal advance
            if advance is None:
                advance = stage.enter_context(monitor.stage("trials", trials))
            advance()

        return until_done(measured_prices(machine, Cache(), hear))


def _kept(name: str, monitor: Monitor) -> TimePrices:
    """Return the prices that were fitted for a machine."""
    machine = _machine(name, monitor, yes=False)
    found = kept_prices(machine, Cache())
    if found is None:
        raise InputError(
            f"no prices were fitted for {name} as it is: its kernel, command line and processor",
            hint=f"`hardcost rules cost --fit --machine {name}` fits them in some ten minutes",
        )
    boot = machine.identity(Boot()).get("boot_id", "")
    if boot != found.constants.about.get("boot", ""):
        monitor.note(f"{name} has booted since its prices were fitted; the kernel is the same")
    return found


def _machine(name: str, monitor: Monitor, *, yes: bool) -> Machine:
    if names.is_known(name) and not names.is_running(name):
        raise rounds.not_running_error(name)
    wanted = MachineOptions(yes=yes, instrument="time", exact=False)
    names.check(name, wanted)
    return until_done(names.make(name, wanted, monitor))


def _constants(request: MeasuredCostRequest, monitor: Monitor) -> tuple[Constants, Machine | None]:
    """Return the constants for the kernel, and the machine if there is need of one."""
    fit, release = request.fit, guest_release.codename(request.guest)
    wanted = MachineOptions(
        guest=request.guest, kernel=request.kernel, cpu=request.cpu, qemu=request.qemu
    )
    if wanted == MachineOptions(cpu=DEFAULT_CPU) and not fit and not request.measure:
        return Constants.of_debian(), None
    names.check(_MACHINE, wanted)
    machine = until_done(names.make(_MACHINE, wanted, monitor))
    return constants_of(machine, release, monitor, again=fit), machine


def constants_of(
    machine: Machine, release: str | None, monitor: Monitor, *, again: bool = False
) -> Constants:
    """Return the constants for a machine's kernel; they are fitted if none are kept, or `again`.

    `release` is the code name of the Debian that guests are made of, the host's if there is none.

    Raises:
        MachineError: A trial failed.
    """
    cache = Cache()
    found, notes = (None, ()) if again else kernel_constants.constants_at_hand(machine, cache)
    for note in notes:
        monitor.note(note)
    if found is None:
        monitor.note(
            "fitting the constants for this kernel in a guest; this takes about three minutes …"
        )
        found = until_done(kernel_constants.fit_constants(machine, cache, release))
    return found


def _measured(
    machine: Machine, constants: Constants, rules: Sequence[KernelRule], monitor: Monitor
) -> tuple[OperationCost, ...]:
    monitor.note("measuring in a guest with and without the rules …")

    async def compared() -> tuple[OperationCost, ...]:
        baseline = await check.levels_without_rules(machine, _LIMIT_SECONDS)
        return await check.compare(machine, constants, rules, baseline, _LIMIT_SECONDS)

    return until_done(compared())
