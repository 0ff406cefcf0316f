"""One trial, carried out on a machine: what is kept of it, or why it failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.controls import apply
from hardcost.errors import MachineError
from hardcost.instruments import recorders
from hardcost.instruments.names import instrument as instrument_named
from hardcost.instruments.stretches import profile
from hardcost.instruments.traces import Trace
from hardcost.instruments.tracing import traces
from hardcost.run.limits import USUAL_LIMITS
from hardcost.store.record import Record
from hardcost.workloads.names import (
    CountsOperations,
    HasCounters,
    HasWindows,
    KnowsRemedy,
    MakesOneCall,
    asked,
)
from hardcost.workloads.names import workload as workload_named

if TYPE_CHECKING:
    from hardcost.design.plan import Trial
    from hardcost.machines.machine import Machine
    from hardcost.run.prepare import Prepared

PACKAGE_SEPARATOR = ", "
"""What stands between a package with its version and the next, in a record's environment."""


async def execute(prepared: Prepared, machine: Machine, limit_seconds: float | None) -> Record:
    """Run a trial, within its guest's usual limit if `limit_seconds` is None; return what is kept.

    Raises:
        InputError: The guest's own tools refuse a control, such as a rule that is misspelt.
        MachineError: The machine did not start; a `TrialError`, a control did not take, the guest
            died, or the workload failed.
    """
    trial = prepared.trial
    instrument = instrument_named(trial.instrument)
    module = workload_named(trial.workload.name)
    parameters = asked(module, dict(trial.workload.parameters))
    try:
        limit = limit_seconds or USUAL_LIMITS[prepared.boot.guest]
        execution = await machine.execute(prepared.boot, prepared.job, limit)
        controls, answers = trial.configuration.controls, execution.answers
        notes = apply.verify(controls, answers)
        measured = module.measured(parameters, answers, instrument)
        operations = module.operations(parameters) if isinstance(module, CountsOperations) else {}
        logged = apply.logged(answers)
        observed = recorders.observed(trial.setup.record, answers, operations, logged)
        counted = module.counted(answers) if isinstance(module, HasCounters) else ()
        profiled, traced = None, tuple[Trace, ...]()
        if execution.stacks is not None and isinstance(module, HasWindows):
            windows = module.windows(parameters, answers, instrument)
            profiled = profile(execution.stacks, windows)
            if prepared.boot.traced:
                traced = traces(execution.stacks, windows, _caller(module))
    except MachineError as error:
        refused = apply.explain(trial.configuration.controls, str(error))
        hint = error.problems[0].hint
        if hint is None and isinstance(module, KnowsRemedy):
            hint = module.remedy(parameters, prepared.boot.guest, str(error))
        raise (refused or _located(error, trial, hint)) from error
    return Record(
        identity=prepared.identity,
        configuration=trial.configuration.name,
        workload=str(trial.workload),
        instrument=trial.instrument,
        seed=trial.seed,
        repetition=trial.repetition,
        measured=measured,
        environment=machine.environment(prepared.boot) | _packages(prepared, machine),
        notes=(*prepared.notes, *notes),
        start_seconds=execution.start_seconds,
        host_seconds=execution.host_seconds,
        observed=(*observed, *counted),
        profile=profiled,
        traces=traced,
        surroundings=dict(execution.surroundings),
        source=dict(execution.source),
    )


def _caller(module: object) -> str | None:
    """Return the name of the process that makes one call, if that is what a workload does."""
    return module.PROGRAM if isinstance(module, MakesOneCall) else None


def _packages(prepared: Prepared, machine: Machine) -> dict[str, str]:
    """Return the versions of what the trial drives, where the guest has packages."""
    versions = machine.packages(prepared.boot)
    driven = workload_named(prepared.trial.workload.name).PACKAGES
    names = (*driven, *apply.packages(prepared.trial.configuration.controls))
    known = [f"{name} {versions[name]}" for name in dict.fromkeys(names) if name in versions]
    return {"packages": PACKAGE_SEPARATOR.join(known)} if known else {}


def _located(error: MachineError, trial: Trial, hint: str | None) -> MachineError:
    """Return the error, of its own kind: with its line in a file, or the trial that it struck."""
    place = error.problems[0].place
    name = "" if place else f"{trial.configuration.name}, {trial.workload}: "
    return type(error)(f"{name}{error}", place=place, hint=hint, console=error.console)
