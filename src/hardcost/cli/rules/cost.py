"""`hardcost rules cost`: what audit rules cost each system call, predicted without booting."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hardcost.auditrules import semantics
from hardcost.auditrules.cost.constants import Constants
from hardcost.auditrules.prove.unresolved import numbers_for, resolved
from hardcost.cli import options
from hardcost.cli.console import note, show
from hardcost.cli.rules import common
from hardcost.cli.rules.priced import Priced
from hardcost.cli.waiting import until_done
from hardcost.machines.cache import Cache
from hardcost.machines.machine import Boot
from hardcost.machines.qemu.argv import Hardware
from hardcost.machines.qemu.vm import VirtualMachine
from hardcost.pricing import check, fitted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.auditrules.kernelrule import KernelRule
    from hardcost.pricing.check import Row

_CPU = "max"
_LIMIT_SECONDS = 600.0  # of host time, for one measurement


@click.command()
@click.argument("paths", nargs=-1, required=True, type=common.RulesPath)
@common.histogram_option
@click.option("--measure", is_flag=True, help="Measure in a guest, and show both side by side.")
@click.option(
    "--fit",
    is_flag=True,
    help="Fit the constants anew for the kernel, which takes some three minutes.",
)
@click.option(
    "--kernel",
    type=click.Path(path_type=Path),
    help="The kernel to price for: a bzImage, a vmlinux, or 'host' (default: Debian's).",
)
@click.option("--cpu", default=_CPU, show_default=True, help="QEMU's processor model.")
@common.machine_options
@common.leave_out_option
@options.format_option()
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
    """Predict what audit rules cost each system call, in instructions.

    Nothing is booted: the constants of Debian's kernel come with hardcost. For another kernel, or
    with --fit, they are measured in a guest once and kept with that kernel.

    A price is that of a typical call: an ordinary user's, successful, of files that no rule
    watches. Instructions are work, not time. What -w watches costs every call where it is a
    directory; its name says whether it is, unless --root or --paths does.

    \b
    Examples:  hardcost rules cost /etc/audit/rules.d
               strace -c -f -o counts.txt make
               hardcost rules cost --histogram counts.txt stig.rules
               hardcost rules cost --measure stig.rules
    """
    rules = common.read(paths, machine, leave_out_faulty=leave_out_faulty)
    mix = common.histogram(histogram_file)
    constants, guest = _constants(kernel, cpu, fit=fit, measure=measure)
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
        note(f"priced as users and groups that nobody is: {names}; --passwd and --group say more")
    for line in priced.notes():
        note(line)


def _constants(
    kernel: Path | None, cpu: str, *, fit: bool, measure: bool
) -> tuple[Constants, VirtualMachine | None]:
    """Return the constants for the kernel, and the machine if there is need of one."""
    if kernel is None and cpu == _CPU and not fit and not measure:
        return Constants.of_debian(), None
    machine = VirtualMachine(Cache(), Hardware("icount", cpu), kernel)
    found = None if fit else fitted.kept(machine)
    if found is None:
        shipped = Constants.of_debian()
        if not fit and fitted.fits(shipped, machine.environment(Boot())):
            return shipped, machine
        note("fitting the constants for this kernel in a guest; this takes some three minutes …")
        found = until_done(fitted.fitted(machine))
    return found, machine


def _measured(
    machine: VirtualMachine, constants: Constants, rules: Sequence[KernelRule]
) -> tuple[Row, ...]:
    note("measuring the rules in a guest, and without them …")

    async def compared() -> tuple[Row, ...]:
        baseline = await check.without_rules(machine, _LIMIT_SECONDS)
        return await check.compare(machine, constants, rules, baseline, _LIMIT_SECONDS)

    return until_done(compared())
