"""`hardcost rules cost`: what audit rules cost each system call, predicted without booting."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hardcost.auditrules import semantics
from hardcost.auditrules.cost.constants import Constants
from hardcost.auditrules.prove.unresolved import numbers_for, resolved
from hardcost.calibration import check, fitted
from hardcost.cli.console import note, show
from hardcost.cli.monitors import monitor_of
from hardcost.cli.rules import common
from hardcost.cli.rules.priced import Priced
from hardcost.cli.waiting import until_done
from hardcost.machines import names
from hardcost.machines.cache import Cache
from hardcost.machines.machine import Boot
from hardcost.machines.wanted import Wanted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hardcost.auditrules.kernelrule import KernelRule
    from hardcost.calibration.check import Row
    from hardcost.machines.machine import Machine

_CPU = "max"
_MACHINE = "vm"  # whose kernel the constants are of
_LIMIT_SECONDS = 600.0  # of host time, for one measurement


@common.for_machine
def cost(  # noqa: PLR0913  (click's options)
    paths: tuple[Path, ...],
    *,
    histogram_file: Path | None,
    measure: bool,
    fit: bool,
    kernel: Path | None,
    cpu: str,
    machine: common.Machine,
    leave_out_faulty: bool,
    format: str,  # noqa: A002
) -> None:
    """Predict what audit rules cost each system call, in instructions."""
    rules = common.read(paths, machine, leave_out_faulty=leave_out_faulty)
    mix = common.histogram(histogram_file)
    constants, guest = _constants(kernel, cpu, fit=fit, measure=measure)
    rules = rules.loaded_by(fitted.auditctl(constants))
    numbers = numbers_for(rules.guessed, {})
    kept = resolved(rules.guessed, numbers)
    rows = _measured(guest, constants, kept) if measure and guest else ()
    priced = Priced(
        constants=constants,
        loaded=semantics.load(kept),
        mix=mix,
        assumed=histogram_file is None,
        twice=tuple(rule for rule, _ in rules.found.twice),
        rows=rows,
    )
    if format == "json":
        print(json.dumps({**priced.data(), "left_out": rules.left_out_data()}, indent=2))
    else:
        show(*priced.tables())
    common.note_guesses(rules)
    if numbers:
        names = ", ".join(sorted(name for _, name in numbers))
        note(f"priced as unused ids: {names}; --passwd and --group resolve them")
    for line in priced.notes():
        note(line)


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
