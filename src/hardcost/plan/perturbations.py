"""Under which perturbations a workload is measured by an exact instrument.

One execution repeats exactly, and is one draw all the same: of a whole system, or of a call that
makes processes, the cost depends on where ticks fall, what memory is free, what is random and how
long environments are. A perturbation is a number that changes all of these, and changes them alike
in each configuration, so that configurations are compared number by number. 0 changes nothing.

What does not move is measured once, under none. What moves is measured under numbers from 1: a
guest that was never perturbed is no draw like the others, since its caches are emptier than those
of a system that has been at work.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from hardcost.instruments.names import instrument_named
from hardcost.model.workload import Workload
from hardcost.plan.plan import Trial
from hardcost.workloads.names import load

UNPERTURBED: Final = (0,)
"""The perturbations of a trial that nothing perturbs."""

USUAL = 5
"""Under how many perturbations what moves is measured."""


def perturbations_by_trial(
    workload: Workload,
    instrument: str,
    *,
    wanted: int | None = None,
    usual: int | None = None,
) -> tuple[tuple[int, ...], ...]:
    """Return the perturbations of each of a workload's trials of a configuration.

    `wanted` is how often to measure; None leaves it to the instrument. An exact one then measures
    once what does not move and `usual` times what does, None standing for `USUAL`. Another repeats
    each trial as often as it needs, unperturbed.

    Raises:
        InputError: There is no such workload or instrument, or a parameter is wrong.
    """
    measured = instrument_named(instrument)
    if not measured.exact:
        return (UNPERTURBED,) * (wanted or measured.repetitions)
    of = load(workload)
    if of.kind.moves is not None:
        number = (wanted or usual or USUAL) if of.kind.moves(of.parameters) else 1
        return (tuple(range(1, number + 1)) if number > 1 else UNPERTURBED,)
    number = wanted or ((usual or USUAL) if of.kind.resolution else 1)
    return tuple((n,) for n in range(1, number + 1)) if number > 1 else (UNPERTURBED,)


def note(trials: Iterable[Trial]) -> tuple[str, ...]:
    """Return a note on perturbed trials, if there are any."""
    numbers = {number for trial in trials for number in trial.perturbations if number}
    if not numbers:
        return ()
    said = (
        f"what depends on where memory lies and when it begins is measured under {len(numbers)}"
        " perturbations, which mean nothing and are the same in each configuration; its intervals"
        " are over these"
    )
    return (said,)
